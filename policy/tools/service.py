"""`ToolService`: the one interface in front of every tool.

Everything that uses tools (agent loops, MCP servers, extensions) uses a `ToolService` and nothing
behind it. `execute` waits for people and tools, so it is a coroutine; `list` and `describe` do not
wait, so they are plain functions.
"""

from __future__ import annotations

import builtins
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, TypeAlias

from policy.catalog import VERSION_MARK, ToolSpec
from policy.decision import GenerationId
from policy.model import EMPTY, thaw
from policy.sandbox import SandboxDenial

ToolSource: TypeAlias = Literal["builtin", "mcp", "extension"]
_SOURCES: dict[str, ToolSource] = {"host": "builtin", "mcp": "mcp", "ext": "extension"}


def source_of(spec: ToolSpec) -> ToolSource:
    """Return which type of handler runs a tool."""
    return _SOURCES[spec.origin.kind]


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolOutputMetadata:
    """How an output was produced. `latency_ms` runs from the call's arrival to its end.

    `generation` is the policy that permitted the call, `rewritten` whether a context rule changed
    the input, `repairs` what was changed in the name and input before the decision.
    """

    latency_ms: int = 0
    tokens_used: int | None = None
    source: ToolSource = "builtin"
    call_id: str = ""
    tool: str = ""
    generation: GenerationId | None = None
    rewritten: bool = False
    repairs: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class FollowUp:
    """A further call of the same tool, which a tool returns instead of an output.

    `because` is the reason, for the caller of the first call in case the next one is refused.
    """

    input: Mapping[str, Any]
    because: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RelayedResult:
    """The result of a call at an MCP server: its content, its `_meta`, and `more` keys.

    All of it is JSON as the server sent it, keys that no revision of the protocol knows included.
    `structured` is the structured content, None if there is none.
    """

    content: tuple[Mapping[str, Any], ...] = ()
    structured: Any = None
    meta: Mapping[str, Any] = field(default_factory=lambda: EMPTY)
    more: Mapping[str, Any] = field(default_factory=lambda: EMPTY)


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolOutput:
    """What a tool returned, as a JSON value, and how it was produced.

    A tool sets `then` if only another call can answer this one: that call is judged, recorded and
    limited like any other, and its output is what the caller gets. With `is_error` the tool reports
    that it failed; with `denial`, its sandbox seems to be why. `relayed` is the result of a call at
    an MCP server, as the server sent it.
    """

    value: Any
    metadata: ToolOutputMetadata = field(default_factory=ToolOutputMetadata)
    then: FollowUp | None = None
    is_error: bool = False
    relayed: RelayedResult | None = None
    denial: SandboxDenial | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolDefinition:
    """A tool as models and people see it.

    `parameters` is its JSON Schema, strict if `strict` is set; `output` that of its result, if
    known. `llm_context` contains examples of use, `usage_rule` a line for the prompt of models
    that have the tool. `may_ask` means that a call may wait for an approval.

    All of it is plain JSON values, which `json`, `orjson` and pydantic write. Each definition has
    separate schemas: a caller that changes them changes no other.
    """

    name: str
    description: str = ""
    parameters: Mapping[str, Any] = field(default_factory=dict)
    category: str | None = None
    requires_confirmation: bool = False
    strict: bool = False
    llm_context: str | None = None
    output: Mapping[str, Any] | None = None
    usage_rule: str | None = None
    version: int | None = None
    may_ask: bool = False
    source: ToolSource = "builtin"

    def __post_init__(self) -> None:
        for name in ("parameters", "output"):
            object.__setattr__(self, name, thaw(getattr(self, name)))

    @property
    def full_name(self) -> str:
        """The name with the version, whatever `name` it is shown by."""
        mark = "" if self.version is None else f"{VERSION_MARK}{self.version}"
        return self.name if self.name.endswith(mark) else f"{self.name}{mark}"


class ToolService(Protocol):
    """Runs tools. Each middleware is one, around the next."""

    async def execute(self, name: str, input: Any) -> ToolOutput:
        """Run a tool; raise ToolError if the call does not end in an output."""
        ...

    def list(self) -> builtins.list[ToolDefinition]:
        """Return the tools, by name."""
        ...

    def describe(self, name: str) -> ToolDefinition | None:
        """Return one tool, None if there is none of this name."""
        ...


class PassThrough:
    """The half of a middleware that is always the same: `list` and `describe` ask the inner one."""

    def __init__(self, inner: ToolService) -> None:
        self.inner = inner

    def list(self) -> builtins.list[ToolDefinition]:
        """Return the inner service's tools."""
        return self.inner.list()

    def describe(self, name: str) -> ToolDefinition | None:
        """Return the inner service's tool of this name."""
        return self.inner.describe(name)
