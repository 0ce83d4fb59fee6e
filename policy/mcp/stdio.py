"""MCP over the standard streams of a program that Placet starts."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from policy.diagnostics import visible
from policy.generation import StdioServer
from policy.mcp.secrets import read_values
from policy.mcp.server_sandbox import NOTHING_PROTECTED, ServerSandbox
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
from policy.tools import CALL_VARIABLE

_SHOWN_ERRORS = 300  # characters
_LAST_MOMENT = 1.0  # seconds for a program to end after its output has


@asynccontextmanager
async def stdio_streams(
    server: StdioServer,
    *,
    name: str,
    launcher: Launcher | None,
    lost: Lost,
    sandbox: ServerSandbox | None = None,
) -> AsyncIterator[Streams]:
    """Start the server, and end it with all that it has started when the block ends.

    `sandbox` is that of its session, for a server that is configured to have one.
    """
    if sandbox is None and server.reach is not None:
        sandbox = ServerSandbox(name, server, server.reach, protected=NOTHING_PROTECTED)
    if sandbox is not None:
        launcher = sandbox.launcher(launcher)
    marked = {CALL_VARIABLE: f"mcp {name}"}
    program = ProgramToStart(
        arguments=server.command,
        env=named_environment(more={**read_values(server.env), **marked}),
        folder=server.folder,
    )
    async with ChildProcess(program, launcher=launcher) as child:
        if sandbox is not None:
            sandbox.started(child.program)

        async def send(text: str) -> None:
            child.stdin.write(text.encode() + b"\n")
            await child.stdin.drain()

        async def ended() -> str:
            return await _ended(child)

        async with message_streams(_lines(child.stdout), send, lost=lost, ended=ended) as streams:
            yield streams


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
        return f"the server has closed its input or output{_wrote(child.errors())}"
    how = f"by signal {-code}" if code < 0 else f"with exit status {code}"
    return f"the server has ended {how}{_wrote(await child.last_words())}"


def _wrote(errors: str) -> str:
    said = " ".join(errors.split())
    return f"; it wrote: {visible(said[-_SHOWN_ERRORS:], _SHOWN_ERRORS)}" if said else ""
