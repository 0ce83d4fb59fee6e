"""The front door: load a policy, decide calls, keep it in force while it changes, govern tools.

Importing this is cheap: each name is imported when it is first asked for.
"""

from __future__ import annotations

# The name type checkers know; to import it costs a hook call a tenth of its time.
TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import Any

    from policy.call import Caller, GuestScope, ToolCall
    from policy.catalog import Catalog, Origin, ToolSpec, builtin_catalog
    from policy.decision import Decision, GenerationId
    from policy.diagnostics import Diagnostic
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
    from policy.verdict import Verdict

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

_MODULES = {
    "Caller": "policy.call",
    "GuestScope": "policy.call",
    "ToolCall": "policy.call",
    "ConfigurationRefused": "policy.errors",
    "Execution": "policy.errors",
    "NotFound": "policy.errors",
    "PermissionDenied": "policy.errors",
    "PolicyInvalid": "policy.errors",
    "Timeout": "policy.errors",
    "ToolError": "policy.errors",
    "Transport": "policy.errors",
    "ValidationFailed": "policy.errors",
    "Facts": "policy.facts",
    "PastCall": "policy.facts",
    "Resolvers": "policy.facts",
    "Reason": "policy.reason",
    "Verdict": "policy.verdict",
    "Catalog": "policy.catalog",
    "Origin": "policy.catalog",
    "ToolSpec": "policy.catalog",
    "builtin_catalog": "policy.catalog",
    "Decision": "policy.decision",
    "GenerationId": "policy.decision",
    "Diagnostic": "policy.diagnostics",
    "Configured": "policy.reload",
    "Generation": "policy.reload",
    "PolicyStore": "policy.reload",
    "Reloaded": "policy.reload",
    "Settings": "policy.reload",
    "Status": "policy.reload",
    "configure": "policy.reload",
    "load": "policy.reload",
    "ToolFilter": "policy.service",
    "ToolOutput": "policy.service",
    "build_tool_service": "policy.service",
}


def __getattr__(name: str) -> Any:
    """Import a name of the front door when it is first asked for, and keep it."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(_MODULES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
