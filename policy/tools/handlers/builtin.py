"""The handlers of all built-in tools."""

from __future__ import annotations

from policy.catalog import CODE_EXEC, builtin_catalog, code_exec_spec
from policy.tools.handlers.code import code_exec
from policy.tools.handlers.files import file_tools
from policy.tools.handlers.limits import Limits
from policy.tools.handlers.meta import get_tool_schema, list_tools
from policy.tools.handlers.native import NativeHandler, Run
from policy.tools.handlers.shell import bash_exec
from policy.tools.handlers.web import web_fetch


def builtin_handlers(limits: Limits | None = None) -> tuple[NativeHandler, ...]:
    """Return a handler for every built-in tool that needs no MCP server."""
    allowed = limits or Limits()
    runs: dict[str, Run] = {
        **file_tools(allowed),
        "bash_exec": bash_exec(allowed),
        "web_fetch": web_fetch(allowed),
        "list_tools": list_tools,
        "get_tool_schema": get_tool_schema,
    }
    specs = [spec for spec in builtin_catalog().specs if spec.name in runs]
    if allowed.code_languages:
        runs[CODE_EXEC] = code_exec(allowed)
        specs.append(code_exec_spec(allowed.code_languages))
    return tuple(NativeHandler(spec, runs[spec.name]) for spec in specs)
