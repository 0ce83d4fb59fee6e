"""The handlers of what clients ask of servers besides their tools, one for all servers each."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

from policy.catalog import COMPLETE, GET_PROMPT, READ_RESOURCE, builtin_catalog
from policy.mcp.client import McpClient
from policy.mcp.errors import McpFailure, NotSent, Redefined, Uncertain
from policy.mcp.offered import Entries, Feature
from policy.mcp.standing import Standing, is_as_accepted
from policy.model import Execution, Transport
from policy.pins import PinState
from policy.tools import ExecutionContext, NativeHandler, NotAsListed, ToolHandler, ToolOutput
from policy.values import quote

if TYPE_CHECKING:
    from policy.mcp.connection import Connection
    from policy.mcp.servers import McpServers

# Returns the servers there are now; None before they were started.
ServersNow: TypeAlias = Callable[[], "McpServers | None"]
# Sends a request in a session, and returns the answer.
Ask: TypeAlias = Callable[["Connection"], Awaitable[dict[str, Any]]]
_HAVING: Mapping[str, Feature] = {
    READ_RESOURCE: "resources",
    GET_PROMPT: "prompts",
    COMPLETE: "completions",
}


def server_request_handlers(servers: ServersNow) -> tuple[ToolHandler, ...]:
    """Return the handlers of all tools that ask servers for something besides a tool."""
    found = _ServerRequests(servers)
    runs = {READ_RESOURCE: found.read, GET_PROMPT: found.prompt, COMPLETE: found.complete}
    specs = (builtin_catalog().get(name) for name in runs)
    return tuple(NativeHandler(spec, runs[spec.name]) for spec in specs if spec is not None)


class _ServerRequests:
    """Asks the server that a call names, in the session of its caller."""

    def __init__(self, servers: ServersNow) -> None:
        self._servers = servers

    async def read(self, input: dict[str, Any], ctx: ExecutionContext) -> ToolOutput:
        from mcp.types import ReadResourceRequest, ReadResourceRequestParams, ReadResourceResult

        request = ReadResourceRequest(params=ReadResourceRequestParams(uri=input["uri"]))

        async def ask(session: Connection) -> dict[str, Any]:
            return await _send(session, request, ctx)

        return await self._answer(READ_RESOURCE, input, ctx, ask=ask, form=ReadResourceResult)

    async def prompt(self, input: dict[str, Any], ctx: ExecutionContext) -> ToolOutput:
        from mcp.types import GetPromptRequest, GetPromptRequestParams, GetPromptResult

        name, server = input["name"], input["server"]
        params = GetPromptRequestParams(name=name, arguments=input.get("arguments"))
        request = GetPromptRequest(params=params)

        async def ask(session: Connection) -> dict[str, Any]:
            standing = self._standing(server)
            pin = None if standing is None else standing.pin_of(name)
            if pin is not None:
                listed = _named(name, await session.offers.current("prompts"))
                if not is_as_accepted(server, listed, pin):
                    raise Redefined(f"the prompt `{name}` is not the one that was accepted")
            return await _send(session, request, ctx)

        return await self._answer(GET_PROMPT, input, ctx, ask=ask, form=GetPromptResult)

    async def complete(self, input: dict[str, Any], ctx: ExecutionContext) -> ToolOutput:
        from mcp.types import CompleteRequest, CompleteRequestParams, CompleteResult

        ref = {key: value for key, value in input["ref"].items() if value is not None}
        asked = {"ref": ref, "argument": input["argument"]}
        if input.get("context") is not None:
            asked["context"] = {"arguments": input["context"]}
        request = CompleteRequest(params=CompleteRequestParams.model_validate(asked))

        async def ask(session: Connection) -> dict[str, Any]:
            return await _send(session, request, ctx)

        return await self._answer(COMPLETE, input, ctx, ask=ask, form=CompleteResult)

    def _standing(self, server: str) -> Standing | None:
        servers = self._servers()
        return None if servers is None else servers.standing(server)

    async def _answer(
        self, tool: str, input: dict[str, Any], ctx: ExecutionContext, *, ask: Ask, form: Any
    ) -> ToolOutput:
        """Return the answer as the server sends it, if it has the form that clients can read."""
        from pydantic import ValidationError

        from policy.mcp.error_text import text_of

        server, having = input["server"], _HAVING[tool]

        async def ask_if_it_can(session: Connection) -> dict[str, Any]:
            if not session.offers.has(having):
                raise McpFailure(f"it has no {having}")
            return await ask(session)

        client = await self._client(tool, server)
        standing = self._standing(server)
        try:
            answer = await client.in_session(
                ctx.caller, ask_if_it_can, reviewed=standing is not None and standing.is_pinned
            )
            form.model_validate(answer, by_name=False)
        except Redefined as error:
            raise NotAsListed from error
        except NotSent as error:
            raise Transport(tool, f"the server `{server}` was not asked: {error}") from error
        except Uncertain as error:
            raise Transport(tool, f"the server `{server}` did not answer: {error}") from error
        except (McpFailure, ValidationError) as error:
            raise Execution(tool, f"the server `{server}`: {text_of(error)}") from error
        return ToolOutput(value=answer)

    async def _client(self, tool: str, server: str) -> McpClient:
        """Return the client of a server that has said at least once what it is."""
        servers = self._servers()
        client = None if servers is None else servers.client(server)
        if servers is None or client is None:
            raise Execution(tool, f"no MCP server is called {quote(server)} here")
        try:
            await servers.require_listed(server)
        except McpFailure as error:
            raise Transport(tool, f"the server `{server}` was not asked: {error}") from error
        standing = servers.standing(server)
        if standing is not None and standing.state is PinState.CHANGED:
            raise NotAsListed
        return client


def _named(name: str, entries: Entries) -> Entries:
    return tuple(each for each in entries if isinstance(each, Mapping) and each.get("name") == name)


async def _send(session: Connection, request: Any, ctx: ExecutionContext) -> dict[str, Any]:
    return await session.ask(request, progress=None if ctx.client is None else ctx.client.progress)
