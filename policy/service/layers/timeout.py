"""Ends a tool that exceeds its time limit. Waiting for people's answers does not count.

A tool may have people asked while it runs: then the limit stands still (`RunningTime`).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from policy.model import EMPTY, Timeout
from policy.service.in_flight import InFlight, current_call
from policy.tools import PassThrough, RunningTime, ToolOutput, ToolService

# Returns the time limit of a tool in seconds, for the current call or None.
SecondsFor: TypeAlias = Callable[[str, InFlight | None], float]


def fixed_limits(default: float, per_tool: Mapping[str, float] = EMPTY) -> SecondsFor:
    """Return a default limit, in seconds, and those of tools that have their own."""
    return lambda tool, call: per_tool.get(tool, default)


class TimeoutLayer(PassThrough):
    """Cancels the inner service when the time limit of its tool has passed."""

    def __init__(self, inner: ToolService, seconds_for: SecondsFor) -> None:
        super().__init__(inner)
        self._seconds_for = seconds_for

    async def execute(self, name: str, input: Any) -> ToolOutput:
        """Forward the call; raise Timeout, with the configured limit, once that has passed."""
        call = current_call()
        seconds = self._seconds_for(name, call)
        try:
            async with asyncio.timeout(seconds) as limit:
                if call is not None:
                    call.time = RunningTime(limit)
                return await self.inner.execute(name, input)
        except TimeoutError as error:
            if not limit.expired():
                raise
            message = f"{name} took longer than {seconds:g} seconds"
            raise Timeout(name, message, seconds=seconds) from error
