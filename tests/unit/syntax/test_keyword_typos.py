"""A slip in any keyword is answered with that keyword."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from policy.model import Source
from policy.syntax import parse
from policy.syntax.keyword_typos import keywords_of
from policy.syntax.lark_engine import grammar

STATEMENTS = (
    'use "placet:secrets" as s with home = "/root" granting',
    'paths p = "/a/**" except "/a/b"',
    'commands c = "git status"',
    "tools t = file_read except file_list",
    'data limits from "d.json" at a.b',
    "let late = now within 08:00..18:00 on weekdays",
    'delegate web_fetch to agent "x"',
    "default ask for web_fetch",
    "tool t reads input.a runs input.c connects to input.d sends to input.e and nothing else",
    'r: allow file_read when reads only workspace unless writes anything because "no"',
    "r: allow file_delete when input.a with approval two people remember session up to 3 times",
    'r: deny web_fetch when connects outside "a.example" or runs nothing',
    'r: deny t when input.a starts with "a" and input.b like "d" and input.c is absent',
    'r: deny t when any x in links(input.url): x contains "a"',
    "r: rewrite bash_exec set input.timeout = at most 60",
    "r: rewrite web_fetch redact input.url matching /a/",
    'test "t"\n  given agent.name = "x"\n  file_read {path: "a"} -> deny by default',
)


def slips(word: str) -> Iterator[str]:
    """Yield the word with neighbours swapped, a letter doubled, dropped, and in capitals."""
    yield word[0] + word[2] + word[1] + word[3:]
    yield word + word[-1]
    yield word[0] + word[2:]
    yield word.capitalize()
    yield word.upper()


def cases() -> Iterator[tuple[str, str, str]]:
    """Yield a statement with a slip, the slip, and the keyword."""
    keywords = keywords_of(grammar())
    for statement in STATEMENTS:
        hidden = re.sub(r'"[^"]*"', lambda string: "_" * len(string[0]), statement)
        for found in re.finditer(r"(?<![\w.-])[a-z]{4,}(?![\w.(:-])", hidden):
            if found[0] not in keywords:
                continue
            for slip in slips(found[0]):
                if slip not in keywords and slip != found[0]:
                    text = statement[: found.start()] + slip + statement[found.end() :]
                    yield text, slip, found[0]


def test_a_slip_in_a_keyword_is_answered_with_the_keyword() -> None:
    wrong = []
    for text, slip, keyword in cases():
        source = Source(name="a.policy", text=f"policy for every agent\n{text}\n")
        for found in parse(source).diagnostics:
            if not re.search(rf"\b{keyword}\b", f"{found.message} {found.help}"):
                wrong.append((text, slip, found.message, found.help))
    assert wrong == []
    assert len(list(cases())) > 200


@pytest.mark.parametrize(
    ("text", "help"),
    [
        ("r: deny t when now between 09:00 and 17:00", "write `now within 09:00..17:00`"),
        ('paths hosts_of = "/a" "/b"', "put commas between the items"),
        (
            'r: deny t when reads "wehn", "x"',
            'write them as a list: `["a", "b"]`, or name a set of them',
        ),
    ],
)
def test_a_word_that_is_right_is_not_taken_for_a_slip(text: str, help: str) -> None:
    source = Source(name="a.policy", text=f"policy for every agent\n{text}\n")
    assert [found.help for found in parse(source).diagnostics] == [help]


def test_many_statements_with_errors_are_still_reported() -> None:
    text = "".join(f"r{number}: deny t wehn input.a\n" for number in range(150))
    found = parse(Source(name="a.policy", text=f"policy for every agent\n{text}")).diagnostics
    assert [one.help for one in found] == ["did you mean `when`?"] * 150


@pytest.mark.parametrize(
    ("text", "message", "help"),
    [
        ('use "p.policy" s', "`as` is missing before `s`", "write `as s`"),
        (
            'data limits "d.json" at a',
            '`from` is missing before `"d.json"`',
            'write `from "d.json"`',
        ),
        (
            "r: deny t when input.a == 1 input.b == 2",
            "a word is missing before `input.b`",
            "write `and`, `or`, `unless` or `when` before it",
        ),
        (
            'r: allow t with approval "ops"',
            'a word is missing before `"ops"`',
            "write `audit`, `because` or `by` before it",
        ),
        (
            "r: deny t when any x input.a: x == 1",
            "the variable is followed by `in` and a list",
            "write `any x in LIST: CONDITION`",
        ),
    ],
)
def test_a_missing_word_is_named(text: str, message: str, help: str) -> None:
    source = Source(name="a.policy", text=f"policy for every agent\n{text}\n")
    (found,) = parse(source).diagnostics
    assert (found.message, found.help) == (message, help)
