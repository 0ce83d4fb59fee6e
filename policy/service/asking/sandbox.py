"""`Sandbox`: runs tools that run code, and may answer what the policy asks about them."""

from __future__ import annotations

from typing import Protocol

from policy.approvals import ApprovalOutcome, ApprovalRequest
from policy.catalog import ToolSpec
from policy.model import Reason, Verdict

# These asks are about what the tool is, not what a call does: no sandbox can answer them.
_NOT_ITS_OWN = frozenset({"pin", "confirmation", "floor"})


class Sandbox(Protocol):
    """Confines tools that run code, and may ask a person in place of a plain `ask` rule."""

    @property
    def confirms(self) -> bool:
        """Whether it asks a person before a program runs, in the tier now in force."""
        ...

    async def ask(self, request: ApprovalRequest) -> ApprovalOutcome:
        """Return the person's answer; a denial is final, and an exception counts as a denial."""
        ...


def confirms(sandbox: Sandbox | None) -> bool:
    """Return whether there is a sandbox that asks; one that raises does not."""
    try:
        return sandbox is not None and sandbox.confirms is True
    except Exception:  # noqa: BLE001 - an exception is not a yes
        return False


def left_to_sandbox(reason: Reason, spec: ToolSpec | None) -> bool:
    """Return whether a sandbox may answer this: a plain ask about a tool that runs code."""
    if spec is None or not spec.exec_class or reason.verdict is not Verdict.ASK:
        return False
    if reason.undecided is not None or reason.rule in _NOT_ITS_OWN:
        return False
    if reason.clause is not None and reason.clause.startswith("after "):
        return False
    return reason.terms is None or (reason.terms.plain and reason.terms.remember is None)
