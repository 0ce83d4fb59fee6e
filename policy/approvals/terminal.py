"""The approver at a terminal: one request after another, one line for each answer."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from contextlib import suppress

from policy.approvals.answer import ApprovalOutcome, Approved, Denied
from policy.approvals.question_text import question
from policy.approvals.request import ApprovalRequest

# Nobody reads a question and answers it sooner.
_TOO_SOON = 2.0


class TerminalApprover:
    """Prints the question and reads one line; `y` or `yes` approves.

    `read` may block, as it runs in a thread of its own. Questions are put one after another. A line
    typed while no question is open answers none. Neither does a line typed right after a question
    replaced one that was cancelled: it was meant for the cancelled one, and an agent can choose the
    moment to cancel.
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
        """Put the question and wait for a line; the end of input denies."""
        async with self._one_at_a_time:
            took_a_place = self._lines.is_reading
            self._write(f"{question(request)}\nallow this once? [y/N] ")
            put = self._ticks()
            line = await self._lines.next()
            if took_a_place and self._ticks() - put < _TOO_SOON:
                self._write("the question before was given up; allow this one, once? [y/N] ")
                line = await self._lines.next()
        if line.strip().lower() in {"y", "yes"}:
            return Approved(by=self._who)
        return Denied(by=self._who)


class _Lines:
    """Lines of a blocking reader; each goes only to the question that waits when it comes.

    The reader runs in a daemon thread, so that the process can end while a person thinks. There is
    only one, so that a cancelled question takes no line from the next.
    """

    def __init__(self, read: Callable[[], str]) -> None:
        self._read = read
        self._reading = False
        self._waiting: asyncio.Future[str] | None = None

    @property
    def is_reading(self) -> bool:
        """Whether the thread still waits for a line that a cancelled question asked for."""
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
            loop.call_soon_threadsafe(self._give, line)

    def _give(self, line: str) -> None:
        self._reading = False
        if self._waiting is not None and not self._waiting.done():
            self._waiting.set_result(line)
