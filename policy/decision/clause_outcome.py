"""The outcome of one clause for a call, and of its parts: which half of an `and`, which command."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from policy.decision.resources import deciding_use
from policy.evaluation import (
    CallEffects,
    ConditionOutcome,
    DecidingResource,
    Evaluation,
    Indeterminate,
    Operator,
    Truth,
)
from policy.model import thaw
from policy.program import Clause
from policy.programs import Invocation

Outcome: TypeAlias = Literal["holds", "fails", "indeterminate"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceOutcome:
    """A resource that determines the outcome of a resource test.

    `resource` is in canonical form, `place` which command of the script it is or belongs to. `why`
    says which part of a command no pattern covers, which file of a tree is in the set, or why it is
    unknown whether the set contains the resource. `unknown` is what is not known of a command.
    """

    resource: str
    place: str = ""
    why: str | None = None
    unknown: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ValueOutcome:
    """A value of the call that a test looks for elsewhere, as JSON; `place` is where it stands."""

    value: Any
    place: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PartOutcome:
    """The outcome of one part of a clause; `operator` says how its own `parts` are combined.

    `resources` are the first 20 that determine the outcome of a resource test: under `runs only`,
    the commands that no pattern covers; `values` are those of `named by user`. `verb` is that of a
    resource test (`reads`), else empty; `fences` is whether that is about resources not in a set
    (`only X`, `outside X`).
    """

    text: str
    outcome: Outcome
    why: str | None = None
    operator: Operator | None = None
    parts: tuple[PartOutcome, ...] = ()
    resources: tuple[ResourceOutcome, ...] = ()
    values: tuple[ValueOutcome, ...] = ()
    verb: str = ""
    fences: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ClauseOutcome:
    """The outcome of one clause for this call, and of its parts.

    `why` is set only where it is indeterminate. The other fields are as those of a part.
    """

    keyword: str
    text: str
    outcome: Outcome
    why: str | None = None
    operator: Operator | None = None
    parts: tuple[PartOutcome, ...] = ()
    resources: tuple[ResourceOutcome, ...] = ()
    values: tuple[ValueOutcome, ...] = ()
    verb: str = ""
    fences: bool = False


def clause_outcome(clause: Clause, call: Evaluation, effects: CallEffects | None) -> ClauseOutcome:
    """Return the outcome of a clause, without its parts if there are no `effects`."""
    truth = clause.test(call)
    whole = None if effects is None else _part(clause.parts(call), effects)
    return ClauseOutcome(
        keyword=clause.keyword,
        text=clause.text,
        outcome=outcome_of(truth),
        why=_why(truth, clause.text),
        operator=None if whole is None else whole.operator,
        parts=() if whole is None else whole.parts,
        resources=() if whole is None else whole.resources,
        values=() if whole is None else whole.values,
        verb="" if whole is None else whole.verb,
        fences=whole is not None and whole.fences,
    )


def _part(found: ConditionOutcome, effects: CallEffects) -> PartOutcome:
    return PartOutcome(
        text=found.text,
        outcome=outcome_of(found.truth),
        why=_why(found.truth, found.text),
        operator=found.operator,
        parts=tuple(_part(part, effects) for part in found.parts),
        resources=tuple(
            ResourceOutcome(resource=resource, place=place, why=each.why, unknown=_unknown(each))
            for each in found.resources
            for resource, place in (deciding_use(each, effects),)
        ),
        values=tuple(ValueOutcome(value=thaw(v.value), place=v.place) for v in found.values),
        verb=found.verb,
        fences=found.fences,
    )


def _unknown(found: DecidingResource) -> str | None:
    command = found.command or found.item.thing
    if not isinstance(command, Invocation):
        return None
    return next((gap for each in command.walk() for gap in each.gaps), None)


def _why(truth: Truth, text: str) -> str | None:
    """Return why a condition is indeterminate, and in which of its parts; None if it is not."""
    if not isinstance(truth, Indeterminate):
        return None
    return truth.why if truth.text in (None, text) else f"`{truth.text}`: {truth.why}"


def outcome_of(truth: Truth) -> Outcome:
    """Return a truth value as explanations name it."""
    if isinstance(truth, Indeterminate):
        return "indeterminate"
    return "holds" if truth else "fails"
