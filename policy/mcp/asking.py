"""`ask_server`: what one server declares, asked once, for those who review it.

A server is a program from elsewhere: it may hang, end, answer nonsense, or never come to an end.
It is reached as in a service (`connected`), so its messages are bounded and its processes end with
this one; here the time of everything together is limited, too.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from policy.generation import McpServer
from policy.mcp.errors import McpFailure
from policy.mcp.listed_tool import Era, ListFaults
from policy.model import thaw
from policy.processes import Unavailable

_AT_ONCE = 8
# What a person has to review. The rest is for programs that show tools.
_KEPT = ("name", "title", "description", "inputSchema", "annotations")


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerAnswers:
    """What a server declares of itself and its tools: JSON as it was received.

    `faults` are what is wrong with the list of tools, and those that are left out of it. `version`
    is that of its program, as the server says. `era` and `protocol_version` are those of the
    connection.
    """

    tools: list[Any]
    prompts: list[Any]
    instructions: str | None
    version: str
    era: Era
    protocol_version: str
    faults: ListFaults = field(default_factory=ListFaults)


def list_server_tools(
    server: McpServer, *, seconds: float
) -> tuple[list[Mapping[str, Any]], ListFaults]:
    """Return the tools of a server as it describes them, and which are left out.

    Raises McpFailure.
    """
    answers = ask_server(server, seconds=seconds, prompts=False)
    tools: list[Mapping[str, Any]] = [
        {key: entry[key] for key in _KEPT if entry.get(key) is not None} for entry in answers.tools
    ]
    return tools, answers.faults


def ask_server(server: McpServer, *, seconds: float, prompts: bool = True) -> ServerAnswers:
    """Return what a server declares, within `seconds`; raises McpFailure.

    The time limits of `server` itself do not count.
    """
    with _quiet():
        return asyncio.run(_answers(server, seconds, prompts=prompts))


def ask_servers(
    servers: Iterable[McpServer], *, seconds: float
) -> dict[str, ServerAnswers | McpFailure]:
    """Return what each of several servers declares within `seconds`, or why it does not."""
    with _quiet():
        return asyncio.run(_all_answers(tuple(servers), seconds))


async def _all_answers(
    servers: tuple[McpServer, ...], seconds: float
) -> dict[str, ServerAnswers | McpFailure]:
    free = asyncio.Semaphore(_AT_ONCE)

    async def answer(server: McpServer) -> ServerAnswers | McpFailure:
        async with free:
            try:
                return await _answers(server, seconds, prompts=True)
            except McpFailure as error:
                return error

    answers = await asyncio.gather(*map(answer, servers))
    return {server.name: answer for server, answer in zip(servers, answers, strict=True)}


async def _answers(server: McpServer, seconds: float, *, prompts: bool) -> ServerAnswers:
    # The SDK takes most of a second to import, and only those who connect need it.
    from policy.mcp.connecting import connected

    garbage = _Garbage()
    lost: list[str] = []
    try:
        async with (
            asyncio.timeout(seconds),
            connected(server, lost=lost.append, garbage=garbage.count) as connection,
        ):
            tools = await connection.list_tools()
            return ServerAnswers(
                tools=[thaw(tool.raw) for tool in tools],
                faults=connection.faults,
                prompts=[thaw(prompt) for prompt in await connection.list_prompts()]
                if prompts
                else [],
                instructions=connection.instructions,
                version=connection.server_version,
                era=connection.era,
                protocol_version=connection.protocol_version,
            )
    except TimeoutError as error:
        why = f"the server has not listed its tools within {seconds:g} seconds"
        raise McpFailure(f"{why}{garbage.remark}") from error
    except (McpFailure, Unavailable) as error:
        raise McpFailure(f"{lost[0] if lost else error}{garbage.remark}") from error


class _Garbage:
    """Counts the lines of a server's output that are no message."""

    def __init__(self) -> None:
        self._lines = 0

    def count(self) -> None:
        self._lines += 1

    @property
    def remark(self) -> str:
        """The end of a sentence about it."""
        if not self._lines:
            return ""
        lines = "a line" if self._lines == 1 else f"{self._lines:,} lines"
        return f"; its output had {lines} without an MCP message"


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep the SDK's log, with its tracebacks, from the terminal: failures are reported here."""
    log = logging.getLogger("mcp")
    before = log.level
    log.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        log.setLevel(before)
