"""Checks the emergency stop just before a tool begins, and while it runs."""

from __future__ import annotations

import asyncio
from typing import Any

from policy.model import SENTENCES, Execution, PermissionDenied
from policy.runtime import TurnRefused, looked_at_again
from policy.service.in_flight import InFlight, current_call
from policy.service.layers.frozen_calls import FrozenCalls
from policy.service.refusal_messages import denial, frozen_by
from policy.tools import PassThrough, ToolOutput, ToolService


class StopLayer(PassThrough):
    """Keeps a call that has waited from running once its tool is frozen, and ends a running one.

    A call that needed no approval was judged just now, with every freeze included. One that then
    waits for a thread or a process begins only if the policy of that time lets it.
    """

    def __init__(self, inner: ToolService, stops: FrozenCalls) -> None:
        super().__init__(inner)
        self._stops = stops

    async def execute(self, name: str, input: Any) -> ToolOutput:
        """Forward the call; raise PermissionDenied before it runs, Execution while it runs."""
        call = current_call()
        judgement = None if call is None else call.judgement
        spec = None if judgement is None else judgement.spec
        names = (name,) if spec is None else (name, *spec.names_in_rules)
        if call is not None and call.approvals and judgement is not None:
            freeze = self._stops.freezer.current().on(names)
            if freeze is not None:
                raise denial(name, frozen_by(freeze, judgement.decision))
        try:
            async with asyncio.timeout(None) as limit:
                with (
                    self._stops.watching(limit, names, running=True),
                    looked_at_again(lambda: self._look_again(name, names, call)),
                ):
                    return await self.inner.execute(name, input)
        except TimeoutError as error:
            if not limit.expired():
                raise
            raise self._stopped(name, names) from error

    async def _look_again(self, name: str, names: tuple[str, ...], call: InFlight | None) -> None:
        """Raise TurnRefused for a call that has waited and must not begin any more."""
        judgement = None if call is None else call.judgement
        if call is None or judgement is None or judgement.by is None:
            return
        freeze = self._stops.freezer.current().on(names)
        if freeze is not None:
            raise TurnRefused(denial(name, frozen_by(freeze, judgement.decision)))
        if not await judgement.by.still_permits(judgement, call.running(judgement)):
            why = "the rules have changed while it waited to begin, and do not permit it now"
            refused = PermissionDenied(
                name, why, decision=judgement.decision, code="changed-meanwhile"
            )
            raise TurnRefused(refused)

    def _stopped(self, name: str, names: tuple[str, ...]) -> Execution:
        freeze = self._stops.freezer.current().on(names, cancelling=True)
        said = "" if freeze is None else f": {freeze.because}"
        return Execution(name, f"{SENTENCES['frozen']}; it was running{said}", code="frozen")
