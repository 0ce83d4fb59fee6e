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

_ENCODER = msgspec.json.Encoder(decimal_format="number")
# At a bound, this part of the calls is forgotten at once: forgetting costs as much as there are.
PART = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class KeepingBounds:
    """How many calls are kept one by one: a count and bytes for each session tree.

    A result of more than `result_bytes` is not kept. `retention` is the age from which a call is
    forgotten, None: never. Of forgotten calls, the tool, the outcome and the time of the latest
    remain.
    """

    entries: int = 10_000
    bytes: int = 16_000_000
    result_bytes: int = 1_000_000
    retention: timedelta | None = None


DEFAULT_BOUNDS = KeepingBounds()


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

    __slots__ = ("_bounds", "_bytes", "_ended", "_gaps", "_of_all", "_sizes")

    def __init__(self, bounds: KeepingBounds, of_all: KeptBytes) -> None:
        self._bounds = bounds
        self._of_all = of_all
        self._ended = EndedCalls(lock=threading.Lock())
        self._sizes: list[int] = []
        self._bytes = 0
        self._gaps: dict[CalledTool, int] = {}

    def add(self, call: PastCall, size: int) -> None:
        """Add a call that has ended; forget the oldest where there are too many."""
        self._ended.calls.append(call)
        self._sizes.append(size)
        self._bytes += size
        self._of_all.count += size
        bounds = self._bounds
        if len(self._sizes) > bounds.entries:
            self._forget(len(self._sizes) - bounds.entries + bounds.entries // PART)
        if self._bytes > bounds.bytes:
            self._forget(self._first_beyond(bounds.bytes - bounds.bytes // PART))

    def add_gap(self, tool: CalledTool) -> None:
        """Note that a call of this tool has ended and is not kept."""
        self._gaps[tool] = len(self._sizes)

    @property
    def gaps(self) -> Mapping[CalledTool, int]:
        """The tools of which calls are missing, each with the position that all of them precede."""
        return self._gaps

    def __iter__(self) -> Iterator[PastCall]:
        return iter(self._ended.calls)

    def set_gaps(self, gaps: Mapping[CalledTool, int]) -> None:
        """Note which calls are missing; positions may be beyond the calls that were added yet."""
        self._gaps = dict(gaps)

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
        self._forget(kept)

    def forget_all(self) -> None:
        """Forget every call."""
        if self._sizes:
            self._forget(len(self._sizes))

    def until_now(
        self, running: tuple[PastCall, ...], *, not_kept: Iterable[CalledTool]
    ) -> PastCalls:
        """Return what is kept now; `not_kept` are the tools of other running calls."""
        latest = len(self._sizes) + len(running)
        gaps = self._gaps | dict.fromkeys(not_kept, latest)
        return self._ended.until_now(running=running, gaps=MappingProxyType(gaps))

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

    def _first_beyond(self, most: int) -> int:
        """Return how many of the oldest calls are to go, so that at most so many bytes remain."""
        left, count = self._bytes, 0
        while left > most and count < len(self._sizes):
            left -= self._sizes[count]
            count += 1
        return count

    def _forget(self, count: int) -> None:
        gaps = {tool: max(0, position - count) for tool, position in self._gaps.items()}
        gaps = dict.fromkeys((call.called for call in self._ended.calls[:count]), 0) | gaps
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
