"""Files are split into statements, and every error is reported at its position."""

from __future__ import annotations

from decimal import Decimal

import pytest

from policy.model import Source
from policy.syntax import Parsed, parse
from policy.syntax import tree as t

HEADER = "policy for every agent\n"


def read(text: str) -> Parsed:
    return parse(Source(name="a.policy", text=text))


def codes(text: str) -> list[str]:
    return [diagnostic.code for diagnostic in read(text).diagnostics]


def test_mistakes_in_one_statement_leave_the_others() -> None:
    parsed = read(f"{HEADER}deny a when\nallow b\nx: deni c\ndefault deny\n")
    assert [d.span.line for d in parsed.diagnostics if d.span] == [2, 4]
    assert [type(s) for s in parsed.tree.statements] == [t.Rule, t.Default]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ["missing-header"]),
        ("# only this\n", ["missing-header"]),
        ("allow a\n", ["missing-header"]),
        (f"allow a\n{HEADER}", ["header-not-first"]),
        (f"{HEADER}{HEADER}", ["duplicate-header"]),
        (f'{HEADER}pack "p"\n', ["duplicate-header"]),
        (f"  allow a\n{HEADER}", ["syntax-error"]),
        (f"\ufeff{HEADER}", ["byte-order-mark"]),
        (f"{HEADER}policy: allow a\n", []),
        (HEADER.replace("\n", "\r\n") + "deny a\r\n  when b\r\n", []),
    ],
)
def test_a_file_begins_with_its_header(text: str, expected: list[str]) -> None:
    assert codes(text) == expected


@pytest.mark.parametrize("char", ["\x00", "\x1b", "\x85", "\r", "\u202e", "\u2028", "\u200f"])
def test_a_character_that_is_not_seen_is_an_error_at_its_place(char: str) -> None:
    text = f'{HEADER}deny a because "x{char}y"\n'
    (found,) = read(text).diagnostics
    assert found.code == "control-character"
    assert found.span is not None
    assert text[found.span.start : found.span.end] == char


@pytest.mark.parametrize(
    "condition",
    [
        "(" * 10_000 + "a" + ")" * 10_000,
        "[" * 10_000 + "]" * 10_000,
        "not " * 10_000 + "a",
        "-" * 10_000 + "a",
        "a" + ".b" * 10_000,
        "a" + " + a" * 10_000,
        "any x in l: " * 10_000 + "a",
    ],
)
def test_deep_nesting_is_told_and_nothing_else_is_lost(condition: str) -> None:
    parsed = read(f"{HEADER}deny a when {condition}\nallow b\n")
    (found,) = parsed.diagnostics
    assert found.code == "too-deep"
    assert found.span is not None
    assert found.span.line == 2
    assert len(parsed.tree.statements) == 1


def test_a_long_flat_statement_is_no_deep_one() -> None:
    many = ", ".join(f'"{n}"' for n in range(5_000))
    assert codes(f"{HEADER}strings s = {many}\n") == []
    assert codes(f"{HEADER}deny a when {' and '.join(['b'] * 1_000)}\n") == []


def test_a_mark_of_a_comment_inside_a_text_or_a_regular_expression_is_no_comment() -> None:
    parsed = read(
        f'{HEADER}deny a # one "\n  when b matches # two /\n  /x#y/ because "#" # three\n'
    )
    assert parsed.diagnostics == ()
    assert [c.text for c in parsed.tree.comments] == ['# one "', "# two /", "# three"]
    (rule,) = parsed.tree.statements
    assert isinstance(rule, t.Rule)
    assert isinstance(rule.clauses[0], t.When)
    assert isinstance(rule.clauses[0].test, t.Matches)
    assert rule.clauses[0].test.regex.pattern == "x#y"


def value(text: str) -> t.Expr:
    (let,) = read(f"{HEADER}let x = {text}\n").tree.statements
    assert isinstance(let, t.Let)
    return let.value


def test_literals_mean_what_they_say() -> None:
    assert getattr(value(r'"a\"\\\n\t\u{e9}\u{1F600}"'), "value", None) == 'a"\\\n\té\U0001f600'
    assert getattr(value("1_000"), "value", None) == 1000
    assert getattr(value("1.50"), "value", None) == Decimal("1.5")
    assert getattr(value('"${home}/x"'), "value", None) == "${home}/x"


@pytest.mark.parametrize("text", [r'"\q"', r'"\u{d800}"', r'"\u{110000}"', r'"\u12"'])
def test_an_unknown_escape_is_an_error(text: str) -> None:
    assert codes(f"{HEADER}let x = {text}\n") == ["unknown-escape"]


@pytest.mark.parametrize("text", ["9" * 41, "9" * 100_000, "99999w", "9" * 30 + "s"])
def test_a_number_beyond_the_bounds_is_an_error(text: str) -> None:
    assert codes(f"{HEADER}let x = {text}\n") == ["syntax-error"]


def test_a_glued_hyphen_is_told_with_the_way_to_write_it() -> None:
    (found,) = read(f"{HEADER}deny a when input.max-tokens > 5\n").diagnostics
    assert found.code == "hyphen-in-name"
    assert 'input["max-tokens"]' in found.help
    assert codes(f"{HEADER}deny a when input.max - input.min > 5\n") == []


def test_every_node_knows_its_place() -> None:
    text = f'{HEADER}x: deny a, mcp b/* when input.n > 1 because "no"\n'
    (rule,) = read(text).tree.statements
    assert isinstance(rule, t.Rule)
    spans = [rule.span, rule.tools.included[1].span, rule.clauses[0].span, rule.clauses[1].span]
    assert [text[s.start : s.end] for s in spans] == [
        text[len(HEADER) : -1],
        "mcp b/*",
        "when input.n > 1",
        'because "no"',
    ]
