"""Whether an `ask` and an `allow` can never apply to the same call, as far as their texts show.

Only certain cases are found: a condition that may overlap another one in some call does.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from policy.checks.checked import AllOf, CheckedRule, NotOf, ResourceTest, SetPart, Test, ValueSet
from policy.checks.satisfiability.outcomes import outcomes
from policy.checks.satisfiability.possible_values import TRUE, UNDECIDED, ConditionContext

_WORD = re.compile(r"[A-Za-z0-9_.+-]+")
_HOST = re.compile(r"(?:\*\.)?[a-z0-9-]+(?:\.[a-z0-9-]+)*")
_SEGMENT = re.compile(r"[A-Za-z0-9_.,+@-]+")
_ANY_CALL = ConditionContext(tool=None, absent=UNDECIDED)


def never_meet(ask: CheckedRule, allow: CheckedRule) -> bool:
    """Return whether no call that `allow` allows is one that `ask` asks about."""
    if ask.when is None:
        return False
    if allow.unless is not None and allow.unless.text == ask.when.text:
        return True
    if allow.when is None:
        return False
    asked, allowed = list(_parts(ask.when)), list(_parts(allow.when))
    if any(_exclude(one, other) for one in asked for other in allowed):
        return True
    both = AllOf(tests=(*asked, *allowed), text="")
    return not outcomes(both, _ANY_CALL) & TRUE


def _parts(test: Test) -> Iterator[Test]:
    """Yield the tests that must all hold for a test to hold."""
    if isinstance(test, AllOf):
        for part in test.tests:
            yield from _parts(part)
    else:
        yield test


def _exclude(asked: Test, allowed: Test) -> bool:
    """Return whether one part of each condition excludes the other."""
    if isinstance(asked, NotOf) and isinstance(asked.test, ResourceTest):
        return asked.test.text == allowed.text
    if not isinstance(asked, ResourceTest) or not isinstance(allowed, ResourceTest):
        return False
    if asked.verb != allowed.verb or allowed.form != "only":
        return False
    if asked.operand is None or allowed.operand is None:
        return False
    if asked.form == "outside":
        return asked.operand == allowed.operand
    pairs = [(a, b) for a in _items(asked.operand) for b in _items(allowed.operand)]
    return bool(pairs) and all(_apart(a, b, asked.operand.kind) for a, b in pairs)


def _items(values: ValueSet) -> Iterator[SetPart]:
    for part in values.included:
        if isinstance(part, ValueSet):
            yield from _items(part)
        else:
            yield part


def _apart(one: SetPart, other: SetPart, kind: str) -> bool:
    """Return whether no resource can be in both of two items of a set."""
    if not isinstance(one, str) or not isinstance(other, str):
        return False
    match kind:
        case "commands":
            return _commands_apart(one.split(), other.split())
        case "hosts":
            return _hosts_apart(one, other)
        case "paths":
            return _paths_apart(one, other)
        case _:
            return False


def _commands_apart(one: list[str], other: list[str]) -> bool:
    """Compare the programs, and behind the same program the subcommands."""
    for place, (a, b) in enumerate(zip(one[:2], other[:2], strict=False)):
        if not (_WORD.fullmatch(a) and _WORD.fullmatch(b)) or (place and "-" in (a[0], b[0])):
            return False
        if a != b:
            # `python` and `python3`, or `npm i` and `npm install`, may be the same.
            return not (a.startswith(b) or b.startswith(a))
    return False


def _hosts_apart(one: str, other: str) -> bool:
    if not (_HOST.fullmatch(one) and _HOST.fullmatch(other)):
        return False
    a, b = (f".{name.removeprefix('*.')}" for name in (one, other))
    return not (a.endswith(b) or b.endswith(a))


def _paths_apart(one: str, other: str) -> bool:
    """Compare the folders of absolute paths up to the first wildcard."""
    if not (one.startswith("/") and other.startswith("/")):
        return False
    for a, b in zip(one.split("/")[1:], other.split("/")[1:], strict=False):
        if not (_SEGMENT.fullmatch(a) and _SEGMENT.fullmatch(b)):
            return False
        if a != b:
            return True
    return False
