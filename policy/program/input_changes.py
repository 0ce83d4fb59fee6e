"""The changes that matching rewrites make to an input, worked out together.

All changes read the original input. If two contradict each other, or one cannot be computed, the
result is a `Conflict`, which denies.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from policy.checks import checked
from policy.evaluation import (
    ABSENT,
    Absent,
    ConditionScope,
    Evaluation,
    Indeterminate,
    Value,
    ValueOf,
    compile_value,
    equal,
)
from policy.model import freeze
from policy.values import (
    DEFAULT_REPLACEMENT,
    Redaction,
    Regex,
    Unreadable,
    Unsearchable,
    compare_numbers,
    compile_regex,
    is_number,
    redact_text,
)

Steps: TypeAlias = tuple[str | int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class WantedChange:
    """One compiled change of the field at `steps`, by the rule `rule`."""

    kind: str
    steps: Steps
    value: ValueOf | None
    regex: Regex | Unreadable | None
    replacement: str
    rule: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Conflict:
    """Why the changes cannot be made, and the rules that make them."""

    why: str
    rules: tuple[str, ...]


class _Impossible(Exception):
    """Carries a conflict out of nested calls."""

    def __init__(self, why: str, wishes: Iterable[WantedChange]) -> None:
        super().__init__(why)
        self.conflict = Conflict(why=why, rules=tuple(dict.fromkeys(w.rule for w in wishes)))


def compile_changes(
    changes: tuple[checked.CheckedChange, ...], place: ConditionScope, *, rule: str
) -> tuple[WantedChange, ...]:
    """Return the compiled changes of one rewrite."""
    return tuple(
        WantedChange(
            kind=change.kind,
            steps=change.steps,
            value=None if change.value is None else compile_value(change.value, place),
            regex=None if change.pattern is None else compile_regex(change.pattern),
            replacement=DEFAULT_REPLACEMENT if change.replacement is None else change.replacement,
            rule=rule,
            text=change.text,
        )
        for change in changes
    )


Wanted: TypeAlias = tuple[WantedChange, Evaluation]


def apply_changes(
    input: Mapping[str, Any], wanted: Iterable[Wanted]
) -> Mapping[str, Any] | Conflict:
    """Return the input with all changes made, or why that is impossible.

    Each change comes with the evaluation (the caller of the chain) whose rewrite matched.
    """
    by_field: dict[Steps, list[Wanted]] = {}
    for wish, call in wanted:
        by_field.setdefault(wish.steps, []).append((wish, call))
    try:
        _refuse_nested(by_field)
        settled = {steps: _settle(input, steps, wishes) for steps, wishes in by_field.items()}
        # Independent of the order of rules, so that new fields are in the same order too.
        for steps, value in sorted(settled.items(), key=lambda item: [str(s) for s in item[0]]):
            if value is not _UNCHANGED:
                wishes = [wish for wish, _ in by_field[steps]]
                input = _put(input, steps, value, wishes=wishes)
    except _Impossible as impossible:
        return impossible.conflict
    return input


_UNCHANGED = object()


def _refuse_nested(by_field: dict[Steps, list[Wanted]]) -> None:
    for inner, wishes in by_field.items():
        for length in range(1, len(inner)):
            outer = by_field.get(inner[:length])
            if outer is not None:
                both = [wish for wish, _ in (*outer, *wishes)]
                raise _Impossible("a field inside a field that another rewrite changes", both)


def _settle(input: Mapping[str, Any], steps: Steps, wanted: list[Wanted]) -> Any:
    """Return the result of all changes of one field: a value, ABSENT to remove it, or unchanged."""
    original = _get(input, steps, wanted)
    if original is not ABSENT:
        # If the field is present, `if absent` changes nothing and conflicts with nothing.
        wanted = [(wish, call) for wish, call in wanted if wish.kind != "set if absent"]
    if not wanted:
        return _UNCHANGED
    wishes = [wish for wish, _ in wanted]
    kinds = {wish.kind for wish in wishes}
    if kinds == {"redact"}:
        return _redacted(original, wishes)
    if kinds == {"remove"}:
        return ABSENT if original is not ABSENT else _UNCHANGED
    if "redact" in kinds or "remove" in kinds:
        raise _Impossible("rewrites make conflicting changes to one field", wishes)
    value = _set_value(wanted)
    return _bounded(original if value is _UNCHANGED else value, value, wanted)


def _get(input: Any, steps: Steps, wanted: list[Wanted]) -> Any:
    value = input
    for step in steps:
        if isinstance(value, Mapping) and isinstance(step, str):
            value = value.get(step)
        elif isinstance(value, tuple) and isinstance(step, int):
            value = value[step] if -len(value) <= step < len(value) else None
        elif value is not None:
            wishes = [wish for wish, _ in wanted]
            raise _Impossible("a value on the path of a change has another type", wishes)
        if value is None:
            return ABSENT
    return value


def _worked_out(wish: WantedChange, call: Evaluation) -> Value:
    assert wish.value is not None
    value = wish.value(call)
    if isinstance(value, Indeterminate):
        raise _Impossible(f"a change cannot be computed: {value.why}", [wish])
    if _lacks(value):
        raise _Impossible("a change is computed from an absent value", [wish])
    return freeze(value)


def _lacks(value: Value) -> bool:
    """Return whether a value is absent or contains an absent item."""
    if isinstance(value, tuple):
        return any(_lacks(item) for item in value)
    if isinstance(value, Mapping):
        return any(_lacks(item) for item in value.values())
    return isinstance(value, Absent)


def _set_value(wanted: list[Wanted]) -> Any:
    value: Any = _UNCHANGED
    setter: WantedChange | None = None
    for wish, call in wanted:
        if wish.kind not in ("set", "set if absent"):
            continue
        other = _worked_out(wish, call)
        if setter is not None and equal(value, other) is not True:
            raise _Impossible("two rewrites set one field to different values", [setter, wish])
        value, setter = other, wish
    return value


def _bounded(start: Any, value: Any, wanted: list[Wanted]) -> Any:
    """Keep a number within the least upper and the greatest lower bound; absent takes the bound."""
    upper = _extreme(wanted, "at most", "<")
    lower = _extreme(wanted, "at least", ">")
    bounds = [bound for bound in (upper, lower) if bound is not None]
    if not bounds:
        return value
    wishes = [wish for wish, _ in wanted]
    if len(bounds) == 2 and not compare_numbers("<=", lower, upper):
        raise _Impossible("the bounds of rewrites contradict each other", wishes)
    if start is ABSENT:
        return bounds[0]
    if not is_number(start):
        raise _Impossible("a bound applies to a value that is not a number", wishes)
    for bound, beyond in ((upper, ">"), (lower, "<")):
        if bound is None:
            continue
        outside = compare_numbers(beyond, start, bound)
        if outside is None:
            raise _Impossible("a bound applies to a number beyond a double", wishes)
        if outside:
            if value is not _UNCHANGED:
                raise _Impossible("a rewrite sets a value beyond the bound of another", wishes)
            return bound
    return value


def _extreme(wanted: list[Wanted], kind: str, better: str) -> Any:
    best: Any = None
    for wish, call in wanted:
        if wish.kind != kind:
            continue
        bound = _worked_out(wish, call)
        if not is_number(bound):
            raise _Impossible("a bound is not a number", [wish])
        if best is None or compare_numbers(better, bound, best):
            best = bound
    return best


# ------------------------------------------------------------------ redaction


def _redacted(original: Any, wishes: list[WantedChange]) -> Any:
    if original is ABSENT:
        return _UNCHANGED
    changed = _redact_leaves(original, wishes)
    return _UNCHANGED if changed == original else changed


def _redact_leaves(value: Any, wishes: list[WantedChange]) -> Any:
    if isinstance(value, str):
        return _redact_text(value, wishes)
    if isinstance(value, tuple):
        return tuple(_redact_leaves(item, wishes) for item in value)
    if isinstance(value, Mapping):
        if any(_redact_text(key, wishes) != key for key in value):
            raise _Impossible("a redaction applies to the name of a field", wishes)
        return {key: _redact_leaves(item, wishes) for key, item in value.items()}
    if value is None or isinstance(value, bool):
        return value
    raise _Impossible("a redaction applies to a value that is not a string", wishes)


def _redact_text(text: str, wishes: list[WantedChange]) -> str:
    redactions: list[Redaction] = []
    for wish in wishes:
        if not isinstance(wish.regex, Regex):
            raise _Impossible("the pattern of a redaction is not valid", [wish])
        redactions.append(Redaction(regex=wish.regex, replacement=wish.replacement, rule=wish.rule))
    try:
        redacted = redact_text(text, redactions)
    except Unsearchable as error:
        wanting = [wish for wish in wishes if wish.rule == error.redaction.rule]
        why = "a redaction applies to a string that cannot be searched"
        raise _Impossible(why, wanting) from None
    return text if redacted is None else redacted.text


# ------------------------------------------------------------------ putting a value in


def _put(value: Any, steps: Steps, new: Any, *, wishes: list[WantedChange]) -> Any:
    step, rest = steps[0], steps[1:]
    if isinstance(step, int):
        return _put_in_list(value, step, rest, new=new, wishes=wishes)
    if value is None or isinstance(value, Absent):
        value = {}
    if not isinstance(value, Mapping):
        raise _Impossible("a value on the path of a change has another type", wishes)
    fields = dict(value)
    if rest:
        fields[step] = _put(fields.get(step), rest, new, wishes=wishes)
    elif new is ABSENT:
        fields.pop(step, None)
    else:
        fields[step] = new
    return fields


def _put_in_list(
    value: Any, place: int, rest: Steps, *, new: Any, wishes: list[WantedChange]
) -> Any:
    if not isinstance(value, tuple) or not -len(value) <= place < len(value):
        raise _Impossible("a change of an element that a list does not have", wishes)
    if not rest and new is ABSENT:
        raise _Impossible("elements of a list cannot be removed", wishes)
    items = list(value)
    items[place] = _put(items[place], rest, new, wishes=wishes) if rest else new
    return tuple(items)
