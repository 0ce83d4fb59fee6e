"""`after`: whether the session tree holds an earlier call of certain tools."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from datetime import datetime, timedelta

from policy.checks import checked
from policy.evaluation.condition_scope import ConditionScope
from policy.evaluation.evaluation import Evaluation
from policy.evaluation.past_lists import UNKNOWN_HISTORY, fold_key
from policy.evaluation.past_results import LabelTest, label_test
from policy.evaluation.past_tools import tool_matcher
from policy.evaluation.truth import Indeterminate, Truth, unknown_history
from policy.model import (
    NEVER,
    NO_CALLS,
    RESULT_NOT_KNOWN,
    CalledTool,
    History,
    Moments,
    PastCall,
)

_TestOfHistory = Callable[[History, datetime | None], Truth]


def compile_after(
    test: checked.EarlierCall, place: ConditionScope
) -> Callable[[Evaluation], Truth]:
    """Return the test of the earlier calls.

    It is true if such a call succeeded. A call that is running, or did not succeed, may have had
    its effect; then the test is indeterminate.
    """
    text = test.text
    parts = [_by_tools(test)]
    parts += [_by_label(label, place, within=test.within) for label in test.labels]

    def decide(call: Evaluation) -> Truth:
        history = call.history
        if history is None:
            return unknown_history(UNKNOWN_HISTORY, text)
        now = call.facts.now or history.as_of
        unsure: Indeterminate | None = None
        for part in parts:
            truth = part(history, now)
            if truth is True:
                return True
            if truth is not False and unsure is None:
                unsure = truth
        if unsure is not None:
            return unsure.within(text)
        return False if history.unknown is None else unknown_history(history.unknown, text)

    return decide


def _by_tools(test: checked.EarlierCall) -> _TestOfHistory:
    matches = tool_matcher(test.tools)
    within = test.within

    def decide(history: History, now: datetime | None) -> Truth:
        unsure: str | None = None
        for tool, calls in history.tools.items():
            if not matches(tool):
                continue
            succeeded = calls.succeeded.any_within(within, now)
            if succeeded:
                return True
            if succeeded is None:
                unsure = f"it is not known how long ago `{tool.name}` was called"
            elif calls.unsure.any_within(within, now) is not False:
                unsure = unsure or f"{RESULT_NOT_KNOWN} `{tool.name}` is not known"
        return False if unsure is None else unknown_history(unsure)

    return decide


# ------------------------------------------------------------------ labels with conditions


def _by_label(
    label: checked.CheckedLabel, place: ConditionScope, *, within: timedelta | None
) -> _TestOfHistory:
    marks, key = label_test(label, place), fold_key(label)
    matches = tool_matcher(label.tools)

    def decide(history: History, now: datetime | None) -> Truth:
        kept = history.kept
        fold = kept.fold(key, lambda: _Labelled(marks))
        found = fold.marked.before(kept.length).any_within(within, now)
        if found:
            return True
        if found is None:
            return unknown_history(f"it is not known how long ago `{label.name}` was set")
        if fold.perhaps.before(kept.length).any_within(within, now) is not False:
            return unknown_history(f"whether an earlier call set `{label.name}` is not known")
        for one in kept.running:
            if (
                marks(one) is not False
                and Moments(latest=one.at, untimed=one.at is None).any_within(within, now)
                is not False
            ):
                return unknown_history(f"{RESULT_NOT_KNOWN} `{one.tool}` is not known")
        for tool in kept.gaps:
            if matches(tool) and _may_be_within(history, tool, within, now):
                return unknown_history(kept.why_missing(tool))
        return False

    return decide


def _may_be_within(
    history: History, tool: CalledTool, within: timedelta | None, now: datetime | None
) -> bool:
    """Return whether some call of a tool may be as young as that."""
    calls = history.tools.get(tool, NO_CALLS)
    return any(
        moments.any_within(within, now) is not False for moments in (calls.succeeded, calls.unsure)
    )


class _Labelled:
    """When calls were made that a label marks, and those that it may mark."""

    def __init__(self, marks: LabelTest) -> None:
        self._marks = marks
        self.marked = _MomentsSoFar()
        self.perhaps = _MomentsSoFar()

    def add(self, position: int, call: PastCall) -> None:
        """Add the next call."""
        truth = self._marks(call)
        if truth is not False:
            (self.marked if truth is True else self.perhaps).add(position, call.at)


class _MomentsSoFar:
    """The moments of calls up to each position."""

    def __init__(self) -> None:
        self._positions: list[int] = []
        self._moments: list[Moments] = []

    def add(self, position: int, at: datetime | None) -> None:
        """Add the moment of the call at a position."""
        latest = self._moments[-1] if self._moments else NEVER
        self._positions.append(position)
        self._moments.append(latest.and_at(at))

    def before(self, length: int) -> Moments:
        """Return the moments of the calls among the first `length`."""
        count = bisect_left(self._positions, length)
        return self._moments[count - 1] if count else NEVER
