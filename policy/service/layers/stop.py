"""Checks the emergency stop just before a tool runs, and while it does."""

from __future__ import annotations

import asyncio
from typing import Any

from policy.model import SENTENCES, Execution
from policy.service.in_flight import current_call
from policy.service.layers.frozen_calls import FrozenCalls
from policy.service.refusal_messages import denial, frozen_by
from policy.tools import PassThrough, ToolOutput, ToolService


class StopLayer(PassThrough):
    """Keeps an approved call from running once its tool is frozen, and ends a running one.

    A call that needed no approval was judged just now, with every freeze included.
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
                with self._stops.watching(limit, names, running=True):
                    return await self.inner.execute(name, input)
        except TimeoutError as error:
            if not limit.expired():
                raise
            raise self._stopped(name, names) from error

    def _stopped(self, name: str, names: tuple[str, ...]) -> Execution:
        freeze = self._stops.freezer.current().on(names, cancelling=True)
        said = "" if freeze is None else f": {freeze.because}"
        return Execution(name, f"{SENTENCES['frozen']}; it was running{said}", code="frozen")
