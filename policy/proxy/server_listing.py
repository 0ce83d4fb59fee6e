"""Asks a live MCP server what it declares, with the client of the official SDK.

A server is a program from elsewhere: it may hang, end, answer nonsense, or never come to an end. So
the time, the pages, the tools and the size of its answer are bounded.
"""

from __future__ import annotations

import asyncio
import json
import logging
import sys
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from typing import Any, Literal

import httpx2
from mcp import Client, MCPError
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.types import (
    CONNECTION_CLOSED,
    ListPromptsRequest,
    ListToolsRequest,
    PaginatedRequestParams,
)
from pydantic import RootModel, ValidationError

from policy.diagnostics import visible

MOST_PAGES = 100
MOST_TOOLS = 10_000
LARGEST = 16 * 1024 * 1024  # bytes of JSON, as much as a list may be
# What the SDK reports in place of an answer. Servers use the code for errors of their own, too.
_ENDED = (CONNECTION_CLOSED, "Connection closed")
# What a person has to review. The rest is for programs that show tools.
_KEPT = ("name", "title", "description", "inputSchema", "annotations")


class _Page(RootModel[dict[str, Any]]):
    """One page of a list, as it was received."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerAnswers:
    """What a server declares of itself and its tools: JSON as it was received.

    `version` is that of its program, as the server says.
    """

    tools: list[Any]
    prompts: list[Any]
    instructions: str | None
    version: str


class ServerListingError(Exception):
    """A server whose tools could not be listed; the message says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerProgram:
    """A server on standard streams, in `folder`; `env` is added to the few variables it gets."""

    command: Sequence[str]
    env: Mapping[str, str] = field(default_factory=dict)
    folder: str | None = None

    @asynccontextmanager
    async def connected(self) -> AsyncIterator[Any]:
        """Start the program; it ends with the connection, and all that it has started."""
        program, *arguments = self.command
        parameters = StdioServerParameters(
            command=program, args=arguments, env=dict(self.env) or None, cwd=self.folder
        )
        # What it writes to standard error is for the user who started it.
        async with stdio_client(parameters, errlog=sys.__stderr__ or sys.stderr) as streams:
            yield streams


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerAddress:
    """A server over streamable HTTP; `token` is sent as a bearer token."""

    url: str
    token: str | None = None

    @asynccontextmanager
    async def connected(self) -> AsyncIterator[Any]:
        """Connect to the server."""
        headers = {"Accept-Encoding": "identity"}
        if self.token is not None:
            headers["Authorization"] = f"Bearer {self.token}"
        # The whole is limited in time, so no single read is.
        async with (
            httpx2.AsyncClient(
                headers=headers, timeout=None, event_hooks={"response": [_bound]}
            ) as http,
            streamable_http_client(
                self.url, http_client=http, max_sse_event_size=LARGEST
            ) as streams,
        ):
            yield streams


async def _bound(response: httpx2.Response) -> None:
    """Limit how much of an answer is read; the SDK reads all that a server sends."""
    if response.headers.get("content-encoding", "identity") != "identity":
        raise httpx2.DecodingError("the answer is compressed, though that was not accepted")
    response.stream = _BoundedStream(response.stream)


class _BoundedStream(httpx2.AsyncByteStream):
    def __init__(self, inner: Any) -> None:
        self._inner = inner

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        async for chunk in self._inner:
            size += len(chunk)
            if size > LARGEST:
                raise httpx2.ReadError(f"the answer has more than {LARGEST:,} bytes")
            yield chunk

    async def aclose(self) -> None:
        await self._inner.aclose()


def list_server_tools(
    server: ServerProgram | ServerAddress, *, seconds: float
) -> list[dict[str, Any]]:
    """Return the tools of a server as it describes them; raises ServerListingError."""
    return [
        {key: entry[key] for key in _KEPT if entry.get(key) is not None}
        for entry in ask_server(server, seconds=seconds, prompts=False).tools
    ]


def ask_server(
    server: ServerProgram | ServerAddress, *, seconds: float, prompts: bool = True
) -> ServerAnswers:
    """Return what a server declares; raises ServerListingError."""
    with _quiet():
        return asyncio.run(_answers(server, seconds, prompts=prompts))


async def _answers(
    server: ServerProgram | ServerAddress, seconds: float, *, prompts: bool
) -> ServerAnswers:
    heard = _Heard()
    try:
        async with asyncio.timeout(seconds), AsyncExitStack() as stack:
            client = Client(server.connected(), message_handler=heard, cache=None)
            await stack.enter_async_context(client)
            pages = _Pages(client)
            tools = await pages.of("tools")
            has_prompts = prompts and client.server_capabilities.prompts is not None
            told = client.server_info
            return ServerAnswers(
                tools=tools,
                prompts=await pages.of("prompts") if has_prompts else [],
                instructions=client.instructions,
                version="" if told is None else told.version,
            )
    except TimeoutError:
        why = f"the server has not listed its tools within {seconds:g} seconds"
    except Exception as error:  # noqa: BLE001 - whatever goes wrong with a program from elsewhere
        why = _told(error)
    raise ServerListingError(f"{why}{heard.remark}")


class _Pages:
    """The pages of a server's lists: bounded in number, entries and bytes, all together."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._bytes = 0
        self._entries = 0

    async def of(self, what: Literal["tools", "prompts"]) -> list[Any]:
        """Return all entries of a list as they were received, before they become objects."""
        found: list[Any] = []
        cursor, cursors = None, set[str]()
        for _ in range(MOST_PAGES):
            params = PaginatedRequestParams(cursor=cursor)
            request = (
                ListToolsRequest(params=params)
                if what == "tools"
                else ListPromptsRequest(params=params)
            )
            page = (await self._client.session.send_request(request, _Page)).root
            self._take(page[what])
            found += page[what]
            cursor = page.get("nextCursor")
            if cursor is None:
                return found
            if cursor in cursors:
                raise ServerListingError("the server's list leads back to a page before")
            cursors.add(cursor)
        raise ServerListingError(f"the server's list has more than {MOST_PAGES} pages")

    def _take(self, entries: list[Any]) -> None:
        self._entries += len(entries)
        self._bytes += len(json.dumps(entries))
        if self._bytes > LARGEST:
            raise ServerListingError(f"the server's list has more than {LARGEST:,} bytes")
        if self._entries > MOST_TOOLS:
            raise ServerListingError(f"the server lists more than {MOST_TOOLS:,} tools")


class _Heard:
    """Counts the output of a server that is not a message."""

    def __init__(self) -> None:
        self._garbage = 0

    async def __call__(self, message: Any) -> None:
        if isinstance(message, Exception):
            self._garbage += 1

    @property
    def remark(self) -> str:
        """The end of a sentence about it."""
        if not self._garbage:
            return ""
        lines = "a line" if self._garbage == 1 else f"{self._garbage:,} lines"
        return f"; its output had {lines} without an MCP message"


def _told(error: BaseException) -> str:
    """Return in one line what ended a connection."""
    match error:
        case BaseExceptionGroup():
            return _told(error.exceptions[0])
        case ServerListingError():
            return str(error)
        case MCPError(error=answer) if (answer.code, answer.message) == _ENDED:
            return "the connection to the server ended before it had listed its tools"
        case MCPError():
            return f"the server answered with an error: {visible(str(error), 300)}"
        case ValidationError():
            first = error.errors(include_url=False, include_input=False)[0]
            place = ".".join(map(str, first["loc"]))
            what = visible(f"{place}: {first['msg']}", 300)
            return f"the server's answer is no list of tools: {what}"
        case OSError():
            what = visible(error.strerror or str(error), 300)
            return f"the server cannot be started or reached: {what}"
        case _:
            what = visible(f"{type(error).__name__}: {error}", 300)
            return f"the connection to the server failed: {what}"


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
