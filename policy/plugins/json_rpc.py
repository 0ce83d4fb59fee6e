"""JSON-RPC 2.0 with a program over its standard streams, one message a line.

https://www.jsonrpc.org/specification. Only this side calls. The program is not trusted: what it
writes is bounded, and it is ended where that is not an answer.
"""

from __future__ import annotations

import asyncio
import itertools
import json
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from policy.diagnostics import visible
from policy.processes import ChildProcess, LineTooLong, Lost, lines
from policy.values import Unreadable, has_too_many_values, read_plain_json

_LONGEST = 1024 * 1024  # bytes of one message
MOST_VALUES = 20_000  # items of lists and objects in one, each of which is looked at
_MOST_UNASKED = 100  # lines that answer nothing, between two that do
_QUOTED = 300  # characters of an error's message
# How long a program may go on with a call after it was told that nobody waits for it.
_GRACE = 2.0


class ErrorAnswer(Exception):
    """The program has answered a request with an error, whose message is `text`.

    As a string, it is made visible and cut.
    """

    def __init__(self, text: str) -> None:
        super().__init__(visible(text, _QUOTED) if text else "it does not say why")
        self.text = text


class NoAnswer(Exception):
    """The program has ended, or must be ended, before it answered; the text says why."""


class JsonRpcClient:
    """Calls a program's methods. `lost` is told when the program cannot be used any more."""

    def __init__(self, child: ChildProcess, lost: Lost) -> None:
        self._child = child
        self._lost = lost
        self._ids = itertools.count(1)
        self._waiting: dict[int, asyncio.Future[Any]] = {}
        self._cancelled: dict[int, asyncio.TimerHandle] = {}
        self._why: str | None = None
        self._unasked = 0

    @property
    def failed(self) -> bool:
        """Whether the program cannot be used any more."""
        return self._why is not None

    async def request(self, method: str, params: Mapping[str, Any]) -> Any:
        """Return the result of a method; raise ErrorAnswer or NoAnswer.

        Where the wait is cancelled, the program is told so, and ended unless it stops in time.
        """
        if self._why is not None:
            raise NoAnswer(self._why)
        number = next(self._ids)
        answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._waiting[number] = answer
        try:
            self._send({"id": number, "method": method, "params": params})
            with suppress(ConnectionError):  # its end is seen where its output ends
                await self._child.stdin.drain()
            return await answer
        except asyncio.CancelledError:
            self._cancel(number)
            raise
        finally:
            del self._waiting[number]

    async def read(self) -> None:
        """Take the program's answers until it ends."""
        try:
            async for line in lines(self._child.stdout, longest=_LONGEST):
                self._take(line)
                if self._unasked > _MOST_UNASKED:
                    self._end("it writes what answers no call")
                if self._why is not None:
                    return
        except LineTooLong:
            self._end(f"it has sent a message of more than {_LONGEST:,} bytes")
        else:
            said = " ".join((await self._child.last_words()).split())[-_QUOTED:]
            wrote = f"; it wrote: {visible(said, _QUOTED)}" if said else ""
            self._end(f"it has ended{wrote}")

    def _send(self, message: Mapping[str, Any]) -> None:
        self._child.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")

    def _take(self, line: bytes) -> None:
        """Settle the request that a line answers."""
        if has_too_many_values(line, MOST_VALUES):
            self._end(f"it has sent a message of more than {MOST_VALUES:,} values")
            return
        message = read_plain_json(line)
        if isinstance(message, Unreadable):
            self._end(f"it has sent an answer that cannot be read: {message.reason}")
            return
        number = message.get("id") if isinstance(message, dict) else None
        if type(number) is not int:
            if isinstance(message, dict) and ("result" in message or "error" in message):
                self._end("it has answered with an id that is no integer, as those of calls are")
            # A notification, which is nothing to answer.
            self._unasked += 1
            return
        ending = self._cancelled.pop(number, None)
        if ending is not None:
            ending.cancel()
        answer = self._waiting.get(number)
        if answer is None or answer.done():
            if ending is None:
                self._end("it has answered what it was not asked")
            return
        self._unasked = 0
        if ("result" in message) == ("error" in message):
            self._end("it has sent an answer that is neither a result nor an error")
        elif "result" in message:
            answer.set_result(message["result"])
        else:
            answer.set_exception(ErrorAnswer(_message_of(message.get("error"))))

    def _cancel(self, number: int) -> None:
        if self._why is None:
            self._send({"method": "cancel", "params": {"id": number}})
            late = "it went on with a call that was cancelled"
            loop = asyncio.get_running_loop()
            self._cancelled[number] = loop.call_later(_GRACE, self._end, late)

    def _end(self, why: str) -> None:
        """Fail every request, and have the program ended."""
        if self._why is not None:
            return
        self._why = why
        for ending in self._cancelled.values():
            ending.cancel()
        for answer in self._waiting.values():
            if not answer.done():
                answer.set_exception(NoAnswer(why))
        self._lost(why)


def _message_of(error: Any) -> str:
    said = error.get("message") if isinstance(error, dict) else None
    return said if isinstance(said, str) else ""
