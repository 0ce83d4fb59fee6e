"""What one confined program may cost the service by its connections."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class ProxyBounds:
    """Limits of one program.

    `connections` are open at a time; others wait. `head` is the size of the header of a request or
    an answer, in bytes. A client has `opening` seconds to say what it wants, and a connection is
    closed after `idle` seconds in which nothing has passed. `hosts` is how often it may connect to
    a host, or be refused: each time is judged and recorded. `transfer` is how many bytes pass in
    total, in both directions. `refusals` is how many refused connections are kept.
    """

    connections: int = 128
    head: int = 32_768
    opening: float = 15.0
    idle: float = 300.0
    hosts: int = 20_000
    transfer: int = 20_000_000_000
    refusals: int = 100


class TransferUsedUp(Exception):
    """The program has transferred as much as it may."""


class Meter:
    """Counts what passes."""

    def __init__(self, most: int) -> None:
        self._left = most

    def count(self, size: int) -> None:
        """Count bytes; raise TransferUsedUp."""
        self._left -= size
        if self._left < 0:
            raise TransferUsedUp
