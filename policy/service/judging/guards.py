"""The parts of a running service that can be replaced: filter, rules, approver and sandbox.

All of them are one frozen record behind one reference, so a call that took the record never meets
the new filter together with the old rules.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable
from dataclasses import dataclass, replace

from policy.approvals import Approver, Ledger
from policy.service.asking.ledgers import require_same_store
from policy.service.asking.sandbox import Sandbox
from policy.service.host_objects import (
    AnyApprover,
    AnyContextRule,
    approver_of,
    context_rule_of,
    sandbox_of,
    smart_filter_of,
)
from policy.service.judging.classification import SmartFilter
from policy.service.judging.context_rule import ContextRule


@dataclass(frozen=True, slots=True, kw_only=True)
class Guards:
    """What is set besides the policy. Without an approver every ask is a denial.

    A `sandbox` may answer asks about tools that run code, if the policy names no approvers.
    """

    smart_filter: SmartFilter | None = None
    rules: tuple[ContextRule, ...] = ()
    approver: Approver | None = None
    sandbox: Sandbox | None = None


class GuardCell:
    """The one mutable reference to the guards in force."""

    def __init__(self, guards: Guards | None = None, *, ledger: Ledger | None = None) -> None:
        self._guards = guards or Guards()
        # Where refusals and standing approvals are kept, which a gate has to share.
        self._ledger = ledger
        self._writing = threading.Lock()

    @property
    def current(self) -> Guards:
        """The guards in force now."""
        return self._guards

    def set_smart_filter(self, smart_filter: SmartFilter | None) -> None:
        """Replace the filter; None removes it. Raises TypeError if it cannot classify."""
        if smart_filter is not None:
            smart_filter = smart_filter_of(smart_filter)
        with self._writing:
            self._guards = replace(self._guards, smart_filter=smart_filter)

    def set_rules(self, rules: Iterable[AnyContextRule]) -> None:
        """Replace all context rules at once. Raises TypeError if one cannot be evaluated."""
        kept = tuple(context_rule_of(rule) for rule in rules)
        with self._writing:
            self._guards = replace(self._guards, rules=kept)

    def set_both(self, smart_filter: SmartFilter | None, rules: Iterable[AnyContextRule]) -> None:
        """Replace filter and rules at the same time."""
        kept = tuple(context_rule_of(rule) for rule in rules)
        if smart_filter is not None:
            smart_filter = smart_filter_of(smart_filter)
        with self._writing:
            self._guards = replace(self._guards, smart_filter=smart_filter, rules=kept)

    def set_approver(self, approver: AnyApprover | None) -> None:
        """Replace the approver; None turns every ask into a denial.

        Raises TypeError if it cannot be asked, or is a gate with another store than the service.
        """
        used = None if approver is None else approver_of(approver)
        require_same_store(approver, self._ledger)
        with self._writing:
            self._guards = replace(self._guards, approver=used)

    def set_sandbox(self, sandbox: Sandbox | None) -> None:
        """Replace the sandbox; with None the approver answers every ask."""
        if sandbox is not None:
            sandbox = sandbox_of(sandbox)
        with self._writing:
            self._guards = replace(self._guards, sandbox=sandbox)
