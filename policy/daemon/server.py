"""The resident process: answers hook calls on a private socket, and ends when idle."""

from __future__ import annotations

import asyncio
import fcntl
import logging
import os
import signal
import socket
import time
from contextlib import AsyncExitStack, suppress
from typing import Any

from policy.daemon.context import HookContext
from policy.daemon.decider import Decider
from policy.daemon.endpoint import DaemonFiles, identity
from policy.daemon.peer import is_ours
from policy.daemon.protocol import LONGEST_LINE, Malformed, line_of, message_in
from policy.daemon.request import HookAnswer, Request
from policy.runtime import Threads

_LOG = logging.getLogger(__name__)
IDLE_VARIABLE = "PLACET_DAEMON_IDLE"
_IDLE = 1800.0  # seconds
_LOADING = Threads("loading policies for hooks", most=1)
# More settings than one person works in at once; the oldest is let go.
_MOST_DECIDERS = 8
# What calls under way may take once the daemon is stopped, and how long the next one waits for it.
_GRACE = 3.0
_TRIES, _PAUSE = 100, 0.05
# How long a client may take to say what it wants.
_PATIENCE = 10.0


def serve(policy: str, ready: int) -> None:
    """Answer hook calls until idle, stopped, or called by another version of Placet.

    Writes `1` to the descriptor `ready` once it listens. Returns at once where another daemon of
    the same policy lives.
    """
    endpoint = DaemonFiles(policy)
    lock = os.open(endpoint.lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    if not _locked(lock):
        return
    listening = _listening(endpoint)
    try:
        asyncio.run(_Daemon(policy).run(listening, ready))
    finally:
        with suppress(FileNotFoundError):
            os.unlink(endpoint.socket)


def _locked(lock: int) -> bool:
    """Take the lock that only one daemon holds; wait for one that is about to end."""
    for _ in range(_TRIES):
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            time.sleep(_PAUSE)
        else:
            return True
    return False


def _listening(endpoint: DaemonFiles) -> socket.socket:
    """Return a new socket; an existing file was left by a daemon that was killed."""
    with suppress(FileNotFoundError):
        os.unlink(endpoint.socket)
    made = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    made.bind(endpoint.socket)
    os.chmod(endpoint.socket, 0o600)
    made.listen(64)
    return made


class _Daemon:
    """One daemon: its deciders, and the time of the last request."""

    def __init__(self, policy: str) -> None:
        self._policy = policy
        self._identity = identity(policy)

        self._began = time.time()
        self._asked = time.monotonic()
        self._calls = 0
        self._clients: set[asyncio.Task[None]] = set()
        self._stopped = asyncio.Event()
        self._deciders: dict[HookContext, tuple[Decider, AsyncExitStack]] = {}
        self._making = asyncio.Lock()

    async def run(self, listening: socket.socket, ready: int) -> None:
        """Serve until the end."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, self._stopped.set)
        server = await asyncio.start_unix_server(self._connect, sock=listening, limit=LONGEST_LINE)
        os.write(ready, b"1")
        os.close(ready)
        idle = asyncio.create_task(self._end_when_idle())
        try:
            await self._stopped.wait()
        finally:
            idle.cancel()
            server.close()
            if self._clients:
                await asyncio.wait(self._clients, timeout=_GRACE)
            for _, stack in self._deciders.values():
                await stack.aclose()

    def _connect(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        client = asyncio.create_task(self._serve(reader, writer))
        self._clients.add(client)
        client.add_done_callback(self._clients.discard)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer one client, who asks once."""
        try:
            peer = writer.get_extra_info("socket")
            if is_ours(peer):
                async with asyncio.timeout(_PATIENCE):
                    line = await reader.readline()
                writer.write(await self._reply(line))
                await writer.drain()
        except (OSError, ValueError):
            pass  # the client is gone, or sent more than a request can be: it decides for itself
        finally:
            self._asked = time.monotonic()
            writer.close()

    async def _reply(self, line: bytes) -> bytes:
        try:
            return line_of(await self._reply_to(message_in(line)))
        except Malformed as problem:
            return line_of({"kind": "malformed", "problem": str(problem)})
        except Exception as error:  # noqa: BLE001 - the client then decides for itself
            _LOG.error("a call could not be decided: %s", type(error).__name__)
            _LOG.debug("a call could not be decided", exc_info=error)
            return line_of({"kind": "failed", "problem": type(error).__name__})

    async def _reply_to(self, message: dict[str, Any]) -> dict[str, Any]:
        """Return the reply to a message."""
        if message["kind"] == "stop":
            self._stopped.set()
            return {"kind": "stopped"}
        if message.get("identity", self._identity) != self._identity:
            # A client of another version starts another daemon, so this one ends.
            self._stopped.set()
            return {"kind": "another"}
        if message["kind"] == "status":
            return {"kind": "status", **self._status()}
        request = Request.of(message)
        self._calls += 1
        return (await self._answer(request)).message()

    async def _answer(self, request: Request) -> HookAnswer:
        decider = await self._decider(HookContext.of(request))
        return await decider.answer(request)

    async def _decider(self, context: HookContext) -> Decider:
        """Return what answers for a context; it follows the policy's files from then on."""
        async with self._making:
            found = self._deciders.pop(context, None)
            if found is None:
                decider = await _LOADING.run(Decider, context)
                stack = AsyncExitStack()
                await stack.enter_async_context(decider.watching())
                found = (decider, stack)
            self._deciders[context] = found
            if len(self._deciders) > _MOST_DECIDERS:
                _, stack = self._deciders.pop(next(iter(self._deciders)))
                await stack.aclose()
            return found[0]

    def _status(self) -> dict[str, Any]:
        return {
            "pid": os.getpid(),
            "policy": self._policy,
            "seconds": round(time.time() - self._began),
            "calls": self._calls,
            "projects": [
                {
                    "folder": context.project,
                    "policy": str(decider.store.status),
                }
                for context, (decider, _) in self._deciders.items()
            ],
        }

    async def _end_when_idle(self) -> None:
        limit = _idle_seconds()
        while True:
            left = self._asked + limit - time.monotonic()
            if left <= 0 and not self._clients:
                self._stopped.set()
                return
            await asyncio.sleep(max(left, 0.05))


def _idle_seconds() -> float:
    try:
        given = float(os.environ.get(IDLE_VARIABLE, ""))
    except ValueError:
        return _IDLE
    return given if given > 0 else _IDLE
