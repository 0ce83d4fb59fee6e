"""`Health`: whether a server still answers in one session, looked at while no call runs there."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager

from policy.mcp.errors import McpFailure, NotSent, Uncertain
from policy.processes import Lost

_ANSWERING = 10.0  # seconds for the answer to a check


class Health:
    """Checks a session; `ask` sends a request for that, and raises McpFailure or TimeoutError."""

    def __init__(self, ask: Callable[[], Awaitable[None]], lost: Lost) -> None:
        self._ask_for_life = ask
        self._lost = lost
        self._calls = 0
        self._quiet = asyncio.Event()
        self._quiet.set()
        self._suspected = asyncio.Event()

    @contextmanager
    def counted(self) -> Iterator[None]:
        """Count a call that runs; suspect the server of hanging if it is given up."""
        self._calls += 1
        self._quiet.clear()
        try:
            yield
        except asyncio.CancelledError:
            self._suspected.set()
            raise
        finally:
            self._calls -= 1
            if not self._calls:
                self._quiet.set()

    async def check(self) -> bool:
        """Return whether the server answers; a session that does not is lost."""
        try:
            async with asyncio.timeout(_ANSWERING):
                await self._ask_for_life()
        except TimeoutError:
            self._lost(f"the server has not answered within {_ANSWERING:g} seconds")
            return False
        except NotSent as error:
            self._lost(str(error))
            return False
        except Uncertain:
            return False  # it has ended, and is lost already
        except McpFailure:
            return True  # an error is an answer
        return True

    async def watch(self, every: float) -> None:
        """Check the session from time to time, and after a call that was given up.

        A server may serve one call at a time, so it is not checked while calls run.
        """
        while True:
            try:
                async with asyncio.timeout(every):
                    await self._suspected.wait()
            except TimeoutError:
                pass
            self._suspected.clear()
            await self._quiet.wait()
            await self.check()
