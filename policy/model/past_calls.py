"""Earlier calls of a session tree, one by one: input, outcome and result of each.

`EndedCalls` only grows, and many snapshots (`PastCalls`) share it. What a condition works out of
each call is therefore worked out once, when it is first asked for after the call has ended.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from datetime import datetime
from types import MappingProxyType
from typing import Any, Literal, Protocol, TypeAlias, TypeVar

from policy.model.call import EMPTY

# How an earlier call ended. Only `ok` succeeded; what a call with another outcome did is not known.
Outcome: TypeAlias = Literal["ok", "failed", "timeout", "cancelled", "running"]
SUCCEEDED: Outcome = "ok"
RUNNING: Outcome = "running"


@dataclass(frozen=True, slots=True, kw_only=True)
class CalledTool:
    """The tool of an earlier call: its full name, and where it came from.

    `kind` None: only the name is known. `server` is the identifier of a server or extension.
    """

    name: str
    kind: Literal["host", "mcp", "ext"] | None = None
    server: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PastCall:
    """One earlier call of the session tree.

    `input` is the frozen input that ran. `result` is frozen JSON, or the text of a result that is
    none; None where it is not known. `texts` is what the agent was told besides: the text beside a
    structured result, or an error. `outcome` is an `Outcome`; any other counts as one that is not
    known. `origin` and `server` say where the tool came from, as in `CalledTool`. `chain` are the
    names of the agents that called, the caller first.
    """

    tool: str
    input: Mapping[str, Any] = field(default_factory=lambda: EMPTY)
    result: Any = None
    outcome: str = SUCCEEDED
    at: datetime | None = None
    session: str | None = None
    agent: str | None = None
    user: str | None = None
    origin: Literal["host", "mcp", "ext"] | None = None
    server: str = ""
    id: str | None = None
    chain: tuple[str, ...] = ()
    texts: tuple[str, ...] = ()

    @property
    def called(self) -> CalledTool:
        """The tool that was called."""
        return CalledTool(name=self.tool, kind=self.origin, server=self.server)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleasedCall:
    """A call that is about to be handed to its tool: the tool and the final, frozen input.

    `at` is when it was decided. `input` None: no rule reads earlier calls of this tool one by one,
    so that only the tool and the time are kept.
    """

    tool: CalledTool
    at: datetime | None = None
    input: Mapping[str, Any] | None = None
    id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CallOutput:
    """What the agent gets from a call: `result` and `texts` as in `PastCall`."""

    result: Any = None
    texts: tuple[str, ...] = ()


class Fold(Protocol):
    """What is worked out of calls one after the other."""

    def add(self, position: int, call: PastCall) -> None:
        """Add the next call; `position` is its place in the order of calls."""
        ...


_Fold = TypeVar("_Fold", bound=Fold)


NO_GAPS: Mapping[CalledTool, int] = MappingProxyType({})
_NO_REASONS: Mapping[CalledTool, str] = MappingProxyType({})
NO_LOCK: AbstractContextManager[None] = nullcontext()


class EndedCalls:
    """Calls in the order in which they ended. It only grows.

    `lock` is taken while something is worked out; without one, only one thread may use it.
    """

    __slots__ = ("_folds", "_lock", "calls")

    def __init__(
        self, calls: Iterable[PastCall] = (), *, lock: AbstractContextManager[Any] = NO_LOCK
    ) -> None:
        self.calls = list(calls)
        self._folds: dict[Hashable, tuple[Any, int]] = {}
        self._lock = lock

    def until_now(
        self,
        *,
        running: tuple[PastCall, ...] = (),
        gaps: Mapping[CalledTool, int] = NO_GAPS,
        reasons: Mapping[CalledTool, str] = _NO_REASONS,
    ) -> PastCalls:
        """Return a snapshot, with calls that are running and where some are missing, and why."""
        return PastCalls(self, len(self.calls), running, gaps, reasons)

    def fold(self, key: Hashable, make: Callable[[], _Fold], length: int) -> _Fold:
        """Return the fold `key` over at least the first `length` calls; `make` returns a new one.

        It may have seen later calls, by their positions from `length` on.
        """
        with self._lock:
            fold, done = self._folds.get(key) or (make(), 0)
            for position in range(done, length):
                fold.add(position, self.calls[position])
            if length > done:
                self._folds[key] = (fold, length)
        return fold


class PastCalls:
    """The calls of a session tree that were kept, at one moment. It does not change.

    Those that ended come first, in that order, and then those that are `running`. `gaps` has the
    tools of which calls are missing: all of those are before this position. `reasons` says why, as
    far as that is known.
    """

    __slots__ = ("_ended", "gaps", "length", "reasons", "running")

    def __init__(
        self,
        ended: EndedCalls,
        length: int,
        running: tuple[PastCall, ...],
        gaps: Mapping[CalledTool, int],
        reasons: Mapping[CalledTool, str] = _NO_REASONS,
    ) -> None:
        self._ended = ended
        self.length = length
        self.running = running
        self.gaps = gaps
        self.reasons = reasons

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, PastCalls):
            return NotImplemented
        if (self.length, self.running, self.gaps) != (other.length, other.running, other.gaps):
            return False
        return self._ended is other._ended or self._calls() == other._calls()

    def __hash__(self) -> int:
        return hash(self.length)

    def __repr__(self) -> str:
        return f"PastCalls({[*self._calls(), *self.running]!r}, gaps={dict(self.gaps)!r})"

    def __getitem__(self, position: int) -> PastCall:
        """Return the call at a position, counted from 0."""
        ended = position < self.length
        return self._ended.calls[position] if ended else self.running[position - self.length]

    def without(self, tool: CalledTool, id: str) -> PastCalls:
        """Return these calls without one of a tool that is running, kept or not."""
        running = tuple(call for call in self.running if call.id != id)
        gaps = dict(self.gaps)
        if len(running) == len(self.running):
            gaps.pop(tool, None)
        return PastCalls(self._ended, self.length, running, gaps, self.reasons)

    def why_missing(self, tool: CalledTool) -> str:
        """Return a sentence about a tool with missing calls."""
        reason = self.reasons.get(tool)
        sentence = f"not all earlier calls of `{tool.name}` are kept"
        return sentence if reason is None else f"{sentence}: {reason}"

    def fold(self, key: Hashable, make: Callable[[], _Fold]) -> _Fold:
        """Return the fold `key` over the calls that ended; ignore what it has from `length` on."""
        return self._ended.fold(key, make, self.length)

    def _calls(self) -> list[PastCall]:
        return self._ended.calls[: self.length]


NOTHING_KEPT = EndedCalls().until_now()
