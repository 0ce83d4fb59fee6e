"""The front door: load a policy, decide calls, keep it in force while it changes, govern tools.

Importing this is cheap: each name is imported when it is first asked for.
"""

from __future__ import annotations

from policy.version import VERSION

__version__ = VERSION

# The name type checkers know; to import it costs a hook call a tenth of its time.
TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import Any

    from policy.catalog import Catalog, Origin, ToolSpec, builtin_catalog
    from policy.config_edit import Configured, configure
    from policy.decision import Decision, GenerationId
    from policy.diagnostics import Diagnostic
    from policy.generation import Generation, Settings, load
    from policy.model import (
        Caller,
        ConfigurationRefused,
        Execution,
        Facts,
        GuestScope,
        NotFound,
        PastCall,
        PermissionDenied,
        PolicyInvalid,
        Reason,
        Resolvers,
        Timeout,
        ToolCall,
        ToolError,
        Transport,
        ValidationFailed,
        Verdict,
    )
    from policy.service import ToolFilter, build_tool_service
    from policy.store import PolicyStore, Reloaded, Status
    from policy.tools import ToolOutput

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
    "Caller": "policy.model",
    "GuestScope": "policy.model",
    "ToolCall": "policy.model",
    "ConfigurationRefused": "policy.model",
    "Execution": "policy.model",
    "NotFound": "policy.model",
    "PermissionDenied": "policy.model",
    "PolicyInvalid": "policy.model",
    "Timeout": "policy.model",
    "ToolError": "policy.model",
    "Transport": "policy.model",
    "ValidationFailed": "policy.model",
    "Facts": "policy.model",
    "PastCall": "policy.model",
    "Resolvers": "policy.model",
    "Reason": "policy.model",
    "Verdict": "policy.model",
    "Catalog": "policy.catalog",
    "Origin": "policy.catalog",
    "ToolSpec": "policy.catalog",
    "builtin_catalog": "policy.catalog",
    "Decision": "policy.decision",
    "GenerationId": "policy.decision",
    "Diagnostic": "policy.diagnostics",
    "Configured": "policy.config_edit",
    "Generation": "policy.generation",
    "PolicyStore": "policy.store",
    "Reloaded": "policy.store",
    "Settings": "policy.generation",
    "Status": "policy.store",
    "configure": "policy.config_edit",
    "load": "policy.generation",
    "ToolFilter": "policy.service",
    "ToolOutput": "policy.tools",
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
