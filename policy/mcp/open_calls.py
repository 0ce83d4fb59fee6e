"""`OpenCalls`: the calls that run in one session with a server, which may ask the client something.

What a server asks becomes a call of a tool that rules can name, made within the call that runs: it
has the caller of that call, is judged and recorded as any other, and asks the client that made it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Hashable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from contextvars import Context, ContextVar, copy_context
from dataclasses import dataclass, field
from typing import Any

from policy.model import PermissionDenied, ToolError
from policy.tools import ExecutionContext, RunningTime, ToolService

_MOST_ASKED = 20  # requests within one call

# The server for whose request a call is made; None for all other calls.
ASKED_BY: ContextVar[str | None] = ContextVar("placet_asked_by", default=None)


class NotAnswered(Exception):
    """A server gets no answer; the message says why, for that server."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Asker:
    """Asks on behalf of one running call.

    `origin` is equal for the calls of one caller whose client is asked at one place.
    """

    server: str
    origin: Hashable
    tools: ToolService
    time: RunningTime | None
    within: Context = field(default_factory=copy_context)
    asked: set[asyncio.Task[Any]] = field(default_factory=set)

    @classmethod
    def of(cls, server: str, ctx: ExecutionContext) -> Asker | None:
        """Return what asks for the call that runs here; None if its client cannot be asked."""
        if ctx.tools is None or ctx.client is None or ctx.client.requests is None:
            return None
        origin = (ctx.caller, ctx.client.origin)
        return cls(server=server, origin=origin, tools=ctx.tools, time=ctx.time)

    async def ask(self, tool: str, input: Mapping[str, Any]) -> Any:
        """Make the call within the one that runs; return its value, or raise NotAnswered."""
        asking = asyncio.create_task(
            self._asked(tool, input), context=self.within.run(copy_context)
        )
        self.asked.add(asking)
        try:
            return await asking
        except asyncio.CancelledError:
            asking.cancel()
            await asyncio.gather(asking, return_exceptions=True)
            if _is_ending():
                raise
            raise NotAnswered("the call for which it was asked has ended") from None
        finally:
            self.asked.discard(asking)

    async def _asked(self, tool: str, input: Mapping[str, Any]) -> Any:
        ASKED_BY.set(self.server)
        # People have the time of the request, and not what is left to the tool.
        still = nullcontext() if self.time is None else self.time.standing_still()
        try:
            with still:
                return (await self.tools.execute(tool, dict(input))).value
        except PermissionDenied as error:
            # What the rules say is for the client, not for its servers.
            raise NotAnswered(f"refused for the client's user ({error.code})") from error
        except ToolError as error:
            raise NotAnswered(f"{error.code}: {error.message}") from error


class OpenCalls:
    """The calls that run in one session now, and what the server may ask for them."""

    def __init__(self) -> None:
        self._open: dict[Asker, int] = {}

    @property
    def any_open(self) -> bool:
        """Whether a call runs for which the server may ask."""
        return bool(self._open)

    @contextmanager
    def open(self, asker: Asker | None) -> Iterator[None]:
        """Let the server ask on behalf of a call until the block ends."""
        if asker is None:
            yield
            return
        self._open[asker] = 0
        try:
            yield
        finally:
            del self._open[asker]
            for asking in tuple(asker.asked):
                asking.cancel()

    async def ask(self, tool: str, input: Mapping[str, Any], *, asker: Asker | None = None) -> Any:
        """Return the answer to what the server asks, for the call of `asker`; raise NotAnswered.

        Without an `asker`, it is one of those that run. A session with a handshake does not say for
        which of its calls it asks. So all of them have to be those of one client: nobody is asked
        about the call of somebody else.
        """
        asker = self._only_origin() if asker is None else asker
        asked = self._open.get(asker, 0)
        if asked >= _MOST_ASKED:
            raise NotAnswered(f"a call may ask for at most {_MOST_ASKED} answers")
        self._open[asker] = asked + 1
        return await asker.ask(tool, input)

    def _only_origin(self) -> Asker:
        askers = tuple(self._open)
        if not askers:
            raise NotAnswered("no call is running whose client could be asked")
        if any(other.origin != askers[-1].origin for other in askers):
            raise NotAnswered("calls of several clients are running, and it is not known whose")
        return askers[-1]


def _is_ending() -> bool:
    """Return whether this task is to end, and not only what it waits for."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0
