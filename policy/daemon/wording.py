"""Sentences for an agent and its user: the reason of a denial, and the text of a question."""

from __future__ import annotations

from collections.abc import Sequence

from policy.daemon.agents.agent import Agent, HookCall
from policy.decision import Decision
from policy.model import SENTENCES, Verdict
from policy.service import Judgement, because


def refusal(judgements: Sequence[Judgement]) -> str:
    """Return the reason of a denial, for the model."""
    error = next((each.error for each in judgements if each.error is not None), None)
    if error is None:
        return SENTENCES["not-allowed"]
    if error.code == "policy-unavailable":
        return f"{error.message}: `placet check` says what is wrong with it"
    return _with_file(error.message, judgements)


def _with_file(message: str, judgements: Sequence[Judgement]) -> str:
    """Return the message of a denial with the file that the floor protects, if it names none."""
    floor = (
        reason.clause
        for each in judgements
        for reason in each.decision.deciding
        if reason.rule == "floor" and reason.clause
    )
    clause = next(floor, None)
    file = "" if clause is None else clause.removeprefix("writes ")
    return message if file in message else f"{message}: {file}"


def question(decisions: Sequence[Decision]) -> str:
    """Return the text of a question, for the user."""
    asking = [
        reason for each in decisions for reason in each.deciding if each.verdict is Verdict.ASK
    ]
    said = dict.fromkeys(because(reason) or f"the rule {reason.rule} asks" for reason in asking)
    return "; ".join(said) or "a rule asks"


def why_not_asked(
    agent: Agent, call: HookCall, decisions: Sequence[Decision], *, denies_asks: bool
) -> str | None:
    """Return why an ask cannot become the agent's own question; None if it can."""
    if denies_asks:
        return SENTENCES["no-approver"]
    reasons = (reason for decision in decisions for reason in decision.reasons)
    wanted = [reason.terms for reason in reasons if reason.verdict is Verdict.ASK]
    for terms in wanted:
        if terms is not None and not terms.plain:
            who = " and ".join(terms.groups) or "two people"
            return f"it needs an approval by {who}, which this agent's user cannot give"
    return agent.cannot_ask(call)
