"""`Sandbox`: where tools that run code run, and what may ask about them in the policy's place."""

from __future__ import annotations

from typing import Protocol

from policy.approvals import ApprovalOutcome, ApprovalRequest
from policy.catalog import ToolSpec
from policy.model import Reason, Verdict

# Not about what a call does, but about what the tool is: no sandbox can answer that.
_NOT_ITS_OWN = frozenset({"pin", "confirmation", "floor"})


class Sandbox(Protocol):
    """Confines tools that run code, and may put the plain questions about them to a person."""

    @property
    def confirms(self) -> bool:
        """Whether it really asks somebody before a program runs, in the tier in force now."""
        ...

    async def ask(self, request: ApprovalRequest) -> ApprovalOutcome:
        """Return the person's answer; its denial stands, raising counts as one."""
        ...


def confirms(sandbox: Sandbox | None) -> bool:
    """Tell whether there is a sandbox that asks; one that cannot say so does not."""
    try:
        return sandbox is not None and sandbox.confirms is True
    except Exception:  # noqa: BLE001 - whatever it raises, it has not said that it asks
        return False


def left_to_sandbox(reason: Reason, spec: ToolSpec | None) -> bool:
    """Tell whether a sandbox that asks may answer this: a plain ask about a tool that runs code."""
    if spec is None or not spec.exec_class or reason.verdict is not Verdict.ASK:
        return False
    if reason.undecided is not None or reason.rule in _NOT_ITS_OWN:
        return False
    if reason.clause is not None and reason.clause.startswith("after "):
        return False
    return reason.terms is None or (reason.terms.plain and reason.terms.remember is None)
