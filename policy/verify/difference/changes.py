"""What a verdict does not show: changes of inputs, limits, results, claims and settings."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from policy.checks import checked
from policy.program import meaning_digest
from policy.verify.difference.statements import ChangedLayer, only

# What a change does: it lets calls do more, or less; it may do either; or it affects no call.
Direction: TypeAlias = Literal["looser", "tighter", "unclear", "none"]
Kind: TypeAlias = Literal[
    "rewrite", "limit", "redaction", "resources", "claim", "tool", "schema", "setting"
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One thing that only one of two policies states, or that they state differently.

    `what` says it in words, `place` is where in the policy that states it, empty for none.
    """

    kind: Kind
    direction: Direction
    what: str
    layer: str = ""
    place: str = ""


def changes_of(layer: ChangedLayer) -> Iterator[Change]:
    """Yield what changed in a layer besides verdicts."""
    yield from _capacities(layer)
    paired = {_but_capacity(one) for one in only(checked.CheckedLimit, layer.removed)}
    paired &= {_but_capacity(one) for one in only(checked.CheckedLimit, layer.added)}
    for statements, verb in ((layer.removed, "removed"), (layer.added, "added")):
        direction: Direction = "looser" if verb == "removed" else "tighter"
        for statement in statements:
            match statement:
                case checked.CheckedLimit() if _but_capacity(statement) in paired:
                    continue
                case checked.CheckedLimit():
                    yield _change("limit", direction, statement, layer, verb)
                case checked.CheckedRewrite():
                    yield _change("rewrite", direction, statement, layer, verb)
                case checked.CheckedRedaction():
                    yield _change("redaction", direction, statement, layer, verb)
                case checked.CheckedInvariant():
                    yield _change("claim", "none", statement, layer, verb)
                case checked.CheckedDeclaration() if _is_own(statement, layer):
                    yield Change(
                        kind="resources",
                        direction="none",
                        what=f"{verb}: what the layer declares of tools",
                        layer=layer.key.title,
                        place=str(statement.span),
                    )
                case _:
                    continue


def _is_own(statement: checked.CheckedDeclaration, layer: ChangedLayer) -> bool:
    """Return whether a declaration is the layer's own: what is on both sides is the global one."""
    return not (statement in layer.removed and statement in layer.added)


def _capacities(layer: ChangedLayer) -> Iterator[Change]:
    """Yield limits of which only the number changed."""
    before = {_but_capacity(one): one for one in only(checked.CheckedLimit, layer.removed)}
    for limit in only(checked.CheckedLimit, layer.added):
        old = before.get(_but_capacity(limit))
        if old is not None:
            direction: Direction = "looser" if limit.capacity > old.capacity else "tighter"
            verb = f"from {old.capacity} to {limit.capacity}"
            yield _change("limit", direction, limit, layer, verb)


def _but_capacity(limit: checked.CheckedLimit) -> str:
    same = replace(limit, capacity=0, id="", text="", because=None, audit=None, meter="")
    return meaning_digest(same)


def _change(
    kind: Kind,
    direction: Direction,
    statement: checked.CheckedLimit
    | checked.CheckedRewrite
    | checked.CheckedRedaction
    | checked.CheckedInvariant,
    layer: ChangedLayer,
    verb: str,
) -> Change:
    return Change(
        kind=kind,
        direction=direction,
        what=f"{verb}: {statement.text}",
        layer=layer.key.title,
        place=f"{statement.span.file}:{statement.span.line}",
    )
