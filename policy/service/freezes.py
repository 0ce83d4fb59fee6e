"""Freezing tools through a service: owners only, always recorded.

No tool leads here: the host application calls it, on behalf of an owner at the root of all calls.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Literal

from policy.model import Caller, Reason, ToolError, Verdict
from policy.service.facade_operations import (
    OwnerOperations,
    Recorded,
    is_owner_at_root,
    is_within_call,
)
from policy.service.in_flight import InFlight
from policy.service.judging.guards import GuardCell
from policy.store import Freezer, Freezing

# The names in records: no tool can have such a name.
FREEZE: Literal["placet:freeze"] = "placet:freeze"
UNFREEZE: Literal["placet:unfreeze"] = "placet:unfreeze"

_ALLOWED = Reason(rule="freeze", verdict=Verdict.ALLOW, message="the owner may freeze tools")
_REFUSED = Reason(
    rule="freeze", verdict=Verdict.DENY, message="only the owner may freeze and unfreeze tools"
)


class Freezes:
    """Freezes and unfreezes. `recorded` wraps a service in the audit layer."""

    def __init__(self, freezer: Freezer, guards: GuardCell, *, recorded: Recorded) -> None:
        self.freezer = freezer
        self._operations = OwnerOperations(
            guards, allowed=_ALLOWED, refused=_REFUSED, recorded=recorded
        )

    async def freeze(
        self, caller: Caller, tools: Iterable[str], *, because: str, cancel: bool
    ) -> Freezing:
        """Freeze tools; raises PermissionDenied unless the caller is an owner at the root."""
        named = tuple(tools)
        input = {"tools": list(named), "because": because, "cancel": cancel}

        def do() -> Freezing:
            by = caller.user or caller.agent
            return self.freezer.freeze(named, because=because, by=by, cancel=cancel)

        try:
            return await self._done(caller, FREEZE, input, do)
        except ToolError as error:
            # The freeze comes before its record: it takes effect even if that cannot be written.
            if error.code == "cannot-record" and is_owner_at_root(caller) and not is_within_call():
                return do()
            if error.code == "output-withheld":
                return self.freezer.current()
            raise

    async def unfreeze(self, caller: Caller) -> Freezing:
        """Lift every freeze and return what was frozen; raises as `freeze` does.

        If it cannot be recorded, the tools stay frozen.
        """
        before = self.freezer.current()
        try:
            return await self._done(caller, UNFREEZE, {}, self.freezer.unfreeze)
        except ToolError:
            if before and not self.freezer.current():
                self.freezer.put_back(before)
            raise

    async def _done(
        self, caller: Caller, name: str, input: dict[str, Any], do: Callable[[], Freezing]
    ) -> Freezing:
        async def freezing(_: InFlight) -> Freezing:
            return do()

        found: Freezing = await self._operations.run(caller, name, input, freezing)
        return found
