"""What can be replaced while a service runs: filter, context rules, approver and sandbox.

All of them are one frozen record behind one reference, so a call that took the record never meets
the new filter together with the old rules.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable
from dataclasses import dataclass, replace

from policy.approvals import Approver
from policy.service.asking.sandbox import Sandbox
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

    def __init__(self, guards: Guards | None = None) -> None:
        self._guards = guards or Guards()
        self._writing = threading.Lock()

    @property
    def current(self) -> Guards:
        """The guards in force now."""
        return self._guards

    def set_smart_filter(self, smart_filter: SmartFilter | None) -> None:
        """Replace the filter; None removes it."""
        with self._writing:
            self._guards = replace(self._guards, smart_filter=smart_filter)

    def set_rules(self, rules: Iterable[ContextRule]) -> None:
        """Replace all context rules at once."""
        kept = tuple(rules)
        with self._writing:
            self._guards = replace(self._guards, rules=kept)

    def set_both(self, smart_filter: SmartFilter | None, rules: Iterable[ContextRule]) -> None:
        """Replace filter and rules at the same time."""
        kept = tuple(rules)
        with self._writing:
            self._guards = replace(self._guards, smart_filter=smart_filter, rules=kept)

    def set_approver(self, approver: Approver | None) -> None:
        """Replace the approver; None turns every ask into a denial."""
        with self._writing:
            self._guards = replace(self._guards, approver=approver)

    def set_sandbox(self, sandbox: Sandbox | None) -> None:
        """Replace the sandbox; with None the approver answers every ask."""
        with self._writing:
            self._guards = replace(self._guards, sandbox=sandbox)
