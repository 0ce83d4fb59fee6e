"""Denies without looking up host names, where no address could change the decision.

Looking a name up tells its servers of it. A call that no answer of theirs could let through must
not have even that effect: an agent would spell in the name what it may not send.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from policy.decision import explain
from policy.generation import Generation
from policy.model import Caller, Facts, Verdict
from policy.service.judging.judge import Answer, Judge

# These deny because nothing gave; every other decided denial stands whatever is allowed besides.
_NOTHING_GAVE = frozenset({"default", "none"})


def denied_without_lookup(
    judge: Judge,
    answer: Answer,
    *,
    ask: Callable[[Facts], Answer],
    caller: Caller,
    facts: Facts,
) -> Answer | None:
    """Return the denial by what is known without a look-up; None where one could let it pass.

    `answer` is what `ask` says of the facts. What is decided of a call stays so when more becomes
    known of it.
    """
    decision = answer.decision
    if not isinstance(judge, Generation) or answer.refused is not None:
        return None
    denials = [r for r in decision.reasons if r.verdict is Verdict.DENY and r.undecided is None]
    if not denials:
        return None
    if all(reason.rule in _NOTHING_GAVE for reason in denials):
        known = judge.complete(facts)
        account = explain(judge.program, decision, caller=caller, facts=known)
        rules = (rule for layer in account.layers for rule in layer.rules)
        if any(rule.kind == "allow" and rule.outcome == "indeterminate" for rule in rules):
            return None
    # Names as names, so that no rule is said to have failed for want of an address.
    names_only = replace(facts, resolvers=replace(facts.resolvers, host=None))
    denied = ask(names_only)
    return denied if denied.decision.verdict is Verdict.DENY else None
