"""A question about one exact call in, a person's answer out: `Approver`, and three of them."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol, TypeAlias

from policy.audit import bounded
from policy.call import Caller, thaw
from policy.decision import GenerationId, Reason
from policy.diagnostics import visible
from policy.service.reasons import described

_LONGEST_LINE = 2_000


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalRequest:
    """One question. The answer serves this call, by this caller, once.

    `input` is what would run, complete; `shown` is the same for eyes: hidden characters spelled
    out, cuts marked. `resources` say canonically what the call would touch. `digest` names tool,
    input and resources; it is what the answer is bound to.
    """

    id: str
    tool: str
    input: Mapping[str, Any]
    shown: str
    reasons: tuple[Reason, ...]
    resources: tuple[str, ...] = ()
    digest: str
    caller: Caller = field(default_factory=Caller)
    generation: GenerationId | None = None
    expires: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Approved:
    """Somebody agreed."""

    by: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Denied:
    """Somebody refused; `reason` is passed on to the agent."""

    by: str
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class TimedOut:
    """Nobody answered in time."""


ApprovalOutcome: TypeAlias = Approved | Denied | TimedOut


class Approver(Protocol):
    """Puts questions to somebody entitled to answer. Anything but Approved is a denial."""

    async def ask(self, request: ApprovalRequest) -> ApprovalOutcome:
        """Return the answer; raising, or being cancelled, counts as a denial."""
        ...


def shown_input(input: Any) -> str:
    """Return an input as an approver sees it: one line of JSON, hidden characters spelled out."""
    kept, cut = bounded(input, characters=_LONGEST_LINE)
    text = visible(json.dumps(thaw(kept), ensure_ascii=False, default=str))
    return f"{text} (cut)" if cut else text


def question(request: ApprovalRequest) -> str:
    """Return a request as text for a terminal: resources first, then the call, then why."""
    caller = visible(request.caller.agent, 80)
    lines = [f"{caller} wants to run {visible(request.tool, 120)}"]
    lines += [f"  {visible(resource, 300)}" for resource in request.resources]
    lines.append(f"  input: {request.shown}")
    lines += [f"  asked because: {described(reason)}" for reason in request.reasons]
    lines.append(f"  {request.digest}")
    return "\n".join(lines)


class ApprovalGate:
    """The approver at a terminal: prints the question, reads one line, `y` or `yes` agrees.

    `read` may block: it runs in a thread of its own, so that the service goes on meanwhile.
    Questions are put one after another; a line given while none is open answers none.
    """

    def __init__(
        self,
        *,
        read: Callable[[], str],
        write: Callable[[str], object],
        who: str = "terminal",
    ) -> None:
        self._lines = _Lines(read)
        self._write = write
        self._who = who
        self._one_at_a_time = asyncio.Lock()

    async def ask(self, request: ApprovalRequest) -> ApprovalOutcome:
        """Put the question and wait for a line; the end of input refuses."""
        async with self._one_at_a_time:
            self._write(f"{question(request)}\nallow this once? [y/N] ")
            line = await self._lines.next()
        if line.strip().lower() in {"y", "yes"}:
            return Approved(by=self._who)
        return Denied(by=self._who)


class _Lines:
    """Lines from a blocking reader, one at a time and each only to who waits when it comes.

    The thread is a daemon, so neither an abandoned question nor the exit waits for a person; and
    there is never more than one, so an abandoned question takes no line from the next.
    """

    def __init__(self, read: Callable[[], str]) -> None:
        self._read = read
        self._reading = False
        self._waiting: asyncio.Future[str] | None = None

    async def next(self) -> str:
        """Return the next line, an empty one where reading fails."""
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


class ScriptedApprover:
    """Answers from a prepared list, then from `otherwise`; keeps what it was asked."""

    def __init__(
        self,
        *outcomes: ApprovalOutcome,
        otherwise: ApprovalOutcome | None = None,
    ) -> None:
        self._outcomes = list(outcomes)
        self._otherwise = otherwise or Denied(by="script")
        self.requests: list[ApprovalRequest] = []

    async def ask(self, request: ApprovalRequest) -> ApprovalOutcome:
        """Return the next prepared answer."""
        self.requests.append(request)
        return self._outcomes.pop(0) if self._outcomes else self._otherwise
