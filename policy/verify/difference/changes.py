"""What a verdict does not show: changes of inputs, limits, results, claims and settings."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal, TypeAlias

from policy.checks import checked
from policy.program import Program, meaning_digest
from policy.verify.difference.limit_changes import covers, limit_changes
from policy.verify.difference.statements import ChangedLayer, Statement, only
from policy.verify.difference.tightening import claims_as_much

# What a change does: it lets calls do more, or less; it may do either; or it affects no call.
Direction: TypeAlias = Literal["looser", "tighter", "unclear", "none"]
Kind: TypeAlias = Literal[
    "rewrite",
    "limit",
    "redaction",
    "resources",
    "claim",
    "statement",
    "tool",
    "schema",
    "profile",
    "pin",
    "setting",
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
    limits = [only(checked.CheckedLimit, each) for each in (layer.removed, layer.added)]
    for one in limit_changes(*limits):
        yield _change("limit", one.direction, one.limit, layer, one.verb)
    removed = [old for old in layer.removed if not any(_says_as_much(n, old) for n in layer.added)]
    for statements, verb in ((removed, "removed"), (layer.added, "added")):
        direction: Direction = "looser" if verb == "removed" else "tighter"
        for statement in statements:
            match statement:
                case checked.CheckedRewrite() if verb == "added":
                    narrows = all(map(_narrows, statement.changes))
                    yield _change(
                        "rewrite", "tighter" if narrows else "unclear", statement, layer, verb
                    )
                case checked.CheckedRewrite():
                    yield _change("rewrite", direction, statement, layer, verb)
                case checked.CheckedRedaction():
                    yield _change("redaction", direction, statement, layer, verb)
                case checked.CheckedInvariant():
                    # What is not claimed any more, later edits may break.
                    claimed: Direction = "looser" if verb == "removed" else "none"
                    yield _change("claim", claimed, statement, layer, verb)
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


def _says_as_much(new: Statement, old: Statement) -> bool:
    """Return whether a redaction or a claim certainly has the effect of one in its place."""
    match new, old:
        case checked.CheckedRedaction(), checked.CheckedRedaction():
            return covers(new.tools, old.tools) and _of_one_tool(new) == _of_one_tool(old)
        case checked.CheckedInvariant(), checked.CheckedInvariant():
            return claims_as_much(new, old)
        case _:
            return False


def _of_one_tool(redaction: checked.CheckedRedaction) -> str:
    return meaning_digest(
        redaction.pattern,
        redaction.replacement,
        redaction.when,
        redaction.unless,
        redaction.result_when,
        redaction.result_unless,
    )


def _narrows(change: checked.CheckedChange) -> bool:
    """Return whether a change of the input only brings a number closer to zero.

    Any other may make a call do what nobody asked for: a field that is removed may have been a
    filter, and text that is redacted an option such as `--dry-run`.
    """
    bound = change.value.value if isinstance(change.value, checked.Constant) else None
    if isinstance(bound, bool) or not isinstance(bound, int | float | Decimal):
        return False
    return bound >= 0 if change.kind == "at most" else change.kind == "at least" and bound <= 0


def profile_changes(old: Program, new: Program) -> Iterator[Change]:
    """Yield each program whose profile differs; what that does is in the verdicts on commands."""
    for name in changed_profiles(old, new):
        yield Change(kind="profile", direction="none", what=f"changed: the profile of `{name}`")


def changed_profiles(old: Program, new: Program) -> tuple[str, ...]:
    """Return the programs of which two policies say different things."""
    return new.profiles.changed_since(old.profiles)


def _is_own(statement: checked.CheckedDeclaration, layer: ChangedLayer) -> bool:
    """Return whether a declaration is the layer's own: what is on both sides is the global one."""
    return not (statement in layer.removed and statement in layer.added)


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
