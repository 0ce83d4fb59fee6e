"""Laws of conditions that are known by their words: they are what reading them anew gives."""

from __future__ import annotations

import re
from dataclasses import fields, is_dataclass
from typing import Any

from hypothesis import event, given
from hypothesis import strategies as st

from policy.catalog import Catalog, Origin, ToolSpec
from policy.checks import Checked, PolicySources, Remembered, check
from policy.source import Source
from policy.syntax import (
    NO_HEADS,
    KnownRule,
    Parsed,
    Phrase,
    Phrases,
    new_phrases,
    parse,
    print_tree,
    tree,
)
from tests import strategies

# A few, so that they stand again and again: in every place, whole and spoiled, between any blanks.
CONDITIONS = (
    'session.role in ["dev", "ops"]',
    "input.n > 5",
    "input.n>5",
    "5 < input.n",
    'input.a == "x and y"',
    'input.a starts with "x"',
    'input.a starts  with "x"  ',
    "input.a contains /(a| or b)/",
    'input.a like "a*"',
    "input.a matches /a/",
    "input.a is present",
    "input.a is a string",
    "input.b1 == input.b2",
    'input.tags contains "x"',
    "input.n + 1 == 2",
    'input.n == "five"',
    "input.nothing == 1",
    'any x in input.tags: x == "p"',
    'any x in input.tags: x == "p" and input.n > 5',
    'count(x in input.tags: x == "p" and input.n > 5) == 1',
    'count(x in input.tags: x == "p") == 1',
    "(input.n > 5)",
    "( input.n > 5 )",
    'reads only "/srv/**"',
    "short",
    "long.wrong",
    "input.a in names",
    'input.a not in ["p", "${name}"]',
    "input.max-size == 1",
    "input.n > 5 # or not",
    'input.a == "\\q"',
    "now within 08:00..18:00",
    "input.a named by user",
    "input.a ==",
    "",
)
JOINS = (" and ", " or ", "\n  and ", ")and(", " and not ", " and (", "\n # and\n or ")
DEFINED = 'let short = input.n > 5\nstrings names = "p"\nlet name = "q"\n'
TOOLS = ("one", "two", "one, two", "*", "three", "o*", "four")
BEHIND = (
    "",
    " with approval",
    ' because "and so"',
    " unless input.n > 5",
    ' by "ops"',
    " two people",
)

_CATALOG = Catalog(
    specs=tuple(
        ToolSpec(
            name=name,
            origin=Origin(kind="host", tool=name),
            schema={"type": "object", "properties": properties},
        )
        for name, properties in {
            "one": {"a": {"type": "string"}, "n": {"type": "integer"}},
            "two": {"a": {"type": "string"}, "n": {"type": "integer", "minimum": 6}},
            "four": {"tags": {"type": "array", "items": {"type": "string"}}},
        }.items()
    )
)


@st.composite
def _rules(draw: st.DrawFn) -> str:
    some = draw(st.lists(st.sampled_from(CONDITIONS), min_size=1, max_size=4, unique=True))
    lines = []
    for number in range(draw(st.integers(2, 6))):
        parts = draw(st.lists(st.sampled_from(some), min_size=1, max_size=3))
        said = parts[0]
        for part in parts[1:]:
            said += draw(st.sampled_from(JOINS[: draw(st.sampled_from([1, 3, 7]))])) + part
        said += ")" * (said.count("(") - said.count(")"))
        head = draw(st.sampled_from(["allow", "allow", "ask", "deny", "shadow deny", "rewrite"]))
        tools = draw(st.sampled_from(TOOLS))
        clause = draw(st.sampled_from(["when", "when", "unless", "when not", "when ("]))
        lines.append(f"r{number}: {head} {tools} {clause} {said}{draw(st.sampled_from(BEHIND))}")
    return "\n".join(lines) + "\n"


def _read(text: str, name: str, phrases: Phrases | None) -> Parsed:
    source = Source(name=name, text=text)
    return parse(source, known=NO_HEADS if phrases is None else None, phrases=phrases)


def _spelled_out(node: Any) -> Any:
    """Return a node with every phrase in it read, each part beside its place."""
    if isinstance(node, Phrase):
        return _spelled_out(node.whole())
    if isinstance(node, tuple):
        return tuple(map(_spelled_out, node))
    if is_dataclass(node):
        return type(node), *(_spelled_out(getattr(node, one.name)) for one in fields(node))
    return node


def _is_the_same(text: str, phrases: Phrases) -> None:
    quick, slow = _read(text, "b.policy", phrases), _read(text, "b.policy", None)
    assert quick.diagnostics == slow.diagnostics
    assert len(quick.tree.statements) == len(slow.tree.statements)
    for one, other in zip(quick.tree.statements, slow.tree.statements, strict=True):
        assert isinstance(one, KnownRule) == isinstance(other, KnownRule)
        if isinstance(one, KnownRule) and isinstance(other, KnownRule):
            short = one.quick()
            event(f"phrases: {bool(_phrases_in(short))}")
            assert _spelled_out(short) == _spelled_out(other.whole())
            one.forget()
        assert _spelled_out(_whole(one)) == _spelled_out(_whole(other))


def _whole(statement: tree.Statement) -> tree.Statement:
    return statement.whole() if isinstance(statement, KnownRule) else statement


def _phrases_in(node: Any) -> list[Phrase]:
    if isinstance(node, Phrase):
        return [node]
    if isinstance(node, tuple):
        return [phrase for part in node for phrase in _phrases_in(part)]
    if is_dataclass(node):
        return [p for one in fields(node) for p in _phrases_in(getattr(node, one.name))]
    return []


@given(_rules())
def test_what_is_known_by_its_words_is_what_reading_gives(rules: str) -> None:
    text = f"policy for every agent\n{rules}"
    phrases = new_phrases()
    for _ in range(2):
        _is_the_same(text, phrases)


@given(strategies.policy_files(), st.data())
def test_and_so_is_any_policy_whole_or_spoiled(file: tree.PolicyFile, data: st.DataObject) -> None:
    text, phrases = print_tree(file), new_phrases()
    _is_the_same(text, phrases)
    words = re.findall(r"\s+|\S+", text)
    at = data.draw(st.integers(0, len(words) - 1))
    other = data.draw(st.sampled_from([*words, "and", "(", ")", '"', "/"]))
    for spoiled in ("".join([*words[:at], other, *words[at + 1 :]]), text):
        _is_the_same(spoiled, phrases)


def _checked(texts: list[str], *, quick: bool) -> Checked:
    phrases = new_phrases() if quick else None
    files = tuple(
        _read(text, f"{number}.policy", phrases).tree for number, text in enumerate(texts)
    )
    sources = PolicySources(files=files)
    return check(sources, _CATALOG, remembered=Remembered())


@given(st.lists(_rules(), min_size=2, max_size=3))
def test_rules_of_known_words_are_checked_as_others_are(rules: list[str]) -> None:
    texts = [
        f"policy for {whom}\n{DEFINED if not number else ''}"
        + re.sub(r"^r", f"f{number}r", part, flags=re.MULTILINE)
        for number, (whom, part) in enumerate(
            zip(("every agent", "every agent", 'role "dev"'), rules, strict=False)
        )
    ]
    quick, slow = _checked(texts, quick=True), _checked(texts, quick=False)
    assert quick.diagnostics == slow.diagnostics
    assert quick.policies == slow.policies
    for one, other in zip(quick.policies, slow.policies, strict=True):
        assert [rule.span for rule in one.rules] == [rule.span for rule in other.rules]


def test_a_condition_met_before_is_not_read_again() -> None:
    text = "policy for every agent\n" + "".join(
        f'r{n}: allow one when session.role in ["dev"] and input.n > {n % 2}\n' for n in range(4)
    )
    rules = _read(text, "a.policy", new_phrases()).tree.statements
    found = [_phrases_in(one.quick()) for one in rules if isinstance(one, KnownRule)]
    assert [[(one.text, one.whole() is one.whole()) for one in each] for each in found] == [
        [('session.role in ["dev"]', True), ("input.n > 0", True)],
        [('session.role in ["dev"]', False), ("input.n > 1", True)],
        [('session.role in ["dev"]', False), ("input.n > 0", False)],
        [('session.role in ["dev"]', False), ("input.n > 1", False)],
    ]


def test_a_condition_that_holds_a_quantifier_gives_each_rule_places_for_its_variables() -> None:
    text = "policy for every agent\n" + "".join(
        f'r{n}: deny four when count(x in input.tags: x == "p") == 1 and session.role == "{n}"\n'
        for n in range(3)
    )
    (layer,) = _checked([text], quick=True).policies
    assert [rule.slots for rule in layer.rules] == [1, 1, 1]


def test_a_rule_may_be_no_larger_where_its_conditions_are_known() -> None:
    some, more = (" + ".join([name] * 20) for name in ("input.n", "some"))
    many = " and ".join(["input.n > more + 1"] * 8)
    text = f"policy for every agent\nlet some = {some}\nlet more = {more}\n"
    text += f"a: deny one when input.n > more + 1\nb: deny one when {many}\n"
    quick, slow = _checked([text], quick=True), _checked([text], quick=False)
    assert "condition-too-large" in [found.code for found in slow.diagnostics]
    assert quick.diagnostics == slow.diagnostics
