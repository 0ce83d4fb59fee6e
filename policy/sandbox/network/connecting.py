"""What the proxy asks for each host: a connection, or why there is none."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from policy.sandbox.network.target import Target


@dataclass(frozen=True, slots=True, kw_only=True)
class Peer:
    """One end of a connection.

    `is_judged` returns whether the answer by which it was opened still stands: a further request on
    it needs a new one otherwise.
    """

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    is_judged: Callable[[], bool] = lambda: True

    @classmethod
    def of(cls, streams: tuple[asyncio.StreamReader, asyncio.StreamWriter]) -> Peer:
        """Return the end that these streams belong to."""
        return cls(reader=streams[0], writer=streams[1])

    def abort(self) -> None:
        """Close it at once."""
        self.writer.transport.abort()


class NotPermitted(Exception):
    """A program may not connect to a host; the text says why, `rule` which rule says so."""

    def __init__(self, why: str, *, rule: str = "") -> None:
        super().__init__(why)
        self.rule = rule


class NotReached(Exception):
    """A host is permitted, but cannot be connected to; the text says why."""


class Connect(Protocol):
    """Connects to a host, if a program may."""

    async def __call__(self, target: Target) -> Peer:
        """Return a connection; raise NotPermitted or NotReached."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class RefusedConnection:
    """A connection that a confined program was refused, and why; `rule` is empty without one."""

    target: str
    why: str
    rule: str = ""
