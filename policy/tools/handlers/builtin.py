"""The handlers of all built-in tools."""

from __future__ import annotations

from policy.catalog import (
    CODE_EXEC,
    PYTHON_EXEC,
    builtin_catalog,
    code_exec_spec,
    python_exec_spec,
)
from policy.environment import WorkspaceQuota
from policy.tools.handlers.code import code_exec
from policy.tools.handlers.files import file_tools
from policy.tools.handlers.limits import Limits
from policy.tools.handlers.meta import get_tool_schema, list_tools
from policy.tools.handlers.native import NativeHandler, Run
from policy.tools.handlers.python import python_exec
from policy.tools.handlers.quota import within_quota
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
    python = allowed.python
    if python.enabled:
        runs[PYTHON_EXEC] = python_exec(allowed)
        specs.append(python_exec_spec(most=python.requirements, packages=python.packages))
    quota = _quota(allowed)
    if quota is not None:
        runs |= {name: within_quota(runs[name], quota) for name in _FILLING if name in runs}
    return tuple(NativeHandler(spec, runs[spec.name]) for spec in specs)


# The tools that leave more in a workspace. Others read, or make room.
_FILLING = ("file_write", "file_mkdir", "bash_exec", CODE_EXEC, PYTHON_EXEC)
# Where only a size is set: each file takes room of its own that its size does not show.
_MOST_FILES, _MOST_BYTES = 100_000, 10**18


def _quota(limits: Limits) -> WorkspaceQuota | None:
    if limits.workspace_bytes is None and limits.workspace_files is None:
        return None
    return WorkspaceQuota(
        bytes=limits.workspace_bytes or _MOST_BYTES, files=limits.workspace_files or _MOST_FILES
    )
