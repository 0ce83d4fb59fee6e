"""Relays results of other servers with all of their keys, those that the SDK does not know too."""

from __future__ import annotations

from contextvars import ContextVar
from typing import Any

from mcp.server.context import CallNext, HandlerResult, ServerRequestContext

from policy.model import thaw
from policy.tools import RelayedResult


class _Relay:
    """The result of another server that the current request is answered with, if any."""

    def __init__(self) -> None:
        self.result: RelayedResult | None = None


_CURRENT: ContextVar[_Relay | None] = ContextVar("placet_relayed_result", default=None)


def relay(result: RelayedResult) -> None:
    """Answer the current request with the content and further keys of another server's result."""
    current = _CURRENT.get()
    if current is not None:
        current.result = result


async def relaying(ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
    """Put what the SDK has left out of a relayed result back into the answer.

    The SDK checks the answer against the revision that the client speaks, and then keeps the keys
    of that revision alone.
    """
    if ctx.method != "tools/call":
        return await call_next(ctx)
    current = _Relay()
    token = _CURRENT.set(current)
    try:
        answer = await call_next(ctx)
    finally:
        _CURRENT.reset(token)
    result = current.result
    if result is None or not isinstance(answer, dict):
        return answer
    return {**thaw(result.more), **answer, "content": thaw(result.content)}
