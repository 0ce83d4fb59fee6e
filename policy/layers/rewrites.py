"""All layers in, the pairs of rewrites that conflict on every call out."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from policy.checks import CheckedPolicy, LayerKey, checked
from policy.diagnostics import Diagnostic, Label, diagnose
from policy.layers.overlap import Overlaps

# Beyond this many unconditional changes of one field of one tool, the first conflicts suffice.
_MOST = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class _Made:
    """One change that is made on every call of its tools."""

    key: LayerKey
    rewrite: checked.CheckedRewrite
    change: checked.CheckedChange


def find_rewrite_conflicts(
    layers: tuple[CheckedPolicy, ...], overlaps: Overlaps
) -> Iterator[Diagnostic]:
    """Yield a diagnostic for each pair of changes that can never both be made."""
    fields: dict[tuple[str, str | int], list[_Made]] = defaultdict(list)
    said: set[tuple[int, int]] = set()
    for made in _unconditional(layers):
        for spec in overlaps.fitting(made.rewrite.tools):
            others = fields[spec.name, made.change.steps[0]]
            for other in others:
                pair = (id(other.change), id(made.change))
                if pair not in said and _meet(other.key, made.key) and _conflict(other, made):
                    said.add(pair)
                    yield _diagnostic(other, made, tool=spec.name)
            if len(others) < _MOST:
                others.append(made)


def _unconditional(layers: tuple[CheckedPolicy, ...]) -> Iterator[_Made]:
    for policy in layers:
        for rewrite in policy.rewrites:
            if rewrite.shadow or rewrite.when is not None or rewrite.unless is not None:
                continue
            for change in rewrite.changes:
                yield _Made(key=policy.key, rewrite=rewrite, change=change)


def _meet(left: LayerKey, right: LayerKey) -> bool:
    """Tell whether one layer binds everyone the other binds."""
    return left == right or "every" in (left.kind, right.kind)


def _conflict(left: _Made, right: _Made) -> bool:
    a, b = left.change, right.change
    if {a.kind, b.kind} - {"set", "remove"}:
        return False
    if a.steps != b.steps:
        shorter = min(len(a.steps), len(b.steps))
        return a.steps[:shorter] == b.steps[:shorter]
    if a.kind != b.kind:
        return True
    constants = isinstance(a.value, checked.Constant) and isinstance(b.value, checked.Constant)
    return constants and a.value != b.value


def _diagnostic(first: _Made, second: _Made, *, tool: str) -> Diagnostic:
    return diagnose(
        "rewrites-conflict",
        f"two rewrites want different things of every call of `{tool}`",
        span=second.change.span,
        labels=(Label(span=first.change.span, text="the other one"),),
        help="every such call would be denied; keep one, or give them conditions",
    )
