"""An MCP server around a tool service."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from importlib.metadata import PackageNotFoundError, version
from typing import Any, Protocol, TypeAlias

from mcp.server.lowlevel import NotificationOptions, Server
from mcp.server.models import InitializationOptions
from mcp.server.request_state import RequestStateBoundary, RequestStateSecurity
from mcp.server.subscriptions import ListenHandler
from mcp.shared.jsonrpc_dispatcher import progress_token_from_params
from mcp.types import (
    CallToolRequestParams,
    CallToolResult,
    InputRequiredResult,
    ListToolsResult,
    PaginatedRequestParams,
    Tool,
    ToolAnnotations,
)

from policy.catalog import (
    CLIENT_REQUESTS,
    SERVER_REQUESTS,
    FewerOperations,
    ToolSpec,
    operations_in,
    schema_strictify,
)
from policy.model import NotFound, ToolError, thaw
from policy.proxy.client_presence import ClientPresence
from policy.proxy.client_requests import RequestsToClient
from policy.proxy.connected_client import ConnectedClient, client_of
from policy.proxy.context import Context
from policy.proxy.finished_calls import record_of_call
from policy.proxy.kept_key import SealedWhenNeeded, new_key
from policy.proxy.list_changes import ListChanges
from policy.proxy.offered_lists import OfferedBehind, OfferedLists
from policy.proxy.parked_calls import LONGEST, ParkedCalls
from policy.proxy.progress import ProgressOfCall, ProgressToClient
from policy.proxy.relaying import relaying, takes_any_structure
from policy.proxy.results import answer, plain, refusal
from policy.proxy.server_requests import Made, ServerRequests
from policy.proxy.subscriptions import ResourceSubscriptions
from policy.proxy.told_tools import told_tools
from policy.proxy.user_messages import hear_client
from policy.runtime import Threads
from policy.service import GovernedService
from policy.tools import ToolDefinition, ToolHandler, Watch

_LOG = logging.getLogger(__name__)
_LISTING = Threads("lists of tools", most=1)
# Rules name them, and no client calls them by these names.
_REQUESTS = CLIENT_REQUESTS | SERVER_REQUESTS
_INSTRUCTIONS = (
    "A policy decides every call. A refused call returns an error that says why; "
    "trying it again in a different form is refused as well."
)

# Returns the service as the client of the current message sees it. It is called for every message,
# because the configuration that names the caller may change.
ServiceFor: TypeAlias = Callable[[ConnectedClient], GovernedService]
# Returns why what a client tells of its user's messages does not count; None: it counts.
Disregards: TypeAlias = Callable[[ConnectedClient], str | None]
# Waits until the tools are there that the server has at its start.
Ready: TypeAlias = Callable[[], Awaitable[object]]


class _Handlers(Protocol):
    def get(self, name: str) -> ToolHandler | None: ...


class ToolServer(Server[Any]):
    """An MCP server that announces to every client, on any transport, that its list may change.

    `left` is to be called with each client that has ended its session.
    """

    left: Callable[[ConnectedClient], None] | None = None

    def create_initialization_options(
        self,
        notification_options: NotificationOptions | None = None,
        experimental_capabilities: dict[str, dict[str, Any]] | None = None,
        extensions: dict[str, dict[str, Any]] | None = None,
    ) -> InitializationOptions:
        """Return the SDK's options, with list changes announced; its HTTP app passes none."""
        return super().create_initialization_options(
            notification_options
            or NotificationOptions(
                tools_changed=True, resources_changed=True, prompts_changed=True
            ),
            experimental_capabilities,
            extensions,
        )


def tool_server(
    service_for: ServiceFor,
    changes: ListChanges,
    *,
    ready: Ready | None = None,
    key: Callable[[], bytes] | None = None,
    behind: OfferedBehind | None = None,
    disregards: Disregards = lambda client: "no client is trusted to tell what the user wrote",
) -> ToolServer:
    """Return the server that offers the tools of `service_for(client)` to MCP clients.

    Lists and calls wait for `ready`. `key` returns the 32 bytes that seal what clients carry for
    parked calls, when the first is parked; without it, they are made for this process. Resources,
    prompts and completions are those of the servers `behind`, if there are any. What a client tells
    of its user's messages counts unless it `disregards` that client.
    """

    async def list_tools(ctx: Context, params: PaginatedRequestParams | None) -> ListToolsResult:
        service = await service_of(ctx)
        # What rules mean for a tool is computed when it is first listed, which takes a while for
        # many; calls go on meanwhile.
        return ListToolsResult(tools=await _LISTING.run(_listed, service, ctx.protocol_version))

    presence = ClientPresence()
    parked, requests = ParkedCalls(), RequestsToClient()

    async def converse(ctx: Context, params: Any, made: Made, *, watch: Watch | None = None) -> Any:
        wants_progress = progress_token_from_params(ctx.params) is not None
        progress = ProgressToClient(ctx.session) if wants_progress else None
        client = replace(
            client_of(ctx),
            progress=ProgressOfCall(progress) if wants_progress else None,
            requests=requests,
            watch=watch,
        )

        async def call() -> Any:
            if ready is not None:
                await ready()
            service = service_for(client)
            hear_client(service, params, disregarded=disregards(client))
            return await made(service)

        going = (
            parked.begin(ctx, client, call)
            if getattr(params, "request_state", None) is None
            else parked.resume(client, params, progress)
        )
        return await presence.result_of(ctx, going, progress)

    async def call_tool(
        ctx: Context, params: CallToolRequestParams
    ) -> CallToolResult | InputRequiredResult:
        async def call(service: GovernedService) -> CallToolResult:
            name, given = params.name, params.arguments
            return await call_result(service, name, given, behind=behind)

        result: CallToolResult | InputRequiredResult = await converse(ctx, params, call)
        return result

    async def service_of(ctx: Context) -> GovernedService:
        changes.listed(ctx)
        if ready is not None:
            await ready()
        return service_for(client_of(ctx))

    @asynccontextmanager
    async def lifespan(_server: object) -> AsyncIterator[dict[str, Any]]:
        try:
            yield {}
        finally:
            subscriptions.close()
            await parked.close()

    asked = ServerRequests(converse)
    subscriptions = ResourceSubscriptions(
        service_for, ready or _at_once, asked.subscribe, changes.bus
    )
    handlers = (
        {"on_subscriptions_listen": ListenHandler(changes.bus)}
        if behind is None
        else _offering(OfferedLists(behind, service_of), asked, subscriptions)
    )
    server = ToolServer(
        "placet",
        lifespan=lifespan,
        version=_version(),
        instructions=_INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        get_tool_input_schema=_no_headers,
        **handlers,
    )
    server.left = subscriptions.left
    # A state that a client sends back is one that it was given, for this call and not for long.
    codec = SealedWhenNeeded(key or new_key)
    security = RequestStateSecurity(codec=codec, ttl=LONGEST, bind_principal=_principal)
    server.middleware.append(RequestStateBoundary(security, default_audience="placet"))
    server.middleware.append(relaying)
    return server


def _offering(
    lists: OfferedLists, asked: ServerRequests, subscriptions: ResourceSubscriptions
) -> dict[str, Any]:
    """Return the SDK's arguments that have requests for more than tools answered."""
    return {
        "on_list_resources": lists.resources,
        "on_list_resource_templates": lists.templates,
        "on_list_prompts": lists.prompts,
        "on_read_resource": asked.read,
        "on_get_prompt": asked.prompt,
        "on_completion": asked.complete,
        "on_subscribe_resource": subscriptions.subscribe,
        "on_unsubscribe_resource": subscriptions.unsubscribe,
        "on_subscriptions_listen": subscriptions.listen,
    }


async def _at_once() -> None:
    return None


def _no_headers(_name: str) -> None:
    """Return None: no argument is a header as well, since listed schemas do not say so.

    The SDK asks this for each call over HTTP. Without it, it would list all tools to find out.
    """
    return


def _principal(ctx: Context) -> str:
    return repr(client_of(ctx).owner)


async def call_result(
    service: GovernedService, name: str, arguments: Any, *, behind: OfferedBehind | None = None
) -> CallToolResult:
    """Return the result of one call, however it ends; raise only if it is cancelled."""
    offered = behind is not None
    with record_of_call() as ended:
        try:
            output = await service.execute(name, {} if arguments is None else arguments)
            return answer(output, ended.record, offered=offered)
        except NotFound as error:
            why = None if behind is None else behind.missing(name)
            said = error if why is None else NotFound(name, f"{error.message}: {why}")
            return refusal(said, ended.record)
        except ToolError as error:
            return refusal(error, ended.record)
        except Exception:  # noqa: BLE001 - an error in Placet must not end the session
            _LOG.exception("a call of %s failed inside Placet", plain(name)[:120])
            unknown = "the call failed inside Placet; its effect is unknown"
            return refusal(ToolError(name, unknown), ended.record)


def _listed(service: GovernedService, version: str) -> list[Tool]:
    """Return the tools of a caller as MCP clients of a revision of the protocol see them."""
    tools = [tool for tool in service.list() if tool.name not in _REQUESTS]
    return told_tools([_shown(tool, service.registry, version) for tool in tools], version)


def _shown(tool: ToolDefinition, tools: _Handlers, version: str) -> Tool:
    handler = tools.get(tool.name)
    spec = None if handler is None else handler.spec
    usage = f" Usage: {tool.usage_rule}" if tool.usage_rule else ""
    note = " A call may wait for an approval." if tool.may_ask else ""
    return Tool(
        name=tool.name,
        description=f"{tool.description}{usage}{note}",
        input_schema=_input_schema(tool, spec),
        output_schema=_output_schema(tool, spec, version),
        annotations=ToolAnnotations(
            read_only_hint=None if spec is None else spec.read_only,
            destructive_hint=None if spec is None else spec.destructive,
        ),
        _meta={"placet": {"may_ask": True}} if tool.may_ask else None,
    )


def _input_schema(tool: ToolDefinition, spec: ToolSpec | None) -> dict[str, Any]:
    """Return the schema of the input that a client sends: it may omit optional fields.

    For a strict tool it is the plain form of the schema that validates calls, restricted to the
    operations that this caller can see.
    """
    shown = tool.parameters
    if tool.strict and spec is not None:
        shown, seen = schema_strictify(spec.schema), operations_in(tool.parameters)
        tag = operations_in(shown)
        if seen is not None and tag is not None and seen != tag:
            shown = FewerOperations.of(spec, tag, seen.values).schema(shown)
    return {"type": "object", **thaw(shown)}


def _output_schema(
    tool: ToolDefinition, spec: ToolSpec | None, version: str
) -> dict[str, Any] | None:
    """Return the schema of the structured content; None if clients get no such content."""
    if tool.output is None:
        return None
    is_object = tool.output.get("type") == "object"
    is_relayed = spec is not None and spec.origin.kind == "mcp"
    if not (is_object or (is_relayed and takes_any_structure(version))):
        return None
    found: dict[str, Any] = thaw(tool.output)
    return found


def _version() -> str:
    try:
        return version("placet")
    except PackageNotFoundError:
        return ""
