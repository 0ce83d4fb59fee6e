"""`ToolHandler`, which runs one tool, and `ExecutionContext`, which it receives."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from policy.catalog import ToolSpec
from policy.decision import Decision
from policy.model import Caller, Facts, SandboxTier
from policy.processes import Launcher, SupervisedLauncher
from policy.tools.client import Client
from policy.tools.running_time import RunningTime
from policy.tools.service import ToolDefinition, ToolService
from policy.tools.usage import Usage


def location_of(handler: ToolHandler) -> str:
    """Return where a tool is defined, for messages: `module:name` of the code that runs it."""
    declared = getattr(handler, "defined_at", None)
    return declared if isinstance(declared, str) and declared else location_of_class(type(handler))


def location_of_class(kind: type[object]) -> str:
    """Return where a class is defined, as `module:name`."""
    return f"{kind.__module__}:{kind.__qualname__}"


_NOBODY = Caller()
_NOWHERE = Facts()
_UNCONFINED = SupervisedLauncher()


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecutionContext:
    """What a running tool receives besides its input.

    `workspace` is the folder it works in, `env` the environment for programs it starts, `facts`
    those of the judgement (its resolvers return the paths and addresses that were judged), and
    `tools` the service for this caller. `usage` counts what the tool reports, and `capabilities`
    are what it was granted. `client` is where the call came from, None if nobody listens there.
    `time` is its time limit, None if it has none. `launcher` starts programs, confined where the
    configuration says so.
    """

    call_id: str = ""
    caller: Caller = _NOBODY
    workspace: str | None = None
    env: Mapping[str, str] = field(default_factory=dict)
    facts: Facts = _NOWHERE
    decision: Decision | None = None
    tools: ToolService | None = None
    usage: Usage = field(default_factory=Usage)
    capabilities: frozenset[str] = frozenset()
    client: Client | None = None
    time: RunningTime | None = None
    launcher: Launcher = _UNCONFINED

    def report_tokens(self, count: int) -> None:
        """Add tokens to the usage of this call; it is recorded even if the call fails."""
        self.usage.add(count)


class ToolHandler(Protocol):
    """Runs one tool: built in, on an MCP server, or in an extension.

    `spec` is its definition for policies, `definition` the one for models. `invoke` gets a plain
    JSON object that it may keep or change, and returns a JSON value or a ToolOutput. It may also
    have `error_text`, False to keep the text of its exceptions from models, and `sandbox`, the
    SandboxTier in which all of its code runs: calls are kept within their confinement, or fail.
    """

    @property
    def spec(self) -> ToolSpec:
        """The tool's definition for policies."""
        ...

    @property
    def definition(self) -> ToolDefinition:
        """The tool's definition for models."""
        ...

    async def invoke(self, input: dict[str, Any], ctx: ExecutionContext) -> Any:
        """Run the tool on a judged input; raise if it failed."""
        ...


def confined_by(handler: ToolHandler) -> SandboxTier | None:
    """Return the sandbox in which a handler says that its code runs; that of its tool alone."""
    found: object = getattr(handler, "sandbox", None)
    if not isinstance(found, SandboxTier):
        return None
    return replace(found, tools=frozenset({handler.spec.name}))


def quotes_errors(handler: ToolHandler) -> bool:
    """Return whether models read the text of a handler's exceptions.

    Only those of the host application's own tools, unless they say otherwise: the text of others
    comes from a server or a plugin.
    """
    return handler.spec.origin.kind == "host" and getattr(handler, "error_text", True) is True
