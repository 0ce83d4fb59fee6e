"""HTTP for a WebAssembly module, by the contract of Extism: each request opens a judged connection.

The module waits in its thread, while the request is made in the event loop, as a part of the call.
What is refused or not reached is an answer, with the status that a proxy would give it.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import json
import threading
from collections.abc import Callable, Mapping
from typing import Any

from policy.plugins.connections import CallConnections
from policy.sandbox import (
    HttpAnswer,
    HttpRequest,
    NoAnswer,
    NotPermitted,
    NotReached,
    answer_to,
    read_target,
)
from policy.values import Unreadable, read_plain_json

_LONGEST = 16 * 1024 * 1024  # bytes of an answer
_MOST = 1_000  # requests of a call
_SECONDS = 60.0  # for one request
_MALFORMED, _REFUSED, _NOT_REACHED = 400, 403, 502


class ModuleHttp:
    """The requests of one call. `end` ends the module, wherever it is."""

    def __init__(self, connections: CallConnections, *, end: Callable[[], None]) -> None:
        self._connections = connections
        self._end = end
        self._loop = asyncio.get_running_loop()
        self._answer = HttpAnswer(status=0, headers={}, body=b"")
        self._waiting: concurrent.futures.Future[HttpAnswer] | None = None
        self._asked = 0
        self._cancelled = threading.Event()
        # Whether the module had no memory for an answer.
        self.exhausted = False

    @property
    def refused(self) -> tuple[str, ...]:
        """The hosts that the module was refused."""
        return tuple(self._connections.refused)

    def http_request(self, request: bytes, body: bytes) -> bytes:
        """Return the body of the answer to a request, which is JSON."""
        self._asked += 1
        if self._asked > _MOST or self._cancelled.is_set():
            self._answer = _told(_REFUSED, "the call has made too many requests")
        else:
            # In the context of this thread, which is that of the call.
            waiting = asyncio.run_coroutine_threadsafe(self._answered(request, body), self._loop)
            self._waiting = waiting
            if self._cancelled.is_set():  # meanwhile
                waiting.cancel()
            try:
                self._answer = waiting.result()
            except (concurrent.futures.CancelledError, RuntimeError):
                self._answer = _told(_NOT_REACHED, "the call was cancelled")
        return self._answer.body

    def http_status_code(self) -> int:
        """Return the status of the last answer, 0 without one."""
        return self._answer.status

    def http_headers(self) -> bytes:
        """Return the headers of the last answer, as a JSON object."""
        return json.dumps(dict(self._answer.headers)).encode() if self._answer.status else b""

    def out_of_memory(self) -> None:
        """End the call: the module has no memory for an answer."""
        self.exhausted = True
        self._end()

    def cancel(self) -> None:
        """End the request that is made now, and make no further one."""
        self._cancelled.set()
        if self._waiting is not None:
            self._waiting.cancel()

    async def _answered(self, text: bytes, body: bytes) -> HttpAnswer:
        request = _read(text, body)
        if isinstance(request, str):
            return _told(_MALFORMED, request)
        target = request.target
        try:
            async with asyncio.timeout(_SECONDS):
                peer = await self._connections(target)
                try:
                    return await answer_to(request, peer, most=_LONGEST)
                finally:
                    peer.abort()
        except NotPermitted as error:
            return _told(_REFUSED, f"the sandbox does not connect to {target.text}: {error}")
        except (NotReached, NoAnswer) as error:
            return _told(_NOT_REACHED, f"{target.text} cannot be reached: {error}")
        except TimeoutError:
            return _told(_NOT_REACHED, f"{target.text} does not answer")


def _told(status: int, why: str) -> HttpAnswer:
    headers = {"content-type": "text/plain; charset=utf-8"}
    return HttpAnswer(status=status, headers=headers, body=f"{why}\n".encode())


def _read(text: bytes, body: bytes) -> HttpRequest | str:
    """Return the request of a module, or why it is none."""
    asked = read_plain_json(text)
    if isinstance(asked, Unreadable) or not isinstance(asked, dict):
        return "a request is a JSON object"
    url, method, headers = asked.get("url"), asked.get("method") or "GET", asked.get("headers")
    if not isinstance(url, str) or not isinstance(method, str) or not _are_headers(headers or {}):
        return "a request has a `url`, perhaps a `method`, and `headers` that are strings"
    if "://" not in url:
        return "its URL has no scheme, such as `https://`"
    target = read_target(url)
    if isinstance(target, Unreadable):
        return f"its URL cannot be used: {target.reason}"
    return HttpRequest(
        target=target, path=_path(url), method=method.upper(), headers=headers or {}, body=body
    )


def _are_headers(headers: Any) -> bool:
    return isinstance(headers, Mapping) and all(isinstance(one, str) for one in headers.values())


def _path(url: str) -> str:
    """Return what a URL asks for of its host: the path and the query."""
    rest = url.partition("://")[2]
    start = min((at for mark in "/?#" if (at := rest.find(mark)) >= 0), default=len(rest))
    path = rest[start:].partition("#")[0]
    return path if path.startswith("/") else f"/{path}"
