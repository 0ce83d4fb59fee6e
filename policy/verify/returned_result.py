"""What comes of the result that a test gives a tool, compared with what the test expects."""

from __future__ import annotations

import json

from policy.decision import Decision, result_rules
from policy.diagnostics import Diagnostic, diagnose, visible
from policy.model import thaw
from policy.program import Program, ResultRedactor, ResultWithheld
from policy.syntax import tree
from policy.verify.literals import NotData, same_json, value_of
from policy.verify.test_setup import CaseSetup

_LONGEST = 200


def wrong_result(
    case: tree.Case, program: Program, decision: Decision, setup: CaseSetup
) -> Diagnostic | None:
    """Return how the redacted result differs from the one that the case expects."""
    assert case.returning is not None and case.returned is not None
    withholds = isinstance(case.returned, tree.Withheld)
    try:
        result = value_of(case.returning)
        expected = None if isinstance(case.returned, tree.Withheld) else value_of(case.returned)
    except NotData as found:
        return diagnose(
            "failed-test",
            "the data of a test must be literal values, without names and functions",
            span=found.expr.span,
            help="write the value itself",
        )
    try:
        rules = result_rules(
            program, decision, caller=setup.caller, facts=setup.facts, result=result
        )
        returned = ResultRedactor(rules.redactions).value(result) if rules.redactions else result
    except ResultWithheld as withheld:
        if withholds:
            return None
        return _failed(
            case,
            f"this test fails: the result is withheld because of `{visible(withheld.rule, 80)}`",
            help=f"{withheld.why}: {withheld.detail}" if withheld.detail else withheld.why,
        )
    if not withholds and same_json(returned, expected):
        return None
    shown = json.dumps(thaw(returned), ensure_ascii=False, default=str)
    return _failed(
        case,
        "this test fails: the agent gets the result"
        if withholds
        else "this test fails: the agent gets another result",
        help=f"it is {visible(shown, _LONGEST)}",
    )


def _failed(case: tree.Case, message: str, *, help: str) -> Diagnostic:
    assert case.returned is not None
    return diagnose("failed-test", message, span=case.returned.span, help=help)
