"""Acknowledging an edit that lets calls do more, through a service: owners only, always recorded.

No tool leads here: the host application calls it, on behalf of an owner at the root of all calls.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from policy.model import Caller, NotFound, Reason, ToolError, Verdict
from policy.runtime import Threads
from policy.service.facade_operations import OwnerOperations, Recorded
from policy.service.in_flight import InFlight
from policy.service.judging.guards import GuardCell
from policy.store import Acknowledgements, NotWaiting

# The name in records: no tool can have such a name.
ACKNOWLEDGE: Literal["placet:acknowledge"] = "placet:acknowledge"

_RELOADS = Threads("reloads after an acknowledgement", most=1)

_ALLOWED = Reason(rule="loosening", verdict=Verdict.ALLOW, message="the owner may acknowledge it")
_REFUSED = Reason(
    rule="loosening",
    verdict=Verdict.DENY,
    message="only the owner may let a policy take effect that loosens",
)


class Acknowledging:
    """Acknowledges edits that loosen. `recorded` wraps a service in the audit layer.

    `reload` puts what was acknowledged in force, None where another process does.
    """

    def __init__(
        self,
        acknowledgements: Acknowledgements,
        guards: GuardCell,
        *,
        recorded: Recorded,
        reload: Callable[[], object] | None = None,
    ) -> None:
        self._acknowledgements = acknowledgements
        self._reload = reload
        self._operations = OwnerOperations(
            guards, allowed=_ALLOWED, refused=_REFUSED, recorded=recorded
        )

    async def acknowledge(self, caller: Caller, digest: str) -> None:
        """Acknowledge a difference; raises PermissionDenied unless by an owner at the root.

        Raises NotFound if none with this digest waits. What cannot be recorded is not done.
        """
        is_done = False

        async def acknowledge(call: InFlight) -> None:
            nonlocal is_done
            try:
                self._acknowledgements.acknowledge(digest, by=call.caller.user or call.caller.agent)
            except NotWaiting as error:
                raise NotFound(ACKNOWLEDGE, str(error)) from error
            is_done = True

        try:
            await self._operations.run(caller, ACKNOWLEDGE, {"digest": digest}, acknowledge)
        except ToolError:
            if is_done:
                self._acknowledgements.withdraw(digest)
            raise
        if self._reload is not None:
            await _RELOADS.run(self._reload)
