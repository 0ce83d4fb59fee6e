"""The front door: load a policy, decide calls, keep it in force while it changes, govern tools.

Importing this is cheap: each name is imported when it is first asked for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from policy.exports import exported

if TYPE_CHECKING:
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
else:
    __getattr__ = exported(
        __name__,
        {
            "call": "Caller GuestScope ToolCall",
            "errors": (
                "ConfigurationRefused Execution NotFound PermissionDenied PolicyInvalid Timeout "
                "ToolError Transport ValidationFailed"
            ),
            "facts": "Facts PastCall Resolvers",
            "reason": "Reason",
            "verdict": "Verdict",
            "catalog": "Catalog Origin ToolSpec builtin_catalog",
            "decision": "Decision GenerationId",
            "diagnostics": "Diagnostic",
            "reload": "Configured Generation PolicyStore Reloaded Settings Status configure load",
            "service": "ToolFilter ToolOutput build_tool_service",
        },
    )

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
