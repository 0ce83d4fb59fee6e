"""A time limit ends calls that take too long, and changes nothing for all others.

Tools return, wait, block, raise, cancel themselves or ignore being cancelled, and callers hang up;
the clock is simulated, and moves only while somebody waits or blocks.
"""

from __future__ import annotations

import asyncio
import selectors
from dataclasses import dataclass
from math import inf
from typing import Any

from hypothesis import assume, given
from hypothesis import strategies as st

from policy.model import Execution, Timeout
from policy.service import TimeoutLayer
from policy.tools import ToolDefinition, ToolOutput, ToolService


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
        self.cancels = 0

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
            self.cancels += 1
        elif act == "fail":
            raise Execution("tool", "it broke") if span else TimeoutError
        elif act == "limit":
            async with asyncio.timeout(span):
                await asyncio.sleep(2)

    def list(self) -> list[ToolDefinition]:
        return []

    def describe(self, name: str) -> ToolDefinition | None:
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Seen:
    """How one call ended: what it returned or raised, when, and what the tool had done by then.

    `cancels` are requests to cancel that its task has afterwards.
    """

    told: tuple[object, ...]
    at: float
    done: tuple[object, ...]
    cancels: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _Played:
    """One call, the cancels that its tool and its caller asked for, and the clocks left running."""

    seen: _Seen
    asked_to_cancel: int
    clocks_left: int


def _played(
    acts: list[tuple[str, float]], seconds: float | None, hangs_up: float | None
) -> _Played:
    """Make one call of a tool, in a loop of its own; without `seconds`, with nothing around it."""
    loop = _Loop()
    tool = _Tool(loop, acts)
    service: ToolService = tool
    if seconds is not None:
        service = TimeoutLayer(tool, lambda name, call: seconds)

    seen: list[_Seen] = []

    async def call() -> None:
        task = asyncio.current_task()
        assert task is not None
        try:
            told: tuple[object, ...] = ((await service.execute("tool", {})).value,)
        except (Exception, asyncio.CancelledError) as error:  # noqa: BLE001 - it is what is compared
            told = (str(error), *map(type, (error, error.__cause__, error.__context__)))
        seen.append(
            _Seen(told=told, at=loop.time(), done=tuple(tool.done), cancels=task.cancelling())
        )

    async def watched() -> _Played:
        running = asyncio.ensure_future(call())
        hung_up = 0

        def hang_up() -> None:
            nonlocal hung_up
            hung_up += running.cancel()

        hanging = None if hangs_up is None else loop.call_later(hangs_up, hang_up)
        # A task that is to be cancelled when it ends is cancelled then, whatever it returned.
        await asyncio.wait([running])
        if hanging is not None:
            hanging.cancel()
        return _Played(
            seen=seen[0], asked_to_cancel=tool.cancels + hung_up, clocks_left=_clocks_left(loop)
        )

    try:
        asyncio.set_event_loop(loop)
        return loop.run_until_complete(watched())
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


LIMITS = st.sampled_from([-1, 0, 0.5, 1.5, 2.5, 4.5, 6.5, inf])
ENDING = st.sampled_from([-1, 0, 0.5, 1.5, 2.5])
# Later than the call begins: before that there is nothing to hang up on.
HANGING_UP = st.one_of(st.none(), st.sampled_from([0.25, 1.25, 2.25]))


def _is_timeout(seen: _Seen) -> bool:
    return len(seen.told) > 1 and seen.told[1] is Timeout


@given(ACTS, LIMITS, HANGING_UP)
def test_a_call_that_ends_in_time_ends_as_without_a_limit(
    acts: list[tuple[str, float]], seconds: float, hangs_up: float | None
) -> None:
    free = _played(acts, None, hangs_up)
    assume(free.seen.at < seconds)
    assert _played(acts, seconds, hangs_up) == free


@given(ACTS, st.lists(st.sampled_from([1, 2, 3]), min_size=1, max_size=3), ENDING)
def test_a_call_that_would_wait_past_its_limit_ends_there(
    acts: list[tuple[str, float]], waits: list[int], seconds: float
) -> None:
    heeds = [act for act in acts if act[0] in ("wait", "limit")]
    acts = [*(("wait", span) for span in waits), *heeds]
    assume(_played(acts, None, None).seen.at > seconds)
    limited = _played(acts, seconds, None).seen
    assert _is_timeout(limited)
    assert limited.told[0] == f"tool took longer than {seconds:g} seconds"
    assert limited.at == max(seconds, 0)


@given(ACTS, LIMITS, HANGING_UP)
def test_whoever_else_cancels_a_call_is_told_of_no_timeout(
    acts: list[tuple[str, float]], seconds: float, hangs_up: float | None
) -> None:
    assume(("ignore", 0) not in acts)
    limited = _played(acts, seconds, hangs_up)
    if _is_timeout(limited.seen):
        assert limited.seen.at >= seconds
        assert not limited.asked_to_cancel


@given(ACTS, LIMITS, HANGING_UP)
def test_a_limit_leaves_neither_a_clock_nor_a_cancel_behind(
    acts: list[tuple[str, float]], seconds: float, hangs_up: float | None
) -> None:
    limited = _played(acts, seconds, hangs_up)
    assert limited.clocks_left == 0
    assert limited.seen.cancels == limited.asked_to_cancel


def test_a_tool_that_ignores_being_cancelled_keeps_its_output() -> None:
    limited = _played([("wait", 2), ("ignore", 0)], 1, None).seen
    assert limited.told == (3,)
    assert limited.done[0] == "cancelled"


def test_a_time_limit_of_the_tool_s_own_is_not_the_layer_s() -> None:
    inner = _played([("limit", 1)], 5, None).seen
    assert (inner.told[1], inner.at) == (TimeoutError, 1)
    outer = _played([("limit", 2)], 1, None).seen
    assert (outer.told[1], outer.at) == (Timeout, 1)
    own = _played([("fail", 0)], 5, None).seen
    assert own.told[1] is TimeoutError
