"""`V from results(TOOLS)`: whether values stand in the results of earlier calls as whole words."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping

from policy.checks import checked
from policy.evaluation.condition_scope import ConditionScope, ValueOf
from policy.evaluation.evaluation import Evaluation
from policy.evaluation.expressions import elements
from policy.evaluation.past_lists import UNKNOWN_HISTORY, PastList
from policy.evaluation.truth import (
    ABSENT,
    Absent,
    Indeterminate,
    Truth,
    Value,
    all_true,
    unknown_history,
)
from policy.model import History, PastCall
from policy.values import PathContext, Unreadable, UserMessages, user_messages

_MISSING = Indeterminate("an element is absent")


def compile_found_in_results(
    test: checked.FoundInResults, left: ValueOf, place: ConditionScope
) -> ValueOf:
    """Return the test of whether every one of the values stands in some result."""
    past = PastList(test.calls, place)

    def decide(call: Evaluation) -> Truth | Absent:
        items = elements(left(call))
        if isinstance(items, (Absent, Indeterminate)):
            return items
        if not items:
            return ABSENT
        history = call.history
        if history is None:
            return unknown_history(UNKNOWN_HISTORY)
        calls = past.as_of(history)
        words = history.kept.fold(calls.key("words"), lambda: ResultWords(calls))
        return all_true(_stands(item, words, calls, history, call.paths) for item in items)

    return decide


def _stands(
    item: Value, words: ResultWords, calls: PastList, history: History, paths: PathContext
) -> Truth:
    if item is None or item is ABSENT:
        return _MISSING
    if isinstance(item, Indeterminate):
        return item
    truth = words.has(item, history.kept.length, paths)
    if truth is not False:
        return truth
    gap = calls.gap(history)
    if gap is not None:
        return unknown_history(gap[0])
    if not words.any_before(history.kept.length):
        return unknown_history("no such call has succeeded")
    return False


class ResultWords:
    """The texts of the results of calls, indexed by word when they are first searched."""

    def __init__(self, calls: PastList) -> None:
        self._calls = calls
        self._positions: list[int] = []
        self._texts: list[str] = []
        self._position_of_text: list[int] = []
        self._unknown: tuple[int, Indeterminate] | None = None
        self._indexed: tuple[int, UserMessages | Unreadable] = (0, user_messages(()))

    def add(self, position: int, call: PastCall) -> None:
        """Add the next call."""
        if not self._calls.includes(call):
            return
        self._positions.append(position)
        for leaf in _leaves(self._calls.element(call, None)):
            if isinstance(leaf, Indeterminate):
                self._unknown = self._unknown or (position, leaf)
            else:
                self._position_of_text.append(position)
                self._texts.append(leaf)

    def any_before(self, length: int) -> bool:
        """Return whether one of the first `length` calls counts."""
        return bisect_left(self._positions, length) > 0

    def has(self, value: Value, length: int, paths: PathContext) -> Truth:
        """Return whether a value stands in the result of one of the first `length` calls."""
        messages = self._messages()
        if isinstance(messages, Unreadable):
            return unknown_history("there are too many results to search")
        found = messages.message_with(value, paths)
        if isinstance(found, int) and self._position_of_text[found] < length:
            return True
        if isinstance(found, Unreadable):
            return Indeterminate(found.reason)
        if self._unknown is not None and self._unknown[0] < length:
            return self._unknown[1]
        return False

    def first_with(self, value: Value, length: int, paths: PathContext) -> int | None:
        """Return the first of so many calls in whose result a value stands."""
        messages = self._messages()
        found = None if isinstance(messages, Unreadable) else messages.message_with(value, paths)
        position = self._position_of_text[found] if isinstance(found, int) else length
        return position if position < length else None

    def _messages(self) -> UserMessages | Unreadable:
        """Return all texts, indexed."""
        count, messages = self._indexed
        if count != len(self._texts):
            texts = self._texts[:]
            all_of_them = user_messages(texts)
            if isinstance(messages, Unreadable) or isinstance(all_of_them, Unreadable):
                messages = all_of_them
            else:
                messages = messages.and_those(texts[count:])
            self._indexed = (len(texts), messages)
        return messages


def _leaves(value: Value) -> Iterator[str | Indeterminate]:
    """Yield the texts and numbers of a result, and what is not known of it."""
    if isinstance(value, (str, Indeterminate)):
        yield value
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from _leaves(item)
    elif isinstance(value, tuple):
        for item in value:
            yield from _leaves(item)
    elif value is not None and not isinstance(value, bool):
        yield str(value)
