"""The table-driven parser parses what Lark parses, to the same trees with the same spans."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policy.model import Source, Span
from policy.syntax import parse, print_tree
from policy.syntax import tree as t
from policy.syntax.statement_splitter import split_statements
from tests import strategies
from tests.examples import examples
from tests.laws.test_syntax import commented, spoiled

ROOT = Path(__file__).resolve().parents[2]


def places(value: object) -> Iterator[tuple[str, Span]]:
    """Yield every node's type and place, from the root down."""
    if isinstance(value, tuple):
        for item in value:
            yield from places(item)
    elif is_dataclass(value):
        span = getattr(value, "span", None)
        if span is not None:
            yield type(value).__name__, span
        for field in fields(value):
            if field.compare:
                yield from places(getattr(value, field.name))


def assert_read_alike(text: str) -> None:
    source = Source(name="law.policy", text=text)
    fast, plain = parse(source), parse(source, engine="lark")
    assert fast == plain
    assert list(places(fast.tree)) == list(places(plain.tree))


@given(strategies.policy_files())
def test_both_engines_parse_printed_policies_alike(tree: t.PolicyFile) -> None:
    assert_read_alike(print_tree(tree))


@given(commented())
def test_both_engines_parse_comments_and_line_ends_alike(text: str) -> None:
    assert_read_alike(text)


@given(spoiled())
def test_both_engines_parse_broken_policies_alike(text: str) -> None:
    assert_read_alike(text)


# Words of the language and what is nearly one, with and without blanks between them.
_WORDS = (
    "allow ask deny rewrite redact limit results of label on prove never assume always test when "
    "unless because audit after by two people with approval remember session set remove if absent "
    "at most least and or not in like matches contains starts ends is a an any all only outside "
    "reads writes runs connects sends to from within use tools paths numbers data let tool default "
    "for every agent agents role delegate policy pack except mcp ext given returning becoming ago "
    "times up per minute named user input x y_z a-b b* c.d */e 1 1_0.5 10m 08:00 true null now"
).split()
_MARKS = ["(", ")", "[", "]", "{", "}", ",", ".", "..", ":", "->", "=", "==", "<", "+", "-", "*"]
_LITERALS = ['"t"', '"\\n"', '"\\q"', "/r/", "/a\\/b/", "x:", "results(", "calls (", "#", "\n  "]


@given(
    st.lists(
        st.tuples(
            st.sampled_from([*_WORDS, *_MARKS, *_LITERALS]), st.sampled_from([" ", " ", "", "\t"])
        ),
        max_size=14,
    )
)
def test_both_engines_parse_tokens_in_any_order_alike(words: list[tuple[str, str]]) -> None:
    assert_read_alike("policy for every agent\n" + "".join(word + blank for word, blank in words))


_PIECES = [
    *['"', "#", "/", "\\", "(", "[", "{", ")", "]", "}", " ", "\n", "\n  ", "\r\n", "\ufeff", "é"],
    *["matches", "with ", " contains /", "a", "(" * 40, "[" * 30, '"a#b"', "/#/", "# b\n"],
]


@given(st.one_of(st.lists(st.sampled_from(_PIECES), max_size=16).map("".join), commented()))
def test_both_engines_split_a_file_alike(text: str) -> None:
    source = Source(name="law.policy", text=text)
    fast, plain = split_statements(source), split_statements(source, quick=False)
    assert fast == plain
    assert [c.span for c in fast.comments] == [c.span for c in plain.comments]


_RULES = sorted(ROOT.glob("rules/**/*.policy"))
_CASES = sorted(ROOT.glob("tests/cases/**/*.md"))


# Read as a policy, golden cases are long and wrong; some of them are enough for `make test`.
@pytest.mark.counted
@pytest.mark.parametrize(
    "path",
    [
        pytest.param(path, id=path.relative_to(ROOT).as_posix())
        for path in (*_RULES, *_CASES[:: len(_CASES) // examples(len(_CASES))])
    ],
)
def test_both_engines_parse_rules_and_golden_cases_alike(path: Path) -> None:
    assert_read_alike(path.read_text(encoding="utf-8"))
