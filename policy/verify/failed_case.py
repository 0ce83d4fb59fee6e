"""Reports cases of tests whose result is not the expected one."""

from __future__ import annotations

from policy.decision import Decision
from policy.diagnostics import Diagnostic, diagnose, visible
from policy.model import Verdict
from policy.syntax import tree

_MOST_SHOWN = 3  # reasons in a message
_NO_RULE = frozenset({"default", "none"})


def no_call(case: tree.Case, decision: Decision) -> Diagnostic:
    """Report a case whose call the schema refuses, so that it shows nothing of the rules."""
    return diagnose(
        "test-of-no-call",
        "the schema refuses this call, so no rule applies to it",
        span=case.span,
        label=_seen(decision),
        help="correct the call, or write `-> deny by schema` if the test is about that",
    )


def failed(
    case: tree.Case, message: str, *, decision: Decision, unmatched: str | None = None
) -> Diagnostic:
    """Report a case with another result; `unmatched` is why the rule it names does not match."""
    seen = _seen(decision)
    return diagnose(
        "failed-test",
        message,
        span=case.span,
        label=seen if unmatched is None else f"{seen}; {unmatched}",
        help=_correction(case, decision),
    )


def _correction(case: tree.Case, decision: Decision) -> str:
    """Return what to do about a test that fails."""
    if {reason.rule for reason in decision.deciding} == {"schema"}:
        return "correct the input of the call, which the schema of the tool refuses"
    expects_grant = case.verdict is not Verdict.DENY and decision.verdict is Verdict.DENY
    if expects_grant and all(reason.rule in _NO_RULE for reason in decision.deciding):
        return (
            "no rule allows this call: correct the rule that should, or the test; `placet explain` "
            "shows each rule's conditions for a call"
        )
    return "correct the rule, or the test if the rule is right"


def _seen(decision: Decision) -> str:
    """Return the reasons that carry the verdict, with their positions, in short form."""
    said: list[str] = []
    for reason in decision.deciding[:_MOST_SHOWN]:
        place = f" ({reason.file}:{reason.line})" if reason.file and reason.line else ""
        clause = f": {visible(reason.clause, 120)}" if reason.clause else ""
        doubt = f", indeterminate: {visible(reason.undecided, 120)}" if reason.undecided else ""
        message = f": {visible(reason.message, 120)}" if reason.message and not clause else ""
        said.append(f"{reason.verdict} by {reason.rule}{place}{clause}{doubt}{message}")
    more = len(decision.deciding) - _MOST_SHOWN
    if more > 0:
        said.append(f"{more} more")
    if decision.rewritten:
        said.append("the input was rewritten")
    return "; ".join(said)
