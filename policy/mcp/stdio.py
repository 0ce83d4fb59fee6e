"""MCP over the standard streams of a program that Placet starts."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

from policy.diagnostics import visible
from policy.environment import look_up_host
from policy.generation import StdioServer
from policy.mcp.secrets import read_values
from policy.mcp.streams import LARGEST, Streams, TooLarge, message_streams
from policy.processes import (
    ChildProcess,
    Launcher,
    LineTooLong,
    Lost,
    ProgramToStart,
    lines,
    named_environment,
)
from policy.sandbox import ConfinedLauncher, ListedHosts, SandboxPlan, driver_named, plan_of
from policy.tools import CALL_VARIABLE

_SHOWN_ERRORS = 300  # characters
_LAST_MOMENT = 1.0  # seconds for a program to end after its output has


@asynccontextmanager
async def stdio_streams(
    server: StdioServer, *, name: str, launcher: Launcher | None, lost: Lost
) -> AsyncIterator[Streams]:
    """Start the server, and end it with all that it has started when the block ends."""
    marked = {CALL_VARIABLE: f"mcp {name}"}
    program = ProgramToStart(
        arguments=server.command,
        env=named_environment(more={**read_values(server.env), **marked}),
        folder=server.folder,
    )
    async with ChildProcess(program, launcher=_launcher(server, launcher)) as child:

        async def send(text: str) -> None:
            child.stdin.write(text.encode() + b"\n")
            await child.stdin.drain()

        async def ended() -> str:
            return await _ended(child)

        async with message_streams(_lines(child.stdout), send, lost=lost, ended=ended) as streams:
            yield streams


def _launcher(server: StdioServer, launcher: Launcher | None) -> Launcher | None:
    """Return what starts the server: a sandbox, if it is configured to have one."""
    reach = server.reach
    if reach is None:
        return launcher
    home = os.path.expanduser("~")
    folder = server.folder or home
    if server.folder is not None:
        reach = replace(reach, reads=(*reach.reads, server.folder))

    def plan(program: ProgramToStart) -> SandboxPlan:
        return plan_of(reach, folder=folder, home=home, workspace=None)

    connect = ListedHosts(reach.connects, look_up_host)
    return ConfinedLauncher(
        driver_named(reach.driver), plan, launcher=launcher, connect_for=lambda program: connect
    )


async def _lines(stream: asyncio.StreamReader) -> AsyncIterator[bytes]:
    """Yield the lines of a stream; raise TooLarge for one that is too long."""
    try:
        async for line in lines(stream, longest=LARGEST):
            yield line
    except LineTooLong as error:
        raise TooLarge from error


async def _ended(child: ChildProcess) -> str:
    """Say how a program has ended, with the end of what it has written to standard error."""
    try:
        async with asyncio.timeout(_LAST_MOMENT):
            code = await child.wait()
    except TimeoutError:
        return f"the server has closed its output{_last_words(child)}"
    how = f"by signal {-code}" if code < 0 else f"with exit status {code}"
    return f"the server has ended {how}{_last_words(child)}"


def _last_words(child: ChildProcess) -> str:
    said = " ".join(child.errors().split())
    return f"; it wrote: {visible(said[-_SHOWN_ERRORS:], _SHOWN_ERRORS)}" if said else ""
