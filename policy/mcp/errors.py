"""What can go wrong with a server, by what it means for a call."""

from __future__ import annotations


class McpFailure(Exception):
    """A server could not do what it was asked; the message says why."""


class NotSent(McpFailure):
    """The server was not reached: nothing has run."""


class ProtocolError(McpFailure):
    """The server answered with an error of the protocol."""


class Redefined(McpFailure):
    """The session has another definition of the tool than the one that was judged: not called."""


class Uncertain(McpFailure):
    """The connection ended before the answer came: the call may have run."""
