"""Whether programs get out of a sandbox on this machine: tried, not assumed."""

from __future__ import annotations

import asyncio
import ctypes
import inspect
import json
import os
import secrets
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from typing import Any

from policy.processes import ChildProcess, ProgramToStart, SupervisedLauncher
from policy.sandbox import attempts
from policy.sandbox.driver import SandboxDriver
from policy.sandbox.launcher import ConfinedLauncher
from policy.sandbox.plan import SandboxPlan

_SECONDS = 20.0
# What is not stopped on any machine, and not tried: other programs would fail meanwhile.
NOT_TRIED = ("take all inotify instances of the user",)


class NotTried(Exception):
    """The attempts could not be made; the text says why."""


def escapes(driver: SandboxDriver | None, plan: SandboxPlan) -> dict[str, bool]:
    """Try to get out of the sandbox of a plan, and return for each attempt whether it succeeded.

    The interpreter that runs Placet is readable besides. Without a driver the attempts are not
    confined. Raises NotTried.
    """
    with ExitStack() as outside:
        targets = {name: outside.enter_context(make()) for name, make in _OUTSIDE.items()}
        targets["mark"], targets["pid"] = targets.pop("process")
        targets["contents"] = _contents(targets["file"])
        printed, errors = asyncio.run(_run(driver, plan, targets))
    try:
        found = json.loads(printed)
    except ValueError as error:
        raise NotTried(errors.strip()[-300:] or "nothing was printed") from error
    return {str(name): bool(reached) for name, reached in found.items()}


async def _run(
    driver: SandboxDriver | None, plan: SandboxPlan, targets: Mapping[str, Any]
) -> tuple[str, str]:
    """Run the attempts, and return what they have printed, with their errors."""
    script = inspect.getsource(attempts)
    arguments = (sys.executable, "-I", "-S", "-c", script, json.dumps(targets))
    plan = _with_interpreter(plan)
    launcher = SupervisedLauncher() if driver is None else ConfinedLauncher(driver, lambda _: plan)
    program = ProgramToStart(arguments=arguments, env={})
    try:
        async with asyncio.timeout(_SECONDS), ChildProcess(program, launcher=launcher) as child:
            printed = await child.stdout.read()
            await child.wait()
            return printed.decode("utf-8", "replace"), child.errors()
    except (OSError, TimeoutError) as error:
        raise NotTried(str(error) or "it took too long") from error


def _with_interpreter(plan: SandboxPlan) -> SandboxPlan:
    needed = {os.path.realpath(sys.base_prefix), os.path.normpath(sys.prefix)}
    system = tuple(f"{folder}/" for folder in ("/usr", "/opt"))
    more = {path for path in needed if not f"{path}/".startswith(system)}
    return replace(plan, reads=tuple(sorted({*plan.reads, *more} - set(plan.writes))))


def _contents(path: str) -> str:
    with open(path, encoding="utf-8") as file:
        return file.read()


@contextmanager
def _file() -> Iterator[str]:
    """Make a file that no plan names."""
    with tempfile.NamedTemporaryFile("w", prefix="placet-outside-") as file:
        file.write(secrets.token_hex())
        file.flush()
        yield file.name


@contextmanager
def _process() -> Iterator[tuple[str, int]]:
    """Start a process, and name it by an argument that no other one has."""
    mark = f"placet-outside-{secrets.token_hex(8)}"
    started = subprocess.Popen(  # noqa: S603 - waits for its input to end
        [sys.executable, "-I", "-S", "-c", "import sys; sys.stdin.read()", mark],
        stdin=subprocess.PIPE,
    )
    with started:
        try:
            # Reversed, so that the arguments of the attempts do not hold it themselves.
            yield mark[::-1], started.pid
        finally:
            started.kill()


@contextmanager
def _tcp() -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield listener.getsockname()[1]


@contextmanager
def _udp() -> Iterator[int]:
    """Answer one datagram."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.bind(("127.0.0.1", 0))

        def answer() -> None:
            data, sender = sock.recvfrom(1)
            if data:
                sock.sendto(b"!", sender)

        answering = threading.Thread(target=answer, daemon=True)
        answering.start()
        port = sock.getsockname()[1]
        try:
            yield port
        finally:
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as own:
                own.sendto(b"", ("127.0.0.1", port))
            answering.join(timeout=_SECONDS)


@contextmanager
def _unix() -> Iterator[str]:
    with tempfile.TemporaryDirectory(prefix="placet-outside-") as folder:
        path = os.path.join(folder, "socket")
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(path)
            listener.listen()
            yield path


@contextmanager
def _abstract() -> Iterator[str]:
    name = f"placet-outside-{secrets.token_hex(8)}"
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("\0" + name)
        listener.listen()
        yield name


@contextmanager
def _memory() -> Iterator[int]:
    """Make a segment of shared memory of System V."""
    libc = ctypes.CDLL(None)
    segment = libc.shmget(0, 4_096, 0o600)
    try:
        yield segment
    finally:
        libc.shmctl(segment, 0, None)


_OUTSIDE: Mapping[str, Callable[[], Any]] = {
    "file": _file,
    "process": _process,
    "tcp": _tcp,
    "udp": _udp,
    "unix": _unix,
    "abstract": _abstract,
    "memory": _memory,
}
