"""Why the rule that a test names does not match its call: the clause, or its part, that fails."""

from __future__ import annotations

from policy.decision import ClauseOutcome, Decision, PartOutcome, RuleOutcome, explain
from policy.diagnostics import visible
from policy.program import Program
from policy.values import quote
from policy.verify.test_setup import CaseSetup

_LONGEST = 120


def why_unmatched(rule: str, program: Program, decision: Decision, setup: CaseSetup) -> str | None:
    """Return why the rule does not match, in one short sentence; None if that is not known.

    A name that is no rule's, such as `default`, has no conditions to show.
    """
    layers = explain(program, decision, caller=setup.caller, facts=setup.facts).layers
    rules = [one for layer in layers for one in layer.rules if one.reason.rule == rule]
    if not rules or any(one.outcome != "fails" for one in rules):
        return None
    said = _clause_said(rules[0])
    return None if said is None else f"{quote(rule)} does not match: {said}"


def _clause_said(rule: RuleOutcome) -> str | None:
    for clause in rule.clauses:
        if clause.keyword == "unless" and clause.outcome == "holds":
            return f"`unless {visible(clause.text, _LONGEST)}` holds"
        if clause.keyword != "unless" and clause.outcome == "fails":
            return f"`{visible(_failing_part(clause).text, _LONGEST)}` is false"
    return None


def _failing_part(clause: ClauseOutcome) -> ClauseOutcome | PartOutcome:
    """Return the smallest part of a chain of `and` that fails by itself."""
    found: ClauseOutcome | PartOutcome = clause
    while found.operator == "and":
        failing = next((part for part in found.parts if part.outcome == "fails"), None)
        if failing is None:
            break
        found = failing
    return found
