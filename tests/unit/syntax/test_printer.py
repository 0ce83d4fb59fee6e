"""The canonical form of policies, and what formatting preserves."""

from __future__ import annotations

from policy.model import Source
from policy.syntax import format_source, parse, print_tree


def formatted(text: str) -> str:
    return format_source(parse(Source(name="a.policy", text=text)))


def test_a_short_rule_stands_on_one_line_and_a_long_one_on_several() -> None:
    text = (
        "policy for every agent\n\n"
        'short:   deny bash_exec\n  when input.a == 1\n  because "no"\n'
        "long-one: deny * when connects to [private, loopback, link_local, metadata] because "
        '"addresses inside the network are out of bounds"\n'
    )
    assert formatted(text) == (
        "policy for every agent\n\n"
        'short: deny bash_exec when input.a == 1 because "no"\n'
        "long-one:\n"
        "  deny * when connects to [private, loopback, link_local, metadata]\n"
        '  because "addresses inside the network are out of bounds"\n'
    )


def test_comments_keep_their_places() -> None:
    text = (
        "# above\npolicy for every agent # behind\n\n\n\n# group\nx:   # why\n  deny a\n"
        "# before the clause\n  when b   # behind the clause\n\n# end\n"
    )
    assert formatted(text) == (
        "# above\npolicy for every agent  # behind\n\n# group\nx:  # why\n  deny a\n"
        "  # before the clause\n  when b  # behind the clause\n\n# end\n"
    )


def test_the_items_of_a_set_keep_their_comments() -> None:
    text = 'policy for every agent\npaths p = "a",   # one\n  "b"  # two\n  except "c"  # three\n'
    assert formatted(text) == (
        'policy for every agent\npaths p =\n  "a",  # one\n  "b"  # two\n  except "c"  # three\n'
    )


def test_what_does_not_parse_is_left_as_it_is() -> None:
    text = "policy for every agent\ndeny   a\nalow   b  when\n     c # x\n"
    assert formatted(text) == "policy for every agent\ndeny a\nalow   b  when\n     c  # x\n"


def test_tools_that_read_as_words_are_quoted() -> None:
    text = 'policy for every agent\n\ndeny "mcp", mcp "odd name/*", "a-", a-b\n'
    assert print_tree(parse(Source(name="a.policy", text=text)).tree) == text
