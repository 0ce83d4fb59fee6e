"""Keeps tools that write in a workspace from running where it is full."""

from __future__ import annotations

from typing import Any

from policy.environment import WorkspaceQuota
from policy.runtime import Threads
from policy.tools.handler import ExecutionContext
from policy.tools.handlers.native import Run

_COUNTING = Threads("counting workspaces", most=8, patience=10.0, fair=True)


def within_quota(run: Run, quota: WorkspaceQuota) -> Run:
    """Return a tool that raises WorkspaceFull in place of running in a full workspace."""

    async def run_if_room(input: dict[str, Any], ctx: ExecutionContext) -> Any:
        if ctx.workspace is not None:
            await _COUNTING.run(quota.require_room, ctx.workspace)
        return await run(input, ctx)

    return run_if_room
