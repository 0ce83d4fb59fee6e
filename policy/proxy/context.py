"""`Context`: what the SDK says of the message that is being answered."""

from __future__ import annotations

from typing import Any, TypeAlias

from mcp.server.context import ServerRequestContext

Context: TypeAlias = ServerRequestContext[Any, Any]
