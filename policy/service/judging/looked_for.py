"""Where the values that rules look for stand, of a judged call: for approvers and records."""

from __future__ import annotations

from policy.decision import ValuePlace, value_places
from policy.generation import Generation
from policy.model import Caller
from policy.service.judging.adjudicator import Judgement


def looked_for(judgement: Judgement, caller: Caller) -> tuple[ValuePlace, ...]:
    """Return where the values stand that the rules on a call look for."""
    judge = judgement.judge
    if not isinstance(judge, Generation):
        return ()
    call, facts = judgement.decision.call, judge.complete(judgement.facts)
    return value_places(judge.program, call, caller=caller, facts=facts)
