"""What a program inside of a sandbox wants to connect to, as a tool that rules can name.

Nobody calls it: a service does, for each connection of a program that a running call has started.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from policy.catalog.arguments import Arguments, tool_of
from policy.catalog.markers import Connects
from policy.catalog.tool import ToolSpec

SANDBOX_CONNECT = "sandbox_connect"


class SandboxConnect(Arguments):
    """Connect to a host from inside of a sandbox."""

    url: Annotated[str, Connects(open_path=True), Field(min_length=1, max_length=1_000)]
    """The host and port, as `https://HOST:PORT`, or with `http` if nothing is encrypted."""


def sandbox_requests() -> tuple[ToolSpec, ...]:
    """Return its definition. What is sent over a connection no argument shows."""
    return (tool_of(SandboxConnect, category="sandbox", read_only=False, destructive=False),)
