"""The MCP session of an HTTP request. Only the revisions with a handshake have any.

The SDK does not look at the header of a request that stands for itself, so its sender could name
any session there: one that it chooses, or that of another client.
"""

from __future__ import annotations

from mcp.types.version import MODERN_PROTOCOL_VERSIONS
from starlette.requests import Request

from policy.proxy.context import Context

_HEADER = "mcp-session-id"


def session_id_of(ctx: Context) -> str | None:
    """Return the id of the session in which a message came over HTTP; None if in none."""
    if ctx.request is None or ctx.protocol_version in MODERN_PROTOCOL_VERSIONS:
        return None
    return named_session(ctx.request)


def named_session(request: Request) -> str | None:
    """Return the session that a request names, of which the SDK has to know."""
    found: str | None = request.headers.get(_HEADER)
    return found
