"""The handlers of what clients ask of servers besides their tools, one for all servers each."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeAlias

from policy.catalog import COMPLETE, GET_PROMPT, READ_RESOURCE, builtin_catalog
from policy.mcp.client import McpClient
from policy.mcp.errors import McpFailure, NotSent, Redefined, Uncertain
from policy.mcp.offered import Entries, Feature
from policy.mcp.open_calls import Asker
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
# Looks whether a session is one that may be asked; raises McpFailure.
Check: TypeAlias = Callable[["Connection"], Awaitable[None]]
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
        if input.get("subscribe"):
            return await self._subscribe(input, ctx)
        from mcp.types import ReadResourceRequest, ReadResourceRequestParams, ReadResourceResult

        request = ReadResourceRequest(params=ReadResourceRequestParams(uri=input["uri"]))
        form = ReadResourceResult
        return await self._answer(READ_RESOURCE, input, ctx, request=request, form=form)

    async def _subscribe(self, input: dict[str, Any], ctx: ExecutionContext) -> ToolOutput:
        server, watch = input["server"], None if ctx.client is None else ctx.client.watch
        if watch is None:
            raise Execution(READ_RESOURCE, "there is no client that hears of changes")
        client = await self._client(READ_RESOURCE, server)
        with _failing(READ_RESOURCE, server):
            await client.watch(
                input["uri"], watch, caller=ctx.caller, reviewed=self._is_pinned(server)
            )
        return ToolOutput(value={})

    async def prompt(self, input: dict[str, Any], ctx: ExecutionContext) -> ToolOutput:
        from mcp.types import GetPromptRequest, GetPromptRequestParams, GetPromptResult

        name, server = input["name"], input["server"]
        params = GetPromptRequestParams(name=name, arguments=input.get("arguments"))
        request = GetPromptRequest(params=params)

        async def require_as_accepted(session: Connection) -> None:
            standing = self._standing(server)
            pin = None if standing is None else standing.pin_of(name)
            if pin is not None:
                listed = _named(name, await session.offers.current("prompts"))
                if not is_as_accepted(server, listed, pin):
                    raise Redefined(f"the prompt `{name}` is not the one that was accepted")

        return await self._answer(
            GET_PROMPT,
            input,
            ctx,
            request=request,
            form=GetPromptResult,
            check=require_as_accepted,
        )

    async def complete(self, input: dict[str, Any], ctx: ExecutionContext) -> ToolOutput:
        from mcp.types import CompleteRequest, CompleteRequestParams, CompleteResult

        ref = {key: value for key, value in input["ref"].items() if value is not None}
        asked = {"ref": ref, "argument": input["argument"]}
        if input.get("context") is not None:
            asked["context"] = {"arguments": input["context"]}
        request = CompleteRequest(params=CompleteRequestParams.model_validate(asked))
        return await self._answer(COMPLETE, input, ctx, request=request, form=CompleteResult)

    def _standing(self, server: str) -> Standing | None:
        servers = self._servers()
        return None if servers is None else servers.standing(server)

    async def _answer(
        self,
        tool: str,
        input: dict[str, Any],
        ctx: ExecutionContext,
        *,
        request: Any,
        form: Any,
        check: Check | None = None,
    ) -> ToolOutput:
        """Return the answer as the server sends it, if it has the form that clients can read."""
        server, having = input["server"], _HAVING[tool]
        client = await self._client(tool, server)
        # The protocol lets no server ask while it completes.
        asks = bool(client.server.client_features) and tool != COMPLETE
        asker = Asker.of(server, ctx) if asks else None
        progress = None if ctx.client is None else ctx.client.progress

        async def ask(session: Connection) -> dict[str, Any]:
            if not session.offers.has(having):
                raise McpFailure(f"it has no {having}")
            if check is not None:
                await check(session)
            return await session.ask(request, progress=progress, asker=asker)

        with _failing(tool, server):
            answer = await client.in_session(
                ctx.caller, ask, reviewed=self._is_pinned(server), asker=asker
            )
            form.model_validate(answer, by_name=False)
        return ToolOutput(value=answer)

    def _is_pinned(self, server: str) -> bool:
        standing = self._standing(server)
        return standing is not None and standing.is_pinned

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


@contextmanager
def _failing(tool: str, server: str) -> Iterator[None]:
    """Raise what goes wrong with a server as what it means for the call."""
    from pydantic import ValidationError

    from policy.mcp.error_text import text_of

    try:
        yield
    except Redefined as error:
        raise NotAsListed from error
    except NotSent as error:
        raise Transport(tool, f"the server `{server}` was not asked: {error}") from error
    except Uncertain as error:
        raise Transport(tool, f"the server `{server}` did not answer: {error}") from error
    except (McpFailure, ValidationError) as error:
        raise Execution(tool, f"the server `{server}`: {text_of(error)}") from error
