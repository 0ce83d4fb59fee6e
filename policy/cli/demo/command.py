"""`placet demo`: prepares the files, starts the server, connects a client, runs the tour."""

from __future__ import annotations

import asyncio
import os
import time
from importlib.util import find_spec
from pathlib import Path

import click

import policy
from policy.cli.demo import screen
from policy.cli.demo.stage import Stage, staged
from policy.cli.fast_paths import VARIABLE, fast_paths
from policy.cli.loading import exit_with
from policy.generation import McpServer, StdioServer
from policy.processes import LaunchedProgram, ProgramToStart, SupervisedLauncher

_LONGEST = 120.0  # seconds for everything, on a very slow machine


@click.command("demo")
def command() -> None:
    """Govern real calls under a copy of the shipped rules, and edit a rule while they run.

    Everything happens in a temporary folder and on the loopback address. The exit status is 0 if
    every verdict was as expected, else 1; unexpected results are listed.

    \b
    Example:
      placet demo
    """
    if find_spec("mcp") is None or find_spec("httpx2") is None:
        exit_with("the demo needs the extras `mcp` and `web`: install placet[mcp,web]")
    fast_paths()  # reports an invalid name here, and not from the server
    with staged() as stage:
        failed = asyncio.run(_tour(stage))
    if failed:
        raise SystemExit(1)


async def _tour(stage: Stage) -> int:
    """Run the tour and return how many expectations failed."""
    from policy.cli.demo.tour import Tour
    from policy.mcp import McpClient, McpFailure

    began = time.perf_counter()
    screen.heading(
        "Placet decides what an agent's tools may do",
        "This tour starts a server with rules and plays an agent that calls its tools. Each line",
        "that begins with ✓, ? or ✗ is a real call: its verdict, the call, and the rules that",
        "decided it. Everything happens in a temporary folder.",
    )
    screen.line("rules", f"{stage.rules}, a copy of the shipped ones")
    screen.line("workspace", str(stage.workspace))
    screen.line("server", f"placet serve {stage.rules.name}/, started by an MCP client on stdio")
    if stage.unconfined:
        screen.line("sandbox", "none works here, so commands run without: `required = false`")
    trouble = ""
    with stage.log.open("wb") as log:
        client = McpClient(_server(stage), launcher=_LoggedLauncher(log.fileno()))
        try:
            async with asyncio.timeout(_LONGEST):
                await client.list_tools()
                screen.line(
                    "client", f"the official SDK's, speaking MCP {client.status.protocol_version}"
                )
                tour = Tour(client, stage)
                await tour.run()
        except (TimeoutError, McpFailure) as error:
            trouble = str(error) or type(error).__name__
        finally:
            await client.close()
    if trouble:
        exit_with(
            f"the server could not be used: {trouble}\n{stage.log.read_text('utf-8')}", code=1
        )
    screen.conclusion(
        failed=len(tour.missed), calls=tour.calls, seconds=time.perf_counter() - began
    )
    return len(tour.missed)


def _server(stage: Stage) -> McpServer:
    """Return the server of the tour; with one session for all calls."""
    transport = StdioServer(
        command=tuple(stage.command()), env=server_environment(), folder=str(stage.folder)
    )
    return McpServer(name="demo", transport=transport, isolation="shared", start=_LONGEST)


class _LoggedLauncher:
    """Starts programs whose standard error goes to a file, which the tour reads meanwhile."""

    def __init__(self, log: int) -> None:
        self._log = log
        self._supervised = SupervisedLauncher()

    async def launch(
        self, program: ProgramToStart, *, stdin: int, stdout: int, stderr: int
    ) -> LaunchedProgram:
        """Start a program; raise OSError."""
        return await self._supervised.launch(program, stdin=stdin, stdout=stdout, stderr=self._log)


def server_environment() -> dict[str, str]:
    """Return the server's environment beyond what all servers get, `PLACET_NO_FAST` included."""
    environment = {"PYTHONPATH": str(Path(policy.__file__).parents[1])}
    if VARIABLE in os.environ:
        environment[VARIABLE] = os.environ[VARIABLE]
    return environment
