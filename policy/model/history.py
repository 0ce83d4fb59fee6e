"""The earlier calls of a session tree, as far as a decision may look at them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from types import MappingProxyType

from policy.model.past_calls import (
    NOTHING_KEPT,
    SUCCEEDED,
    CalledTool,
    EndedCalls,
    PastCall,
    PastCalls,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Moments:
    """The latest moment at which something happened, of many; `untimed`: some have no time."""

    latest: datetime | None = None
    untimed: bool = False

    def and_at(self, at: datetime | None) -> Moments:
        """Return the moments with one more; `at` None: without a time."""
        if at is None:
            return Moments(latest=self.latest, untimed=True)
        if self.latest is not None and self.latest >= at:
            return self
        return Moments(latest=at, untimed=self.untimed)

    def and_those(self, others: Moments) -> Moments:
        """Return these moments and others."""
        times = [at for at in (self.latest, others.latest) if at is not None]
        return Moments(latest=max(times, default=None), untimed=self.untimed or others.untimed)

    def any_within(self, span: timedelta | None, now: datetime | None) -> bool | None:
        """Return whether one is less than `span` ago; None where that is not known.

        `span` None: however long ago. A moment in the future has the age zero.
        """
        if span is None:
            return self.untimed or self.latest is not None
        if self.latest is not None:
            if now is None:
                return None
            if max(now - self.latest, timedelta()) < span:
                return True
        return None if self.untimed else False


NEVER = Moments()


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCalls:
    """The calls of one tool: when those were made that succeeded, and those that may not have."""

    succeeded: Moments = NEVER
    unsure: Moments = NEVER

    def and_one(self, outcome: str, at: datetime | None) -> ToolCalls:
        """Return these calls and one more."""
        if outcome == SUCCEEDED:
            return ToolCalls(succeeded=self.succeeded.and_at(at), unsure=self.unsure)
        return ToolCalls(succeeded=self.succeeded, unsure=self.unsure.and_at(at))

    def and_those(self, others: ToolCalls) -> ToolCalls:
        """Return these calls and others of the same tool."""
        return ToolCalls(
            succeeded=self.succeeded.and_those(others.succeeded),
            unsure=self.unsure.and_those(others.unsure),
        )


NO_CALLS = ToolCalls()


@dataclass(frozen=True, slots=True, kw_only=True)
class History:
    """The calls that were handed to tools in one session tree, by tool. It does not change.

    `kept` are the calls themselves, as far as they are kept. `unknown` is why not all of its calls
    are known; None where they are. Ages count from `as_of` where a decision has no clock.
    """

    tools: Mapping[CalledTool, ToolCalls] = field(default_factory=lambda: MappingProxyType({}))
    unknown: str | None = None
    as_of: datetime | None = None
    kept: PastCalls = NOTHING_KEPT


def history_of(calls: Iterable[PastCall]) -> History:
    """Return the history of a session tree that consists of these calls, in their order."""
    tools: dict[CalledTool, ToolCalls] = {}
    listed = tuple(calls)
    for call in listed:
        tools[call.called] = tools.get(call.called, NO_CALLS).and_one(call.outcome, call.at)
    return History(tools=MappingProxyType(tools), kept=EndedCalls(listed).until_now())
