"""A server without a handshake: the SDK's own, over HTTP, in this process."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import uvicorn
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.subscriptions import (
    InMemorySubscriptionBus,
    ListenHandler,
    PromptsListChanged,
    ResourcesListChanged,
    ResourceUpdated,
    ToolsListChanged,
)
from mcp.types import (
    CallToolRequestParams,
    CallToolResult,
    CompleteRequestParams,
    CompleteResult,
    GetPromptRequestParams,
    GetPromptResult,
    InputRequiredResult,
    ListPromptsResult,
    ListResourcesResult,
    ListResourceTemplatesResult,
    ListToolsResult,
    PaginatedRequestParams,
    ReadResourceRequestParams,
    ReadResourceResult,
    TextContent,
    Tool,
)

from tests.mcp_servers.offering import asked_by
from tests.mcp_servers.offering import told as offered_answer
from tests.mcp_servers.scripted import tool

Context = ServerRequestContext[Any, Any]


class Modern:
    """Serves the tools of the scripted server, as far as tests of this revision need them."""

    def __init__(self) -> None:
        self.names = ["echo", "note", "steps", "waits", "fails", "grow"]
        self.calls: list[tuple[str, Any]] = []
        self.capabilities: list[Any] = []
        self.cancelled: list[str] = []
        self.bus = InMemorySubscriptionBus()
        self.server: Server[Any] = Server(
            "modern",
            version="1.2",
            on_list_tools=self.list,
            on_call_tool=self.call,
            on_list_resources=self.resources,
            on_list_resource_templates=self.templates,
            on_read_resource=self.read,
            on_list_prompts=self.prompts,
            on_get_prompt=self.prompt,
            on_completion=self.complete,
            on_subscriptions_listen=ListenHandler(self.bus),
        )

    async def list(self, ctx: Context, params: PaginatedRequestParams | None) -> ListToolsResult:
        return ListToolsResult(tools=[Tool.model_validate(tool(name)) for name in self.names])

    async def call(
        self, ctx: Context, params: CallToolRequestParams
    ) -> CallToolResult | InputRequiredResult:
        given = params.arguments or {}
        self.calls.append((params.name, given))
        self.capabilities.append(ctx.session.client_capabilities)
        match params.name:
            case "asks":
                return asked(json.loads(given["text"]), params)
            case "steps":
                for step in (1, 2, 3):
                    await ctx.session.report_progress(step, 3, f"step {step}")
            case "waits":
                try:
                    await asyncio.sleep(3600)
                except asyncio.CancelledError:
                    self.cancelled.append(params.name)
                    raise
            case "note":
                for uri in json.loads(given["text"]):
                    await self.bus.publish(ResourceUpdated(uri=uri))
            case "grow":
                await self.bus.publish(ResourcesListChanged())
                await self.bus.publish(PromptsListChanged())
            case "fails":
                return CallToolResult(content=[TextContent(text="no such file")], is_error=True)
            case _:
                pass
        said = TextContent.model_validate({"type": "text", "text": given.get("text", "")})
        meta = {"example.com/vendor": {"kept": True}}
        return CallToolResult(content=[said], _meta=meta)

    async def resources(
        self, ctx: Context, params: PaginatedRequestParams | None
    ) -> ListResourcesResult:
        uris = ("file:///srv/project/a.txt", "file:///etc/passwd", "demo://note")
        entries = [{"uri": uri, "name": "a", "title": "A title"} for uri in uris]
        return ListResourcesResult.model_validate({"resources": entries})

    async def templates(
        self, ctx: Context, params: PaginatedRequestParams | None
    ) -> ListResourceTemplatesResult:
        template = {"uriTemplate": "demo://{name}", "name": "notes"}
        return ListResourceTemplatesResult.model_validate({"resourceTemplates": [template]})

    async def read(
        self, ctx: Context, params: ReadResourceRequestParams
    ) -> ReadResourceResult | InputRequiredResult:
        self.calls.append((params.uri, {}))
        question = asked_by({"uri": params.uri})
        if question is not None and params.input_responses is None:
            return input_required(json.loads(question))
        found = answers_in(params) if question is not None else "contents"
        return ReadResourceResult.model_validate(offered_answer({"uri": params.uri}, found))

    async def prompts(
        self, ctx: Context, params: PaginatedRequestParams | None
    ) -> ListPromptsResult:
        names = [{"name": "review", "title": "Review"}, {"name": "plain"}]
        return ListPromptsResult.model_validate({"prompts": names})

    async def prompt(
        self, ctx: Context, params: GetPromptRequestParams
    ) -> GetPromptResult | InputRequiredResult:
        given = dict(params.arguments or {})
        self.calls.append((params.name, given))
        question = asked_by({"arguments": given})
        if question is not None and params.input_responses is None:
            return input_required(json.loads(question))
        found = answers_in(params) if question is not None else given
        return GetPromptResult.model_validate(offered_answer({}, found))

    async def complete(self, ctx: Context, params: CompleteRequestParams) -> CompleteResult:
        values = [f"{params.argument.value}-completed"]
        return CompleteResult.model_validate({"completion": {"values": values}})

    async def grow(self) -> None:
        """Add a tool, and announce it."""
        self.names.append("grown")
        await self.bus.publish(ToolsListChanged())


def input_required(request: dict[str, Any]) -> InputRequiredResult:
    return InputRequiredResult.model_validate(
        {"inputRequests": {"it": request}, "requestState": "asked"}
    )


def answers_in(params: Any) -> dict[str, Any]:
    assert params.request_state == "asked"
    said = params.input_responses["it"].model_dump(by_alias=True, mode="json", exclude_none=True)
    return {"result": said}


def asked(
    request: dict[str, Any], params: CallToolRequestParams
) -> CallToolResult | InputRequiredResult:
    """Ask for something the first time, and repeat the answer the second time."""
    if params.request_state is None:
        return input_required(request)
    return CallToolResult(content=[TextContent(text=json.dumps(answers_in(params)))])


class _Quiet(uvicorn.Server):
    def install_signal_handlers(self) -> None:
        """Leave signals to the tests."""


@asynccontextmanager
async def modern_server(modern: Modern) -> AsyncIterator[str]:
    """Serve, and give the address."""
    bound = socket.create_server(("127.0.0.1", 0))
    app = modern.server.streamable_http_app()
    config = uvicorn.Config(app, log_config=None, log_level="critical", timeout_graceful_shutdown=1)
    server = _Quiet(config)
    serving = asyncio.create_task(server.serve(sockets=[bound]))
    try:
        yield f"http://127.0.0.1:{bound.getsockname()[1]}/mcp"
    finally:
        server.should_exit = True
        await serving
        bound.close()
