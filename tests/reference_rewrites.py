"""The reference evaluator's rewrites: the new input, or the rewrites that conflict.

The rules whose changes cannot stand together are named, so that the oracle can deny by them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from policy.model import freeze, thaw
from policy.syntax import tree
from tests.reference_conditions import NotInReference, Scene, value_of
from tests.reference_values import ABSENT, UNREADABLE, Lack, as_number

Steps = tuple[str | int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """The rewrites that stand in the way of each other, or that cannot be done."""

    rules: frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """One change that one matching rewrite wants, with the scene its value is read in."""

    rule: str
    change: tree.Change
    scene: Scene

    @property
    def steps(self) -> Steps:
        steps = self.change.path.steps
        if any(not isinstance(step, str | int) for step in steps):
            raise NotInReference("a change at every element")
        return steps  # type: ignore[return-value]


_REMOVED = object()
_KEPT = object()


def rewritten(original: Any, wanted: list[Wanted]) -> Any | Refusal:
    """Return the input with every change made at once, or the refusal that names the rules."""
    by_field: dict[Steps, list[Wanted]] = {}
    for want in wanted:
        by_field.setdefault(want.steps, []).append(want)
    for inner in by_field:
        for outer in by_field:
            if len(outer) < len(inner) and inner[: len(outer)] == outer:
                return _refusal(by_field[inner] + by_field[outer])
    result = thaw(original)
    for steps, changes in by_field.items():
        value = _settled(_at(original, steps), changes)
        if isinstance(value, Refusal):
            return value
        if value is _REMOVED and _at(original, steps) is ABSENT:
            continue
        if value is not _KEPT and not _put(result, steps, value):
            return _refusal(changes)
    return freeze(result)


def _refusal(wanted: list[Wanted]) -> Refusal:
    return Refusal(rules=frozenset(want.rule for want in wanted))


def _at(value: Any, steps: Steps) -> Any:
    for step in steps:
        if value is None:
            return ABSENT
        if isinstance(step, str) and isinstance(value, Mapping):
            value = value.get(step)
        elif isinstance(step, int) and isinstance(value, tuple):
            value = value[step] if step < len(value) else None
        else:
            return UNREADABLE
    return ABSENT if value is None else value


def _put(result: Any, steps: Steps, value: Any) -> bool:
    """Change the plain `result` in place; False where a parent is of another type."""
    *parents, last = steps
    for step in parents:
        if isinstance(result, list) and isinstance(step, int) and step < len(result):
            result = result[step]
            continue
        if not isinstance(result, dict) or not isinstance(step, str):
            return False
        if result.get(step) is None:
            if value is _REMOVED:
                return True
            result[step] = {}
        result = result[step]
    if isinstance(result, list) and isinstance(last, int) and last < len(result):
        if value is _REMOVED:
            return False
        result[last] = thaw(value)
        return True
    if not isinstance(result, dict) or not isinstance(last, str):
        return False
    if value is _REMOVED:
        result.pop(last, None)
    else:
        result[last] = thaw(value)
    return True


def _settled(current: Any, wanted: list[Wanted]) -> Any:
    """Return what all changes of one field make of it; a value that is set must fit all bounds."""
    outcomes: list[Any] = []
    redactions = [want for want in wanted if isinstance(want.change, tree.RedactField)]
    if redactions:
        outcomes.append(_redacted(current, redactions))
    for want in wanted:
        match want.change:
            case tree.SetField(if_absent=True) if current is not ABSENT:
                pass
            case tree.SetField(value=value):
                outcomes.append(value_of(value, want.scene))
            case tree.RemoveField():
                outcomes.append(_REMOVED)
            case _:
                pass
    caps = [want for want in wanted if isinstance(want.change, tree.AtMost)]
    floors = [want for want in wanted if isinstance(want.change, tree.AtLeast)]
    if caps or floors:
        outcomes.append(_bounded(outcomes[0] if outcomes else current, caps, floors))
    if not outcomes:
        return _KEPT
    if any(isinstance(outcome, Lack) for outcome in outcomes if outcome is not ABSENT):
        return _refusal(wanted)
    if ABSENT in outcomes and current is not ABSENT:
        return _refusal(wanted)
    first = outcomes[0]
    if any(not _same(first, other) for other in outcomes[1:]):
        return _refusal(wanted)
    if first is ABSENT:
        return _KEPT if redactions else _refusal(wanted)
    return _plain(first)


def _same(left: Any, right: Any) -> bool:
    if isinstance(left, bool) != isinstance(right, bool):
        return False
    return bool(_plain(left) == _plain(right))


def _plain(value: Any) -> Any:
    number = as_number(value)
    if number is None:
        return value
    return int(number) if number.denominator == 1 else float(number)


def _bounded(current: Any, caps: list[Wanted], floors: list[Wanted]) -> Any:
    highest = _bound(min, [value_of(want.change.bound, want.scene) for want in caps])  # type: ignore[union-attr]
    lowest = _bound(max, [value_of(want.change.bound, want.scene) for want in floors])  # type: ignore[union-attr]
    if highest is UNREADABLE or lowest is UNREADABLE:
        return UNREADABLE
    if highest is not None and lowest is not None and lowest > highest:
        return UNREADABLE
    if current is ABSENT:
        return highest if highest is not None else lowest
    number = as_number(current)
    if number is None:
        return UNREADABLE
    if highest is not None and number > highest:
        return highest
    if lowest is not None and number < lowest:
        return lowest
    return current


def _bound(choose: Callable[[list[Any]], Any], bounds: list[Any]) -> Any:
    if not bounds:
        return None
    numbers = [as_number(bound) for bound in bounds]
    return UNREADABLE if any(number is None for number in numbers) else choose(numbers)


def _found(text: str, wanted: list[Wanted]) -> bool:
    return any(
        re.search(want.change.regex.pattern, text) is not None
        for want in wanted
        if isinstance(want.change, tree.RedactField)
    )


def _redacted(current: Any, wanted: list[Wanted]) -> Any:
    """Redact every text inside; a number or a key cannot be redacted."""
    if current is ABSENT or current is None:
        return current
    if isinstance(current, tuple):
        each = tuple(_redacted(element, wanted) for element in current)
        return UNREADABLE if UNREADABLE in each else each
    if isinstance(current, Mapping):
        inside = {key: _redacted(element, wanted) for key, element in current.items()}
        lost = any(_found(key, wanted) for key in inside) or UNREADABLE in inside.values()
        return UNREADABLE if lost else inside
    if not isinstance(current, str):
        return current if isinstance(current, bool) else UNREADABLE
    marks: list[set[str]] = [set() for _ in current]
    joins = [False for _ in current]
    for want in wanted:
        assert isinstance(want.change, tree.RedactField)
        with_text = want.change.replacement
        for found in re.finditer(want.change.regex.pattern, current):
            for place in range(found.start(), found.end()):
                marks[place].add("[redacted]" if with_text is None else with_text)
                joins[place] = joins[place] or place > found.start()
    result, place = "", 0
    while place < len(current):
        if not marks[place]:
            result += current[place]
            place += 1
            continue
        texts = set(marks[place])
        place += 1
        while place < len(current) and marks[place] and joins[place]:
            texts |= marks[place]
            place += 1
        result += texts.pop() if len(texts) == 1 else "[redacted]"
    return result
