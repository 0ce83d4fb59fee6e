"""Sentences for an agent and its user: the reason of a denial, and the text of a question.

They say what could not be decided and which part of the call no rule covers, and quote the call for
that. The agent wrote the call itself and its user sees it, unlike the callers of a service. No
pattern, set or condition of a rule is quoted.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

from policy.daemon.agents.agent import Agent, HookCall
from policy.daemon.context import HookContext
from policy.decision import nearest_allow
from policy.generation import Generation
from policy.model import (
    RESULT_NOT_KNOWN,
    SENTENCES,
    Caller,
    Code,
    Decision,
    NotFound,
    Reason,
    Verdict,
)
from policy.service import Judgement, because, telling
from policy.tools import without_secrets
from policy.values import quote

# Refusals by rules; every other code has a sentence of its own.
_BY_RULES: frozenset[Code] = frozenset({"not-allowed", "not-understood"})
_FLOOR = "whether this changes files that no tool may change"


def refusal(
    judgements: Sequence[Judgement], caller: Caller, *, call: HookCall, context: HookContext
) -> str:
    """Return the reason of a denial, for the model."""
    refused = next((each for each in judgements if each.error is not None), None)
    if refused is None or refused.error is None:
        return SENTENCES["not-allowed"]
    error = refused.error
    if error.code == "policy-unavailable":
        return f"{error.message}: {_unavailable(context.policy)}"
    if isinstance(error, NotFound) and call.mcp is not None:
        return _unknown_server(*call.mcp, policy=context.policy)
    cause = _cause(refused, caller) if error.code in _BY_RULES else None
    if cause is not None:
        return without_secrets(cause, {})
    return _with_file(error.message, judgements, context)


def last_good_rules(policy: str) -> str:
    """Return that older rules decided, and where the reason is found."""
    return f"decided by the last good rules, since {_wrong(policy)}"


def question(judgements: Sequence[Judgement]) -> str:
    """Return the text of a question, for the user."""
    asking = [
        reason
        for each in judgements
        for reason in each.decision.deciding
        if each.decision.verdict is Verdict.ASK
    ]
    # What is certain comes first: it may be all that a person needs to know.
    asking.sort(key=lambda reason: reason.undecided is not None)
    said = dict.fromkeys(_asks(reason) for reason in asking)
    return without_secrets("; ".join(said), {}) or "a rule asks"


def result_not_redacted(decisions: Sequence[Decision]) -> str | None:
    """Return why a call is denied whose result rules redact; None if none does.

    The agent runs its tools itself, and a hook before a tool does not see what it returns.
    """
    rules = dict.fromkeys(
        quote(reason.rule) for each in decisions for reason in each.redactions if not reason.shadow
    )
    if not rules:
        return None
    return f"{SENTENCES['cannot-redact']}, a hook does not change results: {', '.join(rules)}"


def why_not_asked(
    agent: Agent, call: HookCall, judgements: Sequence[Judgement], *, denies_asks: bool
) -> str | None:
    """Return why an ask cannot become the agent's own question; None if it can."""
    if denies_asks:
        return SENTENCES["no-approver"]
    reasons = (reason for each in judgements for reason in each.decision.reasons)
    wanted = [reason.terms for reason in reasons if reason.verdict is Verdict.ASK]
    for terms in wanted:
        if terms is not None and not terms.plain:
            who = " and ".join(terms.groups) or "two people"
            return f"it needs an approval by {who}, which this agent's user cannot give"
    return agent.cannot_ask(call)


def _cause(judgement: Judgement, caller: Caller) -> str | None:
    """Return why rules deny a call, from its parts; None where there is no more to say."""
    reason = telling(judgement.decision.deciding)
    if reason is not None and reason.undecided is not None:
        return _unsure(reason)
    if not isinstance(judgement.judge, Generation):
        return None
    program, facts = judgement.judge.program, judgement.facts
    return nearest_allow(program, judgement.decision, caller=caller, facts=facts)


def _asks(reason: Reason) -> str:
    if reason.undecided is not None:
        return _unsure(reason)
    return because(reason) or f"the rule {quote(reason.rule)} asks"


def _unsure(reason: Reason) -> str:
    """Return that a rule counts although it is not known whether it matches, and why that is so."""
    said = because(reason)
    if reason.rule == "floor":
        if said is not None and said.startswith("this may"):
            return f"{said}: {reason.undecided}"
        return f"{_FLOOR} cannot be decided: {reason.undecided}; {said}"
    if said and RESULT_NOT_KNOWN in (reason.undecided or ""):
        return said  # a hook never knows what came of an earlier call
    told = f"; it says: {said}" if said else ""
    unsure = f"whether the rule {quote(reason.rule)} matches cannot be decided, so it counts"
    return f"{unsure}: {reason.undecided}{told}"


def _unavailable(policy: str) -> str:
    return _wrong(policy) if os.path.lexists(policy) else f"nothing is at {policy}"


def _wrong(policy: str) -> str:
    return f"the policy at {policy} has errors, which `placet check` lists"


def _unknown_server(server: str, tool: str, *, policy: str) -> str:
    return (
        f"the policy does not know the tool {quote(tool)} of the MCP server {quote(server)}: "
        f"after `placet pin accept {policy} --server {server}` a rule may allow it"
    )


def _with_file(message: str, judgements: Sequence[Judgement], context: HookContext) -> str:
    """Return the message of a denial with the file that the floor protects, if it names none."""
    floor = (
        reason.clause
        for each in judgements
        for reason in each.decision.deciding
        if reason.rule == "floor" and reason.clause
    )
    clause = next(floor, None)
    file = "" if clause is None else clause.removeprefix("writes ")
    if file in message:
        return message
    kind = context.kind_of(file)
    return f"{message}: {file}" if kind is None else f"no tool may change {kind}: {file}"
