"""A call that takes a step before its clock is set ends like one with a clock from the start.

Held for tools that return, wait, block, raise, cancel themselves and ignore being cancelled, among
callers that hang up, in a time that passes only where somebody waits or blocks.
"""

from __future__ import annotations

import asyncio
import selectors
from itertools import takewhile
from math import inf
from typing import Any

from hypothesis import assume, given
from hypothesis import strategies as st

from policy.errors import Execution
from policy.service import TimeoutLayer, ToolDefinition, ToolOutput


class _Hurried(selectors.SelectSelector):
    """Waits for nothing: the time that was to be waited has passed at once."""

    now = 0.0

    def select(self, timeout: float | None = None) -> Any:
        self.now += max(0.0, timeout or 0.0)
        return super().select(0)


class _Loop(asyncio.SelectorEventLoop):
    def __init__(self) -> None:
        self.hurried = _Hurried()
        super().__init__(self.hurried)

    def time(self) -> float:
        return self.hurried.now


class _Tool:
    """Does one thing after the other, and writes down what it has done and when."""

    def __init__(self, loop: _Loop, acts: list[tuple[str, float]]) -> None:
        self.loop = loop
        self.acts = acts
        self.done: list[object] = []

    async def execute(self, name: str, input: Any) -> ToolOutput:
        for act, span in self.acts:
            try:
                await self._act(act, span)
            except asyncio.CancelledError:
                self.done.append("cancelled")
                if ("ignore", 0) not in self.acts:
                    raise
            self.done.append((act, self.loop.time()))
        return ToolOutput(value=len(self.done))

    async def _act(self, act: str, span: float) -> None:
        if act == "wait":
            await asyncio.sleep(span)
        elif act == "block":
            self.loop.hurried.now += span
        elif act == "cancel":
            task = asyncio.current_task()
            assert task is not None
            task.cancel()
        elif act == "fail":
            raise Execution("tool", "it broke") if span else TimeoutError
        elif act == "limit":
            async with asyncio.timeout(span):
                await asyncio.sleep(2)

    def list(self) -> list[ToolDefinition]:
        return []

    def describe(self, name: str) -> ToolDefinition | None:
        return None


def _played(
    acts: list[tuple[str, float]], seconds: float, hangs_up: float | None, *, step_first: bool
) -> tuple[object, ...]:
    """Return everything that can be seen of one call."""
    loop = _Loop()
    tool = _Tool(loop, acts)
    layer = TimeoutLayer(tool, lambda name, call: seconds, step_first=step_first)

    async def call() -> tuple[object, ...]:
        task = asyncio.current_task()
        assert task is not None
        try:
            value: object = (await layer.execute("tool", {})).value
        except (Exception, asyncio.CancelledError) as error:  # noqa: BLE001 - it is what is compared
            raised = (error, error.__cause__, error.__context__)
            value = (str(error), *(type(each).__name__ for each in raised))
        # A clock that was left behind would still cancel what comes after.
        left = task.cancelling()
        return value, left, loop.time()

    async def watched() -> tuple[object, ...]:
        running = asyncio.ensure_future(call())
        if hangs_up is not None:
            loop.call_later(hangs_up, running.cancel)
        try:
            return await running
        except asyncio.CancelledError:
            return ("never began",)

    try:
        asyncio.set_event_loop(loop)
        ended = loop.run_until_complete(watched())
        return (*ended, tuple(tool.done), _clocks_left(loop))
    finally:
        asyncio.set_event_loop(None)
        loop.close()


def _clocks_left(loop: Any) -> int:
    """Return how many clocks nobody stopped."""
    return sum(not handle.cancelled() for handle in loop._scheduled)


SPANS = st.sampled_from([0, 0, 1, 2, 3])
ACTS = st.lists(
    st.one_of(
        st.tuples(st.just("wait"), SPANS),
        st.tuples(st.just("wait"), SPANS),
        st.tuples(st.just("block"), SPANS),
        st.tuples(st.just("fail"), st.sampled_from([0, 1])),
        st.tuples(st.just("limit"), SPANS),
        st.just(("cancel", 0)),
        st.just(("ignore", 0)),
    ),
    max_size=6,
)


def _blocked_at_first(acts: list[tuple[str, float]]) -> float:
    """Return how long the first step takes."""
    first = takewhile(lambda act: act[0] not in ("wait", "limit"), acts)
    return sum(span for act, span in first if act == "block")


@given(
    ACTS,
    st.sampled_from([-1, 0, 0.5, 1.5, 2.5, 4.5, 6.5, inf]),
    st.one_of(st.none(), st.sampled_from([0, 0.25, 1.25, 2.25])),
)
def test_taking_a_step_before_the_clock_is_set_changes_nothing(
    acts: list[tuple[str, float]], seconds: float, hangs_up: float | None
) -> None:
    # What blocks past its limit is ended where it first waits, before all else that is due then.
    assume(seconds <= 0 or _blocked_at_first(acts) < seconds)
    stepped = _played(acts, seconds, hangs_up, step_first=True)
    assert stepped == _played(acts, seconds, hangs_up, step_first=False)


def test_a_call_that_never_waits_sets_no_clock() -> None:
    loop = _Loop()
    set_at: list[float] = []
    loop.call_at = lambda when, *rest, **more: set_at.append(when)  # type: ignore[method-assign, assignment]
    layer = TimeoutLayer(_Tool(loop, [("block", 1)]), lambda name, call: 5)
    loop.run_until_complete(layer.execute("tool", {}))
    loop.close()
    assert set_at == []
