"""What is known of a claim about a tool as an object of JSON, and back.

So it can be kept, or come from another process. A call that breaks the claim is only a suggestion
then: the engine decides it again.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from datetime import datetime
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from policy.catalog import ToolSpec
from policy.evaluation import ABSENT
from policy.model import Reason, freeze, thaw
from policy.verify.proof.claims import ClaimQuestion
from policy.verify.proof.open_reasons import WHY_OPEN
from policy.verify.proof.proof import ToolProof
from policy.verify.proof.prover import decide_again

if TYPE_CHECKING:
    from policy.solving import LeftOpen
    from policy.symbolic import OpenCondition, Situation

_TIME = "time"
_LEFT_OPEN: Mapping[Any, LeftOpen] = {
    "missing": "missing",
    "unfinished": "unfinished",
    "spent": "spent",
}


def answer_record(found: ToolProof) -> dict[str, Any]:
    """Return what is known of a question as an object of JSON, without what keeps the claim."""
    shown = found.counterexample
    record: dict[str, Any] = {
        "status": found.status,
        "about_nothing": found.about_nothing,
        "because": found.because,
        "left_open": found.left_open,
        "open_conditions": [[one.text, one.why, one.rule] for one in found.open_conditions],
    }
    if shown is not None:
        record["call"] = _call(shown.situation)
    return record


def answer_of(question: ClaimQuestion, record: Mapping[str, Any]) -> ToolProof | None:
    """Return the answer that a record says; None if it says none that counts for the question."""
    match record.get("status"):
        case "holds":
            return ToolProof(status="holds", about_nothing=record.get("about_nothing") is True)
        case "undecided":
            return ToolProof(
                status="undecided",
                because=str(record.get("because", "")),
                left_open=_LEFT_OPEN.get(record.get("left_open"), ""),
                open_conditions=tuple(_open_conditions(question, record)),
            )
        case "broken":
            try:
                shown = decide_again(question, _situation(question.spec, record["call"]))
            except (KeyError, TypeError, ValueError):
                return None
            return None if shown is None else ToolProof(status="broken", counterexample=shown)
        case _:
            return None


def _open_conditions(question: ClaimQuestion, record: Mapping[str, Any]) -> Iterator[OpenCondition]:
    """Yield the conditions that leave a claim undecided, at the places that they have now.

    An answer counts as well after rules were moved or renamed.
    """
    from policy.symbolic import OpenCondition, leaves_of

    listed = record.get("open_conditions", ())
    if not listed:
        return
    claim, program = question.claim, question.claim.program
    invariant = claim.invariant
    span = invariant.span
    own = {test.text for test in leaves_of(invariant.when, invariant.unless)}
    of_rules: dict[str, Reason] = {}
    for number in range(len(program.policy.layers)):
        for plan in program.layer_plan(number, question.spec).allows:
            for test in leaves_of(plan.rule.when, plan.rule.unless):
                of_rules.setdefault(test.text, plan.reason)
    for text, why, rule in listed:
        reason = of_rules.get(text)
        if why not in WHY_OPEN:
            continue
        if not rule and text in own:
            yield OpenCondition(text=text, why=why, place=f"{span.file}:{span.line}")
        elif rule and reason is not None:
            place = f"{reason.file}:{reason.line}"
            yield OpenCondition(text=text, why=why, rule=reason.rule, place=place)


def _call(situation: Situation) -> dict[str, Any] | None:
    """Return a call with its caller and facts; None if JSON cannot say it."""
    values = [
        [list(subject), _written(value)]
        for subject, value in situation.values.items()
        # Fields and resources are in the input.
        if subject[0] not in ("input", "call") and not (subject[0] == "context" and value is ABSENT)
    ]
    try:
        found: dict[str, Any] = json.loads(json.dumps({"input": situation.input, "values": values}))
    except (TypeError, ValueError):
        return None
    return found


def _situation(spec: ToolSpec, call: Any) -> Situation:
    from policy.symbolic import Situation

    values = {tuple(map(str, subject)): _read(value) for subject, value in call["values"]}
    return Situation(spec=spec, base=dict(call["input"]), values=MappingProxyType(values))


def _written(value: Any) -> Any:
    if value is ABSENT:
        return None
    return {_TIME: value.isoformat()} if isinstance(value, datetime) else [thaw(value)]


def _read(written: Any) -> Any:
    if written is None:
        return ABSENT
    if isinstance(written, dict):
        return datetime.fromisoformat(written[_TIME])
    (value,) = written
    return freeze(value)
