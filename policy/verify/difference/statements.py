"""The statements that only one of two policies has, layer by layer.

A statement is known by the digest of its meaning. So one that was moved, renamed or written in
another way has not changed, and a difference is sought only where a changed one matches.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias, TypeVar

from policy.catalog import ToolSpec
from policy.checks import CheckedPolicy, LayerKey, checked
from policy.program import Program, meaning_digest

Statement: TypeAlias = (
    checked.CheckedRule
    | checked.CheckedRewrite
    | checked.CheckedLimit
    | checked.CheckedRedaction
    | checked.CheckedDefault
    | checked.CheckedDelegation
    | checked.CheckedDeclaration
    | checked.CheckedInvariant
)
_S = TypeVar("_S", bound=Statement)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedLayer:
    """One layer's statements that only the old policy has, and those that only the new one has."""

    key: LayerKey
    removed: tuple[Statement, ...]
    added: tuple[Statement, ...]

    def concerns(self, old: ToolSpec | None, new: ToolSpec | None) -> bool:
        """Return whether a changed statement may affect the verdict on a tool's calls."""
        return any(
            spec is not None and matches(statement, spec)
            for spec, statements in ((old, self.removed), (new, self.added))
            for statement in statements
        )


def changed_layers(old: Program, new: Program) -> tuple[ChangedLayer, ...]:
    """Return the layers in which a statement was added or removed, the global layer first."""
    before = {layer.key: layer for layer in old.policy.layers}
    after = {layer.key: layer for layer in new.policy.layers}
    found = []
    # Every layer sees what the global one declares of tools.
    declared = _declarations_changed(old, new)
    for key in dict.fromkeys((*before, *after)):
        left, right = _by_meaning(before.get(key), after.get(key))
        removed = tuple(one for digest, one in left.items() if digest not in right)
        added = tuple(one for digest, one in right.items() if digest not in left)
        if key.kind != "every":
            removed, added = (*removed, *declared), (*added, *declared)
        if removed or added:
            found.append(ChangedLayer(key=key, removed=removed, added=added))
    return tuple(found)


def only(kind: type[_S], statements: tuple[Statement, ...]) -> tuple[_S, ...]:
    """Return the statements of one kind."""
    return tuple(one for one in statements if isinstance(one, kind))


def _declarations_changed(old: Program, new: Program) -> tuple[checked.CheckedDeclaration, ...]:
    sides = [
        {
            meaning_digest(one): one
            for layer in program.policy.layers[:1]
            for one in layer.declarations
        }
        for program in (old, new)
    ]
    left, right = sides
    return tuple({**left, **right}[digest] for digest in left.keys() ^ right.keys())


def _by_meaning(
    old: CheckedPolicy | None, new: CheckedPolicy | None
) -> tuple[dict[str, Statement], dict[str, Statement]]:
    """Return the statements of both that are not the very same objects, by their digests.

    A rule that an edit did not touch is the same object in both: it needs no digest.
    """
    left, right = ({} if one is None else _by_identity(one) for one in (old, new))
    return (
        {_digest(one): one for known, one in left.items() if known not in right},
        {_digest(one): one for known, one in right.items() if known not in left},
    )


def _by_identity(layer: CheckedPolicy) -> dict[int, Statement]:
    return {id(one): one for one in _statements(layer)}


def _statements(layer: CheckedPolicy) -> Iterator[Statement]:
    """Yield what a layer states that takes effect: no shadow rules."""
    for group in (layer.rules, layer.rewrites, layer.limits, layer.redactions):
        yield from (one for one in group if not one.shadow)
    yield from layer.defaults
    yield from layer.delegations
    yield from layer.declarations
    yield from layer.invariants


def _digest(one: Statement) -> str:
    match one:
        case checked.CheckedRule():
            parts: tuple[object, ...] = (one.verdict, one.with_approval, one.terms)
        case checked.CheckedRewrite():
            parts = tuple(
                (change.kind, change.steps, change.value, change.pattern, change.replacement)
                for change in one.changes
            )
        case checked.CheckedLimit():
            parts = (one.capacity, one.amount, one.window, one.scope, one.steps)
        case checked.CheckedRedaction():
            parts = (one.pattern, one.replacement, one.result_when, one.result_unless)
        case checked.CheckedInvariant():
            parts = (one.kind, one.claim)
        case checked.CheckedDefault():
            return meaning_digest("default", one.verdict, one.tools)
        case _:
            return meaning_digest(one)
    return meaning_digest(type(one).__name__, one.tools, one.when, one.unless, *parts)


def decides_verdicts(statement: Statement) -> bool:
    """Return whether a verdict of the rules may depend on a statement."""
    return not isinstance(statement, (checked.CheckedLimit, checked.CheckedInvariant))


def matches(statement: Statement, spec: ToolSpec) -> bool:
    """Return whether a verdict on calls of a tool may depend on a statement."""
    if not decides_verdicts(statement):
        return False
    return statement.tools is None or statement.tools.matches(spec)
