"""Relays results of other servers with all of their keys, those that the SDK does not know too."""

from __future__ import annotations

from collections.abc import Mapping
from contextvars import ContextVar
from typing import Any

from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.types.version import MODERN_PROTOCOL_VERSIONS

from policy.model import EMPTY, thaw
from policy.tools import RelayedResult

_RELAYED = frozenset(
    {
        "tools/call",
        "resources/list",
        "resources/templates/list",
        "resources/read",
        "prompts/list",
        "prompts/get",
        "completion/complete",
    }
)


class Relay:
    """The result of another server that the current request is answered with, if any.

    `keys` are those of an answer that is no result of a tool.
    """

    def __init__(self) -> None:
        self.result: RelayedResult | None = None
        self.keys: Mapping[str, Any] = EMPTY


_CURRENT: ContextVar[Relay | None] = ContextVar("placet_relayed_result", default=None)


def relay(result: RelayedResult) -> None:
    """Answer the current request with the content and further keys of another server's result."""
    current = _CURRENT.get()
    if current is not None:
        current.result = result


def relay_keys(keys: Mapping[str, Any]) -> None:
    """Answer the current request with exactly these values of these keys, beside others."""
    current = _CURRENT.get()
    if current is not None:
        current.keys = keys


def result_of_request() -> Relay | None:
    """Return where the result for the current request is kept."""
    return _CURRENT.get()


def carried(other: Relay | None) -> None:
    """Answer the current request with what an earlier request of the same call was to get."""
    current = _CURRENT.get()
    if current is not None and other is not None:
        current.result, current.keys = other.result, other.keys


async def relaying(ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
    """Put what the SDK has left out of a relayed result back into the answer.

    The SDK checks the answer against the revision that the client speaks, and then keeps the keys
    of that revision alone.
    """
    if ctx.method not in _RELAYED:
        return await call_next(ctx)
    current = Relay()
    token = _CURRENT.set(current)
    try:
        answer = await call_next(ctx)
    finally:
        _CURRENT.reset(token)
    result = current.result
    if not isinstance(answer, dict):
        return answer
    if result is None:
        return {**answer, **thaw(current.keys)}
    relayed = {**thaw(result.more), **answer, "content": thaw(result.content)}
    structured = thaw(result.structured)
    is_object = isinstance(structured, dict)
    if is_object or (structured is not None and takes_any_structure(ctx.protocol_version)):
        relayed["structuredContent"] = structured
    return relayed


def takes_any_structure(version: str) -> bool:
    """Return whether a revision lets structured content be something else than an object."""
    return version in MODERN_PROTOCOL_VERSIONS
