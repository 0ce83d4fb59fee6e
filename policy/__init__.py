"""The front door: load a policy, decide calls, keep it in force while it changes, govern tools.

Importing this is cheap; what reads files or compiles is imported when it is first asked for.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from policy.call import Caller, GuestScope, ToolCall
from policy.errors import (
    ConfigurationRefused,
    Execution,
    NotFound,
    PermissionDenied,
    PolicyInvalid,
    Timeout,
    ToolError,
    Transport,
    ValidationFailed,
)
from policy.facts import Facts, PastCall, Resolvers
from policy.reason import Reason
from policy.verdict import Verdict

if TYPE_CHECKING:
    from policy.catalog import Catalog, Origin, ToolSpec, builtin_catalog
    from policy.decision import Decision, GenerationId
    from policy.diagnostics import Diagnostic
    from policy.reload import (
        Configured,
        Generation,
        PolicyStore,
        Reloaded,
        Settings,
        Status,
        configure,
        load,
    )
    from policy.service import ToolFilter, ToolOutput, build_tool_service

# Where each name that is not imported at once comes from.
_LATER = {
    "Catalog": "policy.catalog",
    "Configured": "policy.reload",
    "Decision": "policy.decision",
    "Diagnostic": "policy.diagnostics",
    "Generation": "policy.reload",
    "GenerationId": "policy.decision",
    "Origin": "policy.catalog",
    "PolicyStore": "policy.reload",
    "Reloaded": "policy.reload",
    "Settings": "policy.reload",
    "Status": "policy.reload",
    "ToolFilter": "policy.service",
    "ToolOutput": "policy.service",
    "ToolSpec": "policy.catalog",
    "build_tool_service": "policy.service",
    "builtin_catalog": "policy.catalog",
    "configure": "policy.reload",
    "load": "policy.reload",
}

__all__ = [
    "Caller",
    "Catalog",
    "ConfigurationRefused",
    "Configured",
    "Decision",
    "Diagnostic",
    "Execution",
    "Facts",
    "Generation",
    "GenerationId",
    "GuestScope",
    "NotFound",
    "Origin",
    "PastCall",
    "PermissionDenied",
    "PolicyInvalid",
    "PolicyStore",
    "Reason",
    "Reloaded",
    "Resolvers",
    "Settings",
    "Status",
    "Timeout",
    "ToolCall",
    "ToolError",
    "ToolFilter",
    "ToolOutput",
    "ToolSpec",
    "Transport",
    "ValidationFailed",
    "Verdict",
    "build_tool_service",
    "builtin_catalog",
    "configure",
    "load",
]


def __getattr__(name: str) -> Any:
    """Import one of the later names and keep it."""
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(_LATER[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
