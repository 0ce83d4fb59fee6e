"""Pairs of rewrites that conflict on every call."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from policy.checks import CheckedPolicy, LayerKey, checked
from policy.diagnostics import Diagnostic, Label, diagnose
from policy.layers.selector_overlap import SelectorOverlaps
from policy.values import compare_numbers, is_number

# The most unconditional changes of one field of one tool that are compared.
_MOST = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class _Made:
    """A change that is made on every call of its tools."""

    key: LayerKey
    rewrite: checked.CheckedRewrite
    change: checked.CheckedChange


def find_rewrite_conflicts(
    layers: tuple[CheckedPolicy, ...], overlaps: SelectorOverlaps
) -> Iterator[Diagnostic]:
    """Yield a diagnostic for each pair of changes that always conflict."""
    fields: dict[tuple[str, str | int], list[_Made]] = defaultdict(list)
    reported: set[tuple[int, int]] = set()
    for policy in layers:
        for rewrite in policy.rewrites:
            if not rewrite.broken:
                yield from _conflicts_within(rewrite)
    for made in _unconditional(layers):
        for spec in overlaps.matching(made.rewrite.tools):
            others = fields[spec.name, made.change.steps[0]]
            for other in others:
                pair = (id(other.change), id(made.change))
                if other.rewrite is made.rewrite or pair in reported:
                    continue
                if meet(other.key, made.key) and _conflict(other.change, made.change):
                    reported.add(pair)
                    yield _diagnostic(
                        other.change,
                        made.change,
                        f"two rewrites make conflicting changes to every call of `{spec.name}`",
                    )
            if len(others) < _MOST:
                others.append(made)


def _unconditional(layers: tuple[CheckedPolicy, ...]) -> Iterator[_Made]:
    for policy in layers:
        for rewrite in policy.rewrites:
            has_condition = rewrite.when is not None or rewrite.unless is not None
            if rewrite.shadow or rewrite.broken or has_condition:
                continue
            for change in rewrite.changes:
                yield _Made(key=policy.key, rewrite=rewrite, change=change)


def meet(left: LayerKey, right: LayerKey) -> bool:
    """Return whether one layer applies to every agent to which the other applies."""
    return left == right or "every" in (left.kind, right.kind)


def _conflicts_within(rewrite: checked.CheckedRewrite) -> Iterator[Diagnostic]:
    """Yield the changes of one rewrite that always conflict, whatever its conditions."""
    for place, change in enumerate(rewrite.changes[:_MOST]):
        for other in rewrite.changes[:place]:
            if _conflict(other, change):
                yield _diagnostic(other, change, "a rewrite makes conflicting changes to one field")


def _conflict(a: checked.CheckedChange, b: checked.CheckedChange) -> bool:
    if a.steps != b.steps:
        # A field inside another changed field: the result would be ambiguous.
        shorter = min(len(a.steps), len(b.steps))
        return a.steps[:shorter] == b.steps[:shorter]
    kinds = {a.kind, b.kind}
    if "set if absent" in kinds or (len(kinds) == 1 and kinds <= {"remove", "redact"}):
        return False
    if kinds & {"remove", "redact"}:
        return True
    return _values_conflict(a, b)


def _values_conflict(a: checked.CheckedChange, b: checked.CheckedChange) -> bool:
    """Return whether no value satisfies both, by their constants."""
    if not isinstance(a.value, checked.Constant) or not isinstance(b.value, checked.Constant):
        return False
    if a.kind == b.kind:
        return a.kind == "set" and a.value != b.value
    if not is_number(a.value.value) or not is_number(b.value.value):
        return True
    lower, upper = (a, b) if a.kind == "at least" or b.kind == "at most" else (b, a)
    assert isinstance(lower.value, checked.Constant) and isinstance(upper.value, checked.Constant)
    return compare_numbers(">", lower.value.value, upper.value.value) is True


def _diagnostic(
    first: checked.CheckedChange, second: checked.CheckedChange, message: str
) -> Diagnostic:
    return diagnose(
        "rewrites-conflict",
        message,
        span=second.span,
        labels=(Label(span=first.span, text="the other one"),),
        help="every such call would be denied; keep one, or give them conditions",
    )
