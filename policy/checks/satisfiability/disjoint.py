"""Whether an `ask` and an `allow` can never apply to the same call, as far as their texts show.

Only certain cases are found: a condition that may overlap another one in some call does.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from policy.checks.checked import (
    AllOf,
    AnyOf,
    CheckedRule,
    NotOf,
    ResourceTest,
    SetPart,
    Test,
    ValueSet,
)
from policy.checks.satisfiability.outcomes import outcomes
from policy.checks.satisfiability.possible_values import TRUE, UNDECIDED, ConditionContext
from policy.programs import CommandPattern, Profiles, may_cover, read_command_pattern

_HOST = re.compile(r"(?:\*\.)?[a-z0-9-]+(?:\.[a-z0-9-]+)*")
_SEGMENT = re.compile(r"[A-Za-z0-9_.,+@-]+")
_ANY_CALL = ConditionContext(tool=None, absent=UNDECIDED)


def never_meet(ask: CheckedRule, allow: CheckedRule, profiles: Profiles) -> bool:
    """Return whether no call that `allow` allows is one that `ask` asks about."""
    if ask.when is None:
        return False
    if allow.unless is not None and allow.unless.text == ask.when.text:
        return True
    if allow.when is None:
        return False
    asked, allowed = list(_parts(ask.when)), list(_parts(allow.when))
    if any(_exclude(one, other, profiles) for one in asked for other in allowed):
        return True
    both = AllOf(tests=(*asked, *allowed), text="")
    return not outcomes(both, _ANY_CALL) & TRUE


def unreached_commands(
    ask: CheckedRule, allows: Sequence[CheckedRule], profiles: Profiles
) -> tuple[str, ...]:
    """Return the patterns of what an `ask` is about that no `allow` covers a command of."""
    allowing = [each for each in map(_command_sets, allows) if each is not None]
    if ask.when is None or not all(allowing):
        return ()
    every = [_patterns(sets[0], profiles) for sets in allowing]
    return tuple(
        dict.fromkeys(
            item
            for test in _required_somewhere(ask.when)
            if test.operand is not None
            for item in _items(test.operand)
            if isinstance(item, str)
            and not any(_may_be_reached(item, patterns, profiles) for patterns in every)
        )
    )


def _command_sets(allow: CheckedRule) -> list[ValueSet] | None:
    """Return the sets that cover the commands of an `allow`; None for one that never applies."""
    if allow.when is None:
        return []
    if not outcomes(allow.when, _ANY_CALL) & TRUE:
        return None
    tests = [one for one in _parts(allow.when) if isinstance(one, ResourceTest)]
    covering = (one.operand for one in tests if one.verb == "runs" and one.form == "only")
    return [one for one in covering if one is not None]


def _patterns(values: ValueSet, profiles: Profiles) -> list[CommandPattern]:
    texts = (item for item in _items(values) if isinstance(item, str))
    read = (read_command_pattern(text, profiles) for text in texts)
    return [one for one in read if isinstance(one, CommandPattern)]


def _may_be_reached(item: str, covering: Sequence[CommandPattern], profiles: Profiles) -> bool:
    asked = read_command_pattern(item, profiles)
    if not isinstance(asked, CommandPattern):
        return True
    return any(may_cover(each, asked) for each in covering)


def _required_somewhere(test: Test) -> Iterator[ResourceTest]:
    """Yield the tests of commands that some way to meet a condition requires."""
    if isinstance(test, AllOf | AnyOf):
        for part in test.tests:
            yield from _required_somewhere(part)
    elif isinstance(test, ResourceTest) and test.verb == "runs" and test.form in ("some", "any"):
        yield test


def _parts(test: Test) -> Iterator[Test]:
    """Yield the tests that must all hold for a test to hold."""
    if isinstance(test, AllOf):
        for part in test.tests:
            yield from _parts(part)
    else:
        yield test


def _exclude(asked: Test, allowed: Test, profiles: Profiles) -> bool:
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
    kind = asked.operand.kind
    return bool(pairs) and all(_apart(a, b, kind, profiles) for a, b in pairs)


def _items(values: ValueSet) -> Iterator[SetPart]:
    for part in values.included:
        if isinstance(part, ValueSet):
            yield from _items(part)
        else:
            yield part


def _apart(one: SetPart, other: SetPart, kind: str, profiles: Profiles) -> bool:
    """Return whether no resource can be in both of two items of a set."""
    if not isinstance(one, str) or not isinstance(other, str):
        return False
    match kind:
        case "commands":
            covering = read_command_pattern(other, profiles)
            return isinstance(covering, CommandPattern) and not _may_be_reached(
                one, [covering], profiles
            )
        case "hosts":
            return _hosts_apart(one, other)
        case "paths":
            return _paths_apart(one, other)
        case _:
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
