"""Denies without looking up host names, where no address could change the decision.

A look-up reveals the name to its servers. A call that no address could allow must not have even
that effect: an agent could encode in the name what it may not send.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from policy.decision import explain
from policy.generation import Generation
from policy.model import Caller, Facts, Verdict
from policy.service.judging.judge import Judge, PolicyAnswer

# These deny because nothing granted; every other decided denial stands whatever else is allowed.
_NOTHING_GAVE = frozenset({"default", "none"})


def denied_without_lookup(
    judge: Judge,
    answer: PolicyAnswer,
    *,
    ask: Callable[[Facts], PolicyAnswer],
    caller: Caller,
    facts: Facts,
) -> PolicyAnswer | None:
    """Return the denial that holds without a look-up; None if an address could allow the call.

    `answer` is the result of `ask` on the facts. A decided part of a judgement stays decided when
    more facts become known.
    """
    decision = answer.decision
    if not isinstance(judge, Generation) or answer.refused is not None:
        return None
    denials = [r for r in decision.reasons if r.verdict is Verdict.DENY and r.undecided is None]
    if not denials:
        return None
    if all(reason.rule in _NOTHING_GAVE for reason in denials):
        known = judge.complete(facts)
        account = explain(judge.program, decision, caller=caller, facts=known, parts=False)
        rules = (rule for layer in account.layers for rule in layer.rules)
        if any(rule.kind == "allow" and rule.outcome == "indeterminate" for rule in rules):
            return None
    # Names are compared as names, so that no rule is reported as lacking an address.
    names_only = replace(facts, resolvers=replace(facts.resolvers, host=None))
    denied = ask(names_only)
    return denied if denied.decision.verdict is Verdict.DENY else None
