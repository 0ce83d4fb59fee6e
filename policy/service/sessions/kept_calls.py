"""The calls of one session tree that are kept one by one, within bounds."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import Any

import msgspec

from policy.model import (
    CalledTool,
    Caller,
    CallOutput,
    EndedCalls,
    PastCall,
    PastCalls,
    ReleasedCall,
    thaw,
)
from policy.values import DEFAULT_MESSAGE_BOUNDS, MessageBounds

_ENCODER = msgspec.json.Encoder(decimal_format="number")
# At a bound, this part of the calls is forgotten at once: forgetting costs as much as there are.
PART = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class KeepingBounds:
    """How many calls are kept one by one: a count and bytes for each session tree.

    A result of more than `result_bytes` is not kept. `retention` is the age from which a call is
    forgotten, None: never. Of forgotten calls, the tool, the outcome and the time of the latest
    remain. `said` bounds what the user wrote.
    """

    entries: int = 10_000
    bytes: int = 16_000_000
    result_bytes: int = 1_000_000
    retention: timedelta | None = None
    said: MessageBounds = DEFAULT_MESSAGE_BOUNDS


DEFAULT_BOUNDS = KeepingBounds()

# Why calls are not kept one by one.
NOT_READ = "no rule read them when they were made"
TOO_MANY_SESSIONS = "there was too much of all sessions"


def too_many_calls(bounds: KeepingBounds) -> str:
    """Return why calls beyond the number for one session were forgotten."""
    return f"`[history] entries` keeps {bounds.entries:,} of a session"


def too_many_bytes(bounds: KeepingBounds) -> str:
    """Return why calls beyond the bytes of one session were forgotten."""
    return f"`[history] bytes` keeps {bounds.bytes:,} bytes of a session"


def too_old(bounds: KeepingBounds) -> str:
    """Return why old calls were forgotten."""
    hours = (bounds.retention or timedelta()) / timedelta(hours=1)
    return f"`[history] retention` keeps them for {hours:g} hours"


def past_call(
    caller: Caller, call: ReleasedCall, outcome: str, output: CallOutput | None
) -> PastCall:
    """Return a call as later decisions may look at it."""
    return PastCall(
        tool=call.tool.name,
        origin=call.tool.kind,
        server=call.tool.server,
        input={} if call.input is None else call.input,
        result=None if output is None else output.result,
        texts=() if output is None else output.texts,
        outcome=outcome,
        at=call.at,
        session=caller.session,
        agent=caller.agent,
        user=caller.user,
        id=call.id,
        chain=tuple([each.agent for each in caller.chain()]),
    )


def encoded(value: Any) -> bytes | None:
    """Return a frozen value as JSON; None if it is none."""
    try:
        return _ENCODER.encode(thaw(value))
    except (TypeError, ValueError, RecursionError):
        return None


def encoded_output(output: CallOutput, bounds: KeepingBounds) -> bytes | None:
    """Return what a call returned as JSON; None if it is none, or too large to be kept."""
    found = encoded((output.result, output.texts))
    return None if found is None or len(found) > bounds.result_bytes else found


@dataclass(slots=True)
class KeptBytes:
    """How many bytes the calls of all trees take together."""

    count: int = 0


class KeptCalls:
    """The calls of one tree that are kept, in the order in which they ended."""

    __slots__ = ("_bounds", "_bytes", "_ended", "_gaps", "_of_all", "_reasons", "_sizes")

    def __init__(self, bounds: KeepingBounds, of_all: KeptBytes) -> None:
        self._bounds = bounds
        self._of_all = of_all
        self._ended = EndedCalls(lock=threading.Lock())
        self._sizes: list[int] = []
        self._bytes = 0
        self._gaps: dict[CalledTool, int] = {}
        self._reasons: dict[CalledTool, str] = {}

    def add(self, call: PastCall, size: int) -> None:
        """Add a call that has ended; forget the oldest where there are too many."""
        self._ended.calls.append(call)
        self._sizes.append(size)
        self._bytes += size
        self._of_all.count += size
        bounds = self._bounds
        if len(self._sizes) > bounds.entries:
            count = len(self._sizes) - bounds.entries + bounds.entries // PART
            self._forget(count, too_many_calls(bounds))
        if self._bytes > bounds.bytes:
            count = self._first_beyond(bounds.bytes - bounds.bytes // PART)
            self._forget(count, too_many_bytes(bounds))

    def add_gap(self, tool: CalledTool) -> None:
        """Note that a call of this tool has ended and is not kept."""
        self._gaps[tool] = len(self._sizes)
        self._reasons[tool] = NOT_READ

    @property
    def gaps(self) -> Mapping[CalledTool, int]:
        """The tools of which calls are missing, each with the position that all of them precede."""
        return self._gaps

    def __iter__(self) -> Iterator[PastCall]:
        return iter(self._ended.calls)

    @property
    def reasons(self) -> Mapping[CalledTool, str]:
        """Why calls of these tools are missing."""
        return self._reasons

    def set_gaps(self, gaps: Mapping[CalledTool, int], reasons: Mapping[CalledTool, str]) -> None:
        """Note which calls are missing; positions may be beyond the calls that were added yet."""
        self._gaps, self._reasons = dict(gaps), dict(reasons)

    def forget_before(self, now: datetime | None) -> None:
        """Forget the calls that are too old."""
        retention, calls = self._bounds.retention, self._ended.calls
        if (
            retention is None
            or now is None
            or not calls
            or not _is_before(calls[0], now - retention)
        ):
            return
        kept = next(
            (n for n, call in enumerate(calls) if not _is_before(call, now - retention)), len(calls)
        )
        self._forget(kept, too_old(self._bounds))

    def forget_all(self) -> None:
        """Forget every call, as there are too many of all trees."""
        if self._sizes:
            self._forget(len(self._sizes), TOO_MANY_SESSIONS)

    def until_now(
        self, running: tuple[PastCall, ...], *, not_kept: Iterable[CalledTool]
    ) -> PastCalls:
        """Return what is kept now; `not_kept` are the tools of other running calls."""
        latest = len(self._sizes) + len(running)
        not_kept = tuple(not_kept)
        gaps = self._gaps | dict.fromkeys(not_kept, latest)
        reasons = self._reasons | dict.fromkeys(not_kept, NOT_READ)
        return self._ended.until_now(
            running=running, gaps=MappingProxyType(gaps), reasons=MappingProxyType(reasons)
        )

    def join(self, other: KeptCalls) -> None:
        """Add the calls of another tree."""
        if not other._sizes and not other._gaps:
            return
        both = [
            *zip(self._ended.calls, self._sizes, strict=True),
            *zip(other._ended.calls, other._sizes, strict=True),
        ]
        both.sort(key=lambda one: _moment_of(one[0]))
        other._replace([], [])
        self._replace([call for call, _ in both], [size for _, size in both])
        for tool in (*self._gaps, *other._gaps):
            self._gaps[tool] = len(both)
        self._reasons = other._reasons | self._reasons

    def _first_beyond(self, most: int) -> int:
        """Return how many of the oldest calls are to go, so that at most so many bytes remain."""
        left, count = self._bytes, 0
        while left > most and count < len(self._sizes):
            left -= self._sizes[count]
            count += 1
        return count

    def _forget(self, count: int, why: str) -> None:
        forgotten = {call.called for call in self._ended.calls[:count]}
        self._reasons |= {tool: why for tool in forgotten if self._gaps.get(tool, 0) <= count}
        gaps = {tool: max(0, position - count) for tool, position in self._gaps.items()}
        gaps = dict.fromkeys(forgotten, 0) | gaps
        self._gaps = gaps
        self._replace(self._ended.calls[count:], self._sizes[count:])

    def _replace(self, calls: list[PastCall], sizes: list[int]) -> None:
        self._of_all.count -= self._bytes
        self._ended = EndedCalls(calls, lock=threading.Lock())
        self._sizes, self._bytes = sizes, sum(sizes)
        self._of_all.count += self._bytes


def _is_before(call: PastCall, moment: datetime) -> bool:
    return call.at is not None and call.at < moment


def _moment_of(call: PastCall) -> float:
    return 0.0 if call.at is None else call.at.timestamp()
