"""What a plugin contributes: `CapabilityDeclaration`, one tagged union of twelve kinds.

Declaring something grants nothing. As JSON each is one object: `{"type": "tool", "name": …}`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, TypeAlias, get_args

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    StringConstraints,
    TypeAdapter,
    ValidationError,
)

from policy.diagnostics import visible

Name = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.\-]{0,63}$")]
# A tool's full name is `ext__plugin__name`, in which a dot would be repaired.
ToolName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9_\-]{0,63}$")]
Line = Annotated[str, StringConstraints(min_length=1, max_length=1_000)]
Text = Annotated[str, StringConstraints(max_length=4_000)]
# JSON has lists; only their items are checked strictly.
Names = Annotated[tuple[Name, ...], Field(strict=False)]
Lines = Annotated[tuple[Line, ...], Field(strict=False)]
Method = Literal["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]


def _without_dots(path: str) -> str:
    """Refuse a path with `.` or `..`, which would lead elsewhere."""
    if {".", ".."}.intersection(path.split("/")):
        raise ValueError("no part of it may be `.` or `..`")
    return path


HttpPath = Annotated[
    str,
    StringConstraints(pattern=r"^(/[A-Za-z0-9_.~\-]+|/\{[a-z_][a-z0-9_]*\})+$", max_length=500),
    AfterValidator(_without_dots),
]
# A file of the plugin, from its own folder.
FilePath = Annotated[Line, StringConstraints(pattern=r"^[^/\\]"), AfterValidator(_without_dots)]


class _Declaration(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)

    type: str
    name: Name
    description: Text = ""


class ToolCapability(_Declaration):
    """A tool that agents may call.

    Where the host application registers the plugin, it passes the handler. The schemas are for
    plugins that Placet runs: JSON Schemas of the tool's input and of what it returns.
    """

    type: Literal["tool"] = "tool"
    name: ToolName
    input_schema: dict[str, Any] | None = None
    output_schema: dict[str, Any] | None = None


class HookCapability(_Declaration):
    """A callback on an event of the host application; lower priorities come first."""

    type: Literal["hook"] = "hook"
    event: Name
    priority: int = 0


class ChannelCapability(_Declaration):
    """A way for messages in and out, such as a chat network."""

    type: Literal["channel"] = "channel"
    direction: Literal["in", "out", "both"] = "both"


class ProviderCapability(_Declaration):
    """A provider of models."""

    type: Literal["provider"] = "provider"
    models: Lines = ()


class GatewayMethodCapability(_Declaration):
    """A method of the host application's gateway."""

    type: Literal["gateway_method"] = "gateway_method"
    input_schema: dict[str, Any] = {}


class HttpRouteCapability(_Declaration):
    """A route of the host application's HTTP server."""

    type: Literal["http_route"] = "http_route"
    path: HttpPath
    methods: Annotated[tuple[Method, ...], Field(strict=False, min_length=1)] = ("GET",)


class CliCapability(_Declaration):
    """A subcommand of the host application's command line."""

    type: Literal["cli"] = "cli"
    usage: Text = ""


class ServiceCapability(_Declaration):
    """A service that runs beside the host application, started and stopped with it."""

    type: Literal["service"] = "service"
    autostart: bool = False


class CommandCapability(_Declaration):
    """A command that a user types in a conversation, such as `/weather`."""

    type: Literal["command"] = "command"
    aliases: Names = ()


class SkillCapability(_Declaration):
    """Instructions for models, in a file of the plugin."""

    type: Literal["skill"] = "skill"
    path: FilePath


class AgentCapability(_Declaration):
    """An agent, with the tools it would like to have."""

    type: Literal["agent"] = "agent"
    model: Line | None = None
    tools: Names = ()


class McpServerCapability(_Declaration):
    """An MCP server: started as a process, or reached at an address."""

    type: Literal["mcp_server"] = "mcp_server"
    command: Lines = ()
    url: Line | None = None


CapabilityDeclaration: TypeAlias = (
    ToolCapability
    | HookCapability
    | ChannelCapability
    | ProviderCapability
    | GatewayMethodCapability
    | HttpRouteCapability
    | CliCapability
    | ServiceCapability
    | CommandCapability
    | SkillCapability
    | AgentCapability
    | McpServerCapability
)
VARIANTS: tuple[type[CapabilityDeclaration], ...] = get_args(CapabilityDeclaration)
Kind: TypeAlias = Literal[
    "tool",
    "hook",
    "channel",
    "provider",
    "gateway_method",
    "http_route",
    "cli",
    "service",
    "command",
    "skill",
    "agent",
    "mcp_server",
]
KINDS: tuple[Kind, ...] = get_args(Kind)
Tagged = Annotated[CapabilityDeclaration, Field(discriminator="type")]
_READER: TypeAdapter[CapabilityDeclaration] = TypeAdapter(Tagged)


class PluginRefused(Exception):
    """A plugin that cannot be used; `problems` are the reasons, one sentence each."""

    def __init__(self, *problems: str) -> None:
        self.problems = problems
        super().__init__("; ".join(problems))


def capability_of(value: Mapping[str, Any]) -> CapabilityDeclaration:
    """Return a declaration as read from JSON or TOML; raise PluginRefused if it is not valid."""
    try:
        return _READER.validate_python(dict(value))
    except ValidationError as error:
        raise PluginRefused(*problems_of(error)) from None


def key_of(declaration: CapabilityDeclaration) -> str:
    """Return the key of a capability within its plugin: `tool:my_tool`."""
    return f"{declaration.type}:{declaration.name}"


def problems_of(error: ValidationError) -> tuple[str, ...]:
    """Return the problems of a declaration, one sentence each, without quoting its values."""
    found = error.errors(include_input=False, include_url=False, include_context=False)
    return tuple(f"{_place(detail['loc'])}{_said(detail['msg'])}" for detail in found[:5])


def _place(path: tuple[int | str, ...]) -> str:
    return f"`{visible('.'.join(map(str, path)), 120)}`: " if path else ""


def _said(message: str) -> str:
    said = message.removeprefix("Value error, ")
    return visible(said[:1].lower() + said[1:], 200)
