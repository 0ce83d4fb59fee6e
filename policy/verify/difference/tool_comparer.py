"""Compares what two policies decide of one tool's calls: looser, tighter, by whose approval."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from policy.catalog import ToolSpec
from policy.checks import LayerKey
from policy.model import Verdict
from policy.program import Program
from policy.verify.difference.changes import changed_profiles
from policy.verify.difference.difference import CallDifference, ToolDifference
from policy.verify.proof.proof import because_of

# With these comes the solver, which a policy that is not compared does without.
if TYPE_CHECKING:
    from policy.verify.difference.formula import Way
    from policy.verify.difference.question import Question
    from policy.verify.difference.sides import Side

_NONE = CallDifference(found="no")
_REWRITTEN = "rewrites of the tool changed"
_MOST_NAMED = 5  # programs


def compare_tool(
    name: str,
    rows: tuple[LayerKey, ...],
    old: Program,
    new: Program,
    *,
    steps: int,
    tightens: bool = False,
) -> tuple[ToolDifference, ...]:
    """Return how two policies differ in their verdicts on a tool, for each layer of `rows`.

    `steps` bounds the conflicts of the solver for each question. `tightens`: nothing is looser, as
    the statements show.
    """
    try:
        return tuple(_compared(name, rows, old, new, steps=steps, tightens=tightens))
    except Exception as error:  # noqa: BLE001 — a mistake of ours leaves one tool open, no more
        unknown = CallDifference(found="undecided", because=because_of(error))
        return tuple(
            ToolDifference(
                tool=name,
                layer=key,
                looser=unknown,
                tighter=unknown,
                approval=unknown,
                more_approval=unknown,
            )
            for key in rows
        )


def _compared(
    name: str,
    rows: tuple[LayerKey, ...],
    old: Program,
    new: Program,
    *,
    steps: int,
    tightens: bool,
) -> Iterator[ToolDifference]:
    # With them comes the solver, which a policy that is not compared does without.
    from policy.verify.difference.question import Question
    from policy.verify.difference.sides import Side

    before, after = Side.of(old, name), Side.of(new, name)
    profiles = profiles_of(name, old, new)
    because = _changed(profiles) if profiles else ""
    alike = (
        not profiles
        and before.spec is not None
        and after.spec is not None
        and _as_conditions_read(before.spec) == _as_conditions_read(after.spec)
        and old.open_fields(before.spec) == new.open_fields(after.spec)
    )
    approvals = asks_certain_people(before) or asks_certain_people(after)
    with Question(before, after, rows=rows, alike=alike, steps=steps) as question:

        def answer(way: Way, key: LayerKey) -> CallDifference:
            if tightens and way in ("looser", "approval"):
                return _NONE
            return _answer(question, way, key, because=because)

        def approval(way: Way, key: LayerKey) -> CallDifference:
            return answer(way, key) if approvals else _NONE

        for key in rows:
            yield ToolDifference(
                tool=name,
                layer=key,
                looser=answer("looser", key),
                tighter=answer("tighter", key),
                approval=approval("approval", key),
                more_approval=approval("more-approval", key),
            )


def _answer(question: Question, way: Way, key: LayerKey, *, because: str) -> CallDifference:
    """Return whether calls differ in a way: by a proof, or by a call; the likelier one first.

    `because` is why neither may be found.
    """
    if way in question.left_open(key):
        shown = question.witness(way, key) or question.rewritten_witness(way, key)
        if shown is None:
            return CallDifference(found="undecided", because=because or _REWRITTEN)
        return CallDifference(found="yes", witness=shown)
    shown = question.witness(way, key) if question.is_large else None
    if shown is None:
        if question.is_surely_excluded(way, key):
            return _NONE
        # With values that the attempt of a proof suggests.
        shown = question.witness(way, key)
    if shown is not None:
        return CallDifference(found="yes", witness=shown)
    if question.is_excluded(way, key):
        return _NONE
    if because:
        return CallDifference(found="undecided", because=because)
    why = question.why_undecided(key)
    return CallDifference(found="undecided", because=why.because, help=why.help)


def _changed(profiles: tuple[str, ...]) -> str:
    """Return why it is not known what calls get, where profiles of programs changed."""
    names = ", ".join(f"`{name}`" for name in profiles[:_MOST_NAMED])
    more = len(profiles) - _MOST_NAMED
    what = "the profile of" if len(profiles) == 1 else "the profiles of"
    return f"{what} {names}{f' and {more} more' if more > 0 else ''} changed"


def _as_conditions_read(spec: ToolSpec) -> ToolSpec:
    """Return a definition without what no condition reads, or verdicts take from it directly."""
    return replace(
        spec,
        description="",
        requires_confirmation=False,
        pinned=False,
        unreviewed=Verdict.ASK,
        definition_digest="",
        resources=(),
        complete=False,
        unseen=False,
    )


def asks_certain_people(side: Side) -> bool:
    """Return whether an approval of some call is more than that of anybody, once."""
    terms = [
        plan.reason.terms
        for layer in side.layers
        for plan in layer.restricting
        if plan.verdict is Verdict.ASK
    ]
    return any(one is not None and (not one.plain or one.remember is not None) for one in terms)


def profiles_of(name: str, old: Program, new: Program) -> tuple[str, ...]:
    """Return the programs whose profiles changed, if verdicts on a tool may depend on them."""
    found = changed_profiles(old, new)
    if not found:
        return ()
    from policy.verify.difference.command_tools import reads_commands
    from policy.verify.difference.sides import Side

    return found if any(reads_commands(Side.of(each, name)) for each in (old, new)) else ()
