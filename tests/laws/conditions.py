"""Conditions drawn from one call's own fields and values, as text."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from policy.model import ToolCall
from policy.syntax import tree
from tests.laws.calls import FIELDS, VERBS_OF, once_in, pick


def literal(value: Any) -> str:
    """Write a value as the language does."""
    return json.dumps(value)


def _kept(call: ToolCall, kind: type | tuple[type, ...]) -> list[tuple[str, Any]]:
    return [
        (f"input.{name}", value)
        for name, value in call.input.items()
        if isinstance(value, kind) and not isinstance(value, bool)
    ]


def _text_test(draw: DrawFn, call: ToolCall) -> str:
    own = _kept(call, str)
    others = [("input.a", "p"), ("input.b", "q"), ("input.box.c", "p")]
    place, value = pick(draw, [*own, *own, *others])
    if once_in(draw, 4):
        value = pick(draw, ("p", "q", "pq"))
    plain = "".join(char for char in value if char.isalnum())[:3] or "p"
    test = pick(draw, _TEXT_TESTS)
    return test.format(
        place=place,
        value=literal(value),
        first=literal(value[:1]),
        last=literal(value[-2:]),
        plain=plain,
        glob=plain[:1] + "*",
    )


_TEXT_TESTS = (
    "{place} == {value}",
    "{place} != {value}",
    '{place} in [{value}, "zz"]',
    '{place} not in [{value}, "zz"]',
    "{place} in letters",
    "{place} not in letters",
    "{place} starts with {first}",
    "{place} ends with {last}",
    '{place} contains "{plain}"',
    "{place} contains /{plain}/",
    "{place} matches /.*{plain}.*/",
    '{place} like "{glob}"',
)


def _number_test(draw: DrawFn, call: ToolCall) -> str:
    own = _kept(call, (int, float))
    place, value = pick(draw, [*own, *own, ("input.n", 5), ("input.box.c", 5)])
    return pick(draw, _NUMBER_TESTS).format(
        place=place,
        op=pick(draw, ("==", "!=", "<", "<=", ">", ">=")),
        value=literal(pick(draw, (value, value, 1, 5, 3.5))),
    )


_NUMBER_TESTS = (
    "{place} {op} {value}",
    "{place} + 1 {op} {value}",
    "{place} - 1 {op} {value}",
    "{place} * 2 {op} {value}",
    "-{place} {op} {value}",
    "max({place}, 3) {op} {value}",
    "{place} in amounts",
)


def _list_test(draw: DrawFn, call: ToolCall) -> str:
    words = [v for _, found in _kept(call, tuple) for v in found if isinstance(v, str)]
    return pick(draw, _LIST_TESTS).format(value=literal(pick(draw, [*words, "p"])))


_LIST_TESTS = (
    "(any t in input.tags: t == {value})",
    "(all t in input.tags: t == {value})",
    "(all t in input.tags: t in letters)",
    "(all t at i in input.tags: i < 2)",
    "(any t in input.tags: t == input.a)",
    "{value} in input.tags",
    "input.tags[0] == {value}",
    "input.tags[-1] == input.b",
    "length(input.tags) > 1",
    "count(t in input.tags: t == {value}) >= 1",
    'first(t in input.tags: t != {value}) == "q"',
    "filter(t in input.tags: t != {value}) == input.tags",
    "sum(t in input.tags: length(t)) > 1",
)

_FACT_TESTS = (
    'agent.name == "ann"',
    'session.role == "clerk"',
    '"g" in user.groups',
    'user.id == "u"',
    "agent.depth > 0",
    'agent.parent == "bob"',
    'tool.server == "bank"',
    "is_clerk",
    "has_box",
    'sandbox.tier == "bubblewrap"',
    '"writes" in sandbox.enforces',
)


def _fact_test(draw: DrawFn, call: ToolCall) -> str:
    return pick(draw, _FACT_TESTS)


# The world of the laws has the time 12:00 UTC on a Saturday, or none.
_TIME_TESTS = (
    "now within 08:00..18:00",
    "now within 12:00..12:30 on weekends",
    "now within 08:00..12:00",
    "now within 22:00..12:01 on fri",
    'now within 12:30..13:30 "Europe/Paris"',
    "input.a within 08:00..18:00",
    'now > time("2026-11-21T11:59:30Z") + 30s',
    'now - time("2026-11-21T11:00:00Z") <= 1h',
    "now - 90m == now - 1h - 30m",
    "-2h < now - now",
)


# Earlier calls of the world of the laws: some succeeded, some not, some without a time.
HISTORY_TESTS = (
    "after note",
    "after note within 5m",
    "after note within 301s",
    "after fetch",
    "after fetch within 1h",
    "after mcp bank/pay within 1m",
    "after mcp */*",
    "after bank__pay",
    "after *__*",
    "after n*",
    "after * within 4m",
    "after [look, shell] within 10m",
    "after [* except note]",
    "after [fetch, shell except s*] within 1d",
    "after outside",
    "after [outside, look] within 2h",
    "after partly within 5m",
    "after some",
    "after [some, outside except note] within 6m",
    "(any c in calls(note): c.input.a == input.a)",
    "(any c in calls(note, mcp bank/*): c.input.n == input.n and c.age < 6m)",
    '(any c in calls(n*): c.input.a == "p" and c.result.a == input.b)',
    '(all c in calls(*): c.outcome == "ok")',
    "length(calls(note)) > 1",
    'count(c in calls(note, bank__pay): c.outcome != "failed") > 1',
    "sum(c in calls(bank__pay): c.input.n) > 3",
    "latest(c in calls(note): c.input.a == input.a).input.n == input.n",
    "latest(c in calls(note): c.input.a == input.a) is absent",
    'latest(t in input.tags: t != "q") == input.a',
    "first(c in calls(note): c.input.n == input.n).result.b == input.b",
    "input.a in calls(note).input.a",
    "input.n not in calls(note, mcp bank/*).input.n",
    "calls(note).input.a == input.tags",
)
# What grounds a value permits, and what raises suspicion restricts.
GROUNDING_TESTS = (
    "input.a in results(note).a",
    "input.b in results(note).b",
    "input.b in results(note, bank__pay, look).b",
    "input.n in results(n*).n",
    "input.a in results(note).tags",
    "input.a from results(note)",
    "input.tags from results(note, bank__pay)",
    "input.n from results(n*)",
    "input.b from results(*)",
    "input.a in results(note).box.c",
    "(any r in results(note): r.b == input.b and r.n == 5)",
    "latest(r in results(bank__pay): r.a is present).b == input.b",
)
SUSPICION_TESTS = (
    "input.a from outside",
    "input.b from partly",
    "input.tags from some",
    "input.n from partly",
    "input.box from outside",
)


# What the user wrote in the world of the laws: words, paths and numbers of its calls.
_SAID_TESTS = (
    "input.a named by user",
    "input.b named by user",
    "input.n named by user",
    "input.tags named by user",
    "(any t in input.tags: t named by user)",
    "[input.a, input.b] named by user",
    "input.box.c named by user",
    "agent.name named by user",
    '["ann", input.n] named by user',
)


def _said_test(draw: DrawFn, call: ToolCall, *, permits: bool) -> str:
    """Draw what may be asked of the user's words: whether a value stands in them, to permit."""
    if permits:
        return pick(draw, _SAID_TESTS)
    return pick(draw, ('"p q" in user.said', "length(user.said) > 1", "user.said is present"))


def _history_test(draw: DrawFn, call: ToolCall, *, permits: bool) -> str:
    more = GROUNDING_TESTS if permits else SUSPICION_TESTS
    options: tuple[str, ...] = (*HISTORY_TESTS, *more)
    return pick(draw, options)


def _time_test(draw: DrawFn, call: ToolCall) -> str:
    return pick(draw, _TIME_TESTS)


_OBJECT_TESTS = (
    'input.box == {c: "p"}',
    'input.box != {c: {d: "q"}}',
    "input.box == {c: null}",
    "input.box == {}",
    "input.box in [{c: 5}, {}]",
)


def _object_test(draw: DrawFn, call: ToolCall) -> str:
    return pick(draw, _OBJECT_TESTS)


def _presence_test(draw: DrawFn, call: ToolCall) -> str:
    name = pick(draw, [*call.input, *FIELDS, "box.c", "box.c.d"])
    return f"input.{name} is {pick(draw, tree.STATES)}"


def _type_test(draw: DrawFn, call: ToolCall) -> str:
    """Draw a test of a value's type, or of a value that may be true or false."""
    name = pick(draw, [*call.input, *FIELDS, "box.c"])
    if once_in(draw, 4):
        return pick(draw, (f"input.{name}", f"input.{name} == true"))
    return f"input.{name} is {written(pick(draw, tree.TYPE_NAMES))}"


def written(what: str) -> str:
    """Return what follows `is`: a state as it is, a type with its article."""
    if what in tree.STATES:
        return what
    return f"{'an' if what[0] in 'aeiou' else 'a'} {what}"


_ITEMS: Mapping[str, tuple[str, ...]] = {
    "reads": ("tree_p", '"/srv/p/**"', '"/srv/*"', '"**/x"', "workspace", '["/etc/*", tree_p]'),
    "writes": ("tree_p", '"/srv/p/**"', '"p/*"', '["/etc/**"]'),
    "connects": (
        "corp",
        '"*.corp.example"',
        "[private]",
        '[corp, "evil.example"]',
        '"10.0.0.0/8"',
        "most_corp",
        '[most_corp, "10.0.0.1"]',
    ),
    "runs": ("safe", '"git *"', '"git status"', '[safe, "rm *"]', "most_git", '[most_git, "ls *"]'),
    "sends": ("letters", '"p"', '["q", "pq"]'),
}


def _resource_test(draw: DrawFn, call: ToolCall, *, permits: bool) -> str:
    verb = pick(draw, VERBS_OF[call.tool])
    item = pick(draw, _ITEMS[verb])
    to = "to " if verb in ("connects", "sends") else ""
    form = pick(draw, ("only", "only", "only", "any") if permits else ("", "", "outside"))
    if form == "outside":
        return f"{verb} outside {item}"
    return f"{verb} {form} {to}{item}" if form else f"{verb} {to}{item}"


_PLAIN_TESTS: tuple[Callable[[DrawFn, ToolCall], str], ...] = (
    _text_test,
    _text_test,
    _number_test,
    _list_test,
    _presence_test,
    _type_test,
    _object_test,
    _time_test,
    _fact_test,
)


def draw_condition(draw: DrawFn, call: ToolCall, *, permits: bool, depth: int = 2) -> str:
    """Draw a condition about this call, for a place that permits or one that restricts."""
    kind = pick(draw, range(15))
    if depth and kind >= 12:
        parts = [draw_condition(draw, call, permits=permits, depth=depth - 1) for _ in range(2)]
        return "(" + pick(draw, (" and ", " or ")).join(parts) + ")"
    if depth and kind == 11:
        inner = draw_condition(draw, call, permits=not permits, depth=depth - 1)
        return f"not ({inner})"
    if kind == 8:
        return _history_test(draw, call, permits=permits)
    if kind > 8 and call.tool in VERBS_OF:
        return _resource_test(draw, call, permits=permits)
    if once_in(draw, len(_PLAIN_TESTS)):
        return _said_test(draw, call, permits=permits)
    return pick(draw, _PLAIN_TESTS)(draw, call)


@st.composite
def conditions(draw: DrawFn, call: ToolCall, *, permits: bool) -> str:
    """Draw a condition on its own."""
    return draw_condition(draw, call, permits=permits)
