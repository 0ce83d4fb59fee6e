"""`calls(TOOLS)` and `results(TOOLS)` as lists, and the calls in them by a field."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from datetime import datetime
from functools import lru_cache
from typing import Any

from policy.checks import checked
from policy.evaluation.condition_scope import ConditionScope, ValueOf
from policy.evaluation.declared_outputs import ReadResult, result_reader
from policy.evaluation.evaluation import Evaluation
from policy.evaluation.past_results import CallView, unlabelled
from policy.evaluation.past_stores import without_stores, written_stores
from policy.evaluation.past_tools import tool_matcher
from policy.evaluation.truth import Indeterminate, PartialList, Value
from policy.model import SUCCEEDED, History, PastCall, PastCalls
from policy.values import is_ordinary

_KEYS_REMEMBERED = 4_096
_SAFE = 2**53
UNKNOWN_HISTORY = "the earlier calls of this session are not known"


@lru_cache(maxsize=_KEYS_REMEMBERED)
def fold_key(*parts: Hashable) -> object:
    """Return an object that stands for these parts of a condition, quick to look up."""
    return object()


class PastList:
    """The earlier calls that `calls` or `results` has, evaluated for a call.

    What may come from the stores `written` is not known.
    """

    def __init__(
        self,
        node: checked.EarlierCalls,
        place: ConditionScope,
        *,
        written: frozenset[str] = frozenset(),
    ) -> None:
        self._node = node
        self._place = place
        self._matches = tool_matcher(node.tools)
        self._succeeded_only = node.permits or node.kind == "results"
        read = without_stores(result_reader(node.outputs), node.stores, written)
        self._result_of = unlabelled(node.labels, read, place) if node.permits else read
        self._written = written
        self._written_in = written_stores(node.stores)
        self._after_writes: dict[frozenset[str], PastList] = {}
        self._keys: dict[tuple[Hashable, ...], object] = {}

    def __call__(self, call: Evaluation) -> Value:
        """Return the list."""
        history = call.history
        if history is None:
            return _NOT_KNOWN
        calls = self.as_of(history)
        return calls.some(history, calls._positions(history), now=call.facts.now)

    def as_of(self, history: History) -> PastList:
        """Return the list as a history has it, without what was read from a written store."""
        written = self._written_in(history)
        if written == self._written:
            return self
        found = self._after_writes.get(written)
        if found is None:
            found = PastList(self._node, self._place, written=written)
            self._after_writes[written] = found
        return found

    def key(self, *parts: Hashable) -> object:
        """Return the key of what is worked out of the calls of this list."""
        found = self._keys.get(parts)
        if found is None:
            found = self._keys[parts] = fold_key(self._node, self._written, *parts)
        return found

    def includes(self, call: PastCall) -> bool:
        """Return whether the list has an earlier call."""
        if self._succeeded_only and call.outcome != SUCCEEDED:
            return False
        return self._matches(call.called)

    def element(self, call: PastCall, now: datetime | None) -> Value:
        """Return an earlier call as an element of the list."""
        return self._element(call, now, self._result_of)

    def _element(self, call: PastCall, now: datetime | None, result_of: ReadResult) -> Value:
        return result_of(call) if self._node.kind == "results" else CallView(call, now, result_of)

    def _elements(
        self, kept: PastCalls, positions: Iterable[int], now: datetime | None
    ) -> list[Value]:
        if not (self._node.outputs or self._node.labels):
            return [self.element(kept[position], now) for position in positions]
        read = kept.fold(self.key("results"), lambda: _ReadResults(self._result_of))
        return [self._element(kept[each], now, read.at(each)) for each in positions]

    def gap(self, history: History) -> tuple[str, int] | None:
        """Return why calls are missing, and the position that all of those are before."""
        found: tuple[str, int] | None = None
        if history.unknown is not None:
            found = (history.unknown, 0)
        for tool, until in history.kept.gaps.items():
            if self._matches(tool) and (found is None or until >= found[1]):
                found = (history.kept.why_missing(tool), until)
        return found

    def chosen_by(self, steps: tuple[str, ...], wanted: ValueOf) -> ValueOf:
        """Return the list without elements whose field certainly does not equal a value."""

        def read(call: Evaluation) -> Value:
            value = wanted(call)
            history = call.history
            if history is None:
                return _NOT_KNOWN
            calls = self.as_of(history)
            fold = history.kept.fold(calls.key("by", steps), lambda: _ByField(calls, steps))
            found = fold.positions(value)
            chosen = calls._positions(history) if found is None else found
            return calls.some(history, chosen, now=call.facts.now)

        return read

    def some(self, history: History, positions: Iterable[int], *, now: datetime | None) -> Value:
        """Return the elements at these positions, and those that run."""
        kept, now = history.kept, now or history.as_of
        chosen = [position for position in positions if position < kept.length]
        items = self._elements(kept, chosen, now)
        items += [self.element(one, now) for one in kept.running if self.includes(one)]
        gap = self.gap(history)
        if gap is None:
            return tuple(items)
        why, until = gap
        sure = sum(position < until for position in chosen)
        # A gap behind everything that ended is one of calls that run.
        return PartialList(
            tuple(items), why, sure_from=len(items) + 1 if until > kept.length else sure
        )

    def _positions(self, history: History) -> list[int]:
        return history.kept.fold(self.key("included"), lambda: _Included(self)).positions


_NOT_KNOWN = PartialList((), UNKNOWN_HISTORY, sure_from=0)


class _Included:
    """The positions of the calls in a list."""

    def __init__(self, calls: PastList) -> None:
        self._calls = calls
        self.positions: list[int] = []

    def add(self, position: int, call: PastCall) -> None:
        """Add the next call."""
        if self._calls.includes(call):
            self.positions.append(position)


class _ReadResults:
    """The results of calls, each read once, when it is first asked for."""

    def __init__(self, result_of: ReadResult) -> None:
        self._result_of = result_of
        self._read: dict[int, Value] = {}

    def add(self, position: int, call: PastCall) -> None:
        """Add the next call."""

    def at(self, position: int) -> ReadResult:
        """Return what reads the result of the call at a position."""

        def read(call: PastCall) -> Value:
            if position not in self._read:
                self._read[position] = self._result_of(call)
            return self._read[position]

        return read


class _ByField:
    """The positions of the calls in a list, by the value of a field of each."""

    def __init__(self, calls: PastList, steps: tuple[str, ...]) -> None:
        self._calls = calls
        self._steps = steps
        self._equal: dict[type, dict[Any, list[int]]] = {str: {}, float: {}}
        self._of_kind: dict[type | None, list[int]] = {str: [], float: [], None: []}

    def add(self, position: int, call: PastCall) -> None:
        """Add the next call."""
        if not self._calls.includes(call):
            return
        value = field_at(self._calls.element(call, None), self._steps)
        kind = kind_of(value)
        self._of_kind[kind].append(position)
        if kind is not None:
            self._equal[kind].setdefault(value, []).append(position)

    def positions(self, value: Value) -> list[int] | None:
        """Return the positions of the calls whose field may equal a value; None: of all."""
        kind = kind_of(value)
        if kind is None:
            return None
        found = [*self._equal[kind].get(value, ()), *self._of_kind[None]]
        # A value of another type is not known to differ.
        found += self._of_kind[float if kind is str else str]
        return sorted(found)


def kind_of(value: Value) -> type | None:
    """Return the type of values that are equal if and only if Python says so; None for others."""
    if type(value) is str:
        return str if is_ordinary(value) else None
    if type(value) in (int, float) and -_SAFE < value < _SAFE:
        return float
    return None


def field_at(value: Value, steps: tuple[str, ...]) -> Value:
    """Return a field of nested objects; indeterminate where they are no objects, or lack it."""
    for step in steps:
        if not isinstance(value, Mapping):
            return Indeterminate("not an object")
        value = value.get(step)
    return value
