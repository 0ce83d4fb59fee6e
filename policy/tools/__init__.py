"""Tools: the interface of a tool service, how tools are written, registered and run."""

from policy.tools.authoring.adapter import Authored, call_json, dynamic_of, handler_for, handler_of
from policy.tools.authoring.definition import define
from policy.tools.authoring.function import tool
from policy.tools.authoring.output import as_json
from policy.tools.authoring.shapes import AiTool, ContextTool, DynamicTool, Tool
from policy.tools.authoring.spec import spec_of
from policy.tools.authoring.traits import Traits
from policy.tools.authoring.typed import BuiltinHandler
from policy.tools.client import CannotBeAsked, Client, ClientRequests, ProgressReporter, Watch
from policy.tools.exception_text import without_secrets
from policy.tools.failures import failure
from policy.tools.handler import (
    ExecutionContext,
    ToolHandler,
    confined_by,
    location_of,
    quotes_errors,
)
from policy.tools.handlers.builtin import builtin_handlers
from policy.tools.handlers.limits import Limits
from policy.tools.handlers.native import NativeHandler
from policy.tools.handlers.shell import CALL_VARIABLE
from policy.tools.handlers.web_address import addresses_of
from policy.tools.not_as_listed import NotAsListed
from policy.tools.output_invalid import OutputInvalid
from policy.tools.provider_schemas import PROVIDERS, Provider, provider_schemas
from policy.tools.registry import ToolRegistry, running_tool
from policy.tools.registry_feed import Missed, RegistryFeed, RegistryNews
from policy.tools.registry_snapshot import (
    Registered,
    Registration,
    RegistryChange,
    RegistrySnapshot,
    Replaced,
    ResolvedName,
    Unregistered,
)
from policy.tools.result_parts import NO_WORDS, PROTOCOL_WORDS, ResultPart, parts_of, with_parts
from policy.tools.running_time import RunningTime
from policy.tools.service import (
    FollowUp,
    PassThrough,
    RelayedResult,
    ToolDefinition,
    ToolOutput,
    ToolOutputMetadata,
    ToolService,
    ToolSource,
    source_of,
)
from policy.tools.usage import Usage, tokens

__all__ = [
    "CALL_VARIABLE",
    "NO_WORDS",
    "PROTOCOL_WORDS",
    "PROVIDERS",
    "AiTool",
    "Authored",
    "BuiltinHandler",
    "CannotBeAsked",
    "Client",
    "ClientRequests",
    "ContextTool",
    "DynamicTool",
    "ExecutionContext",
    "FollowUp",
    "Limits",
    "Missed",
    "NativeHandler",
    "NotAsListed",
    "OutputInvalid",
    "PassThrough",
    "ProgressReporter",
    "Provider",
    "Registered",
    "Registration",
    "RegistryChange",
    "RegistryFeed",
    "RegistryNews",
    "RegistrySnapshot",
    "RelayedResult",
    "Replaced",
    "ResolvedName",
    "ResultPart",
    "RunningTime",
    "Tool",
    "ToolDefinition",
    "ToolHandler",
    "ToolOutput",
    "ToolOutputMetadata",
    "ToolRegistry",
    "ToolService",
    "ToolSource",
    "Traits",
    "Unregistered",
    "Usage",
    "Watch",
    "addresses_of",
    "as_json",
    "builtin_handlers",
    "call_json",
    "confined_by",
    "define",
    "dynamic_of",
    "failure",
    "handler_for",
    "handler_of",
    "location_of",
    "parts_of",
    "provider_schemas",
    "quotes_errors",
    "running_tool",
    "source_of",
    "spec_of",
    "tokens",
    "tool",
    "with_parts",
    "without_secrets",
]
