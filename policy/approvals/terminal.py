"""The approver at a terminal: one request after another, one line for each answer."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from contextlib import suppress

from policy.approvals.answer import ApprovalOutcome, Approved, Denied
from policy.approvals.request import ApprovalRequest
from policy.approvals.request_text import request_text

# Nobody can read a request and answer it in less time.
_TOO_SOON = 2.0


class TerminalApprover:
    """Prints the request and reads one line; `y` or `yes` approves.

    `read` may block, as it runs in a separate thread. Requests are shown one after another. A line
    typed while no request is shown is ignored. So is a line typed right after a request replaced a
    cancelled one: it was meant for the cancelled one, and an agent can choose when to cancel.
    """

    def __init__(
        self,
        *,
        read: Callable[[], str],
        write: Callable[[str], object],
        who: str = "terminal",
        ticks: Callable[[], float] = time.monotonic,
    ) -> None:
        self._lines = _Lines(read)
        self._write = write
        self._who = who
        self._ticks = ticks
        self._one_at_a_time = asyncio.Lock()

    async def ask(self, request: ApprovalRequest) -> ApprovalOutcome:
        """Show the request and wait for a line; the end of input denies."""
        async with self._one_at_a_time:
            replaces_cancelled = self._lines.is_reading
            self._write(f"{request_text(request)}\nallow this once? [y/N] ")
            shown_at = self._ticks()
            line = await self._lines.next()
            if replaces_cancelled and self._ticks() - shown_at < _TOO_SOON:
                self._write("the previous request was cancelled; allow this one once? [y/N] ")
                line = await self._lines.next()
        if line.strip().lower() in {"y", "yes"}:
            return Approved(by=self._who)
        return Denied(by=self._who)


class _Lines:
    """Lines of a blocking reader; each goes to the request that waits when it arrives.

    The reader runs in a daemon thread, so that the process can end while a person thinks. There is
    only one such thread, so that a cancelled request takes no line from the next.
    """

    def __init__(self, read: Callable[[], str]) -> None:
        self._read = read
        self._reading = False
        self._waiting: asyncio.Future[str] | None = None

    @property
    def is_reading(self) -> bool:
        """Whether the thread still waits for a line that a cancelled request asked for."""
        return self._reading

    async def next(self) -> str:
        """Return the next line; an empty one if reading fails."""
        loop = asyncio.get_running_loop()
        self._waiting = loop.create_future()
        if not self._reading:
            self._reading = True
            threading.Thread(
                target=self._run, args=(loop,), name="approval-prompt", daemon=True
            ).start()
        try:
            return await self._waiting
        finally:
            self._waiting = None

    def _run(self, loop: asyncio.AbstractEventLoop) -> None:
        try:
            line = self._read()
        except (OSError, ValueError, EOFError):
            line = ""
        # The loop may have ended while a person thought.
        with suppress(RuntimeError):
            loop.call_soon_threadsafe(self._deliver, line)

    def _deliver(self, line: str) -> None:
        self._reading = False
        if self._waiting is not None and not self._waiting.done():
            self._waiting.set_result(line)
