"""`V from LABEL`: whether a value, or an element of it, stands in a text that a label marks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice

from policy.checks import checked
from policy.evaluation.condition_scope import ConditionScope, ValueOf
from policy.evaluation.declared_outputs import result_reader
from policy.evaluation.evaluation import Evaluation
from policy.evaluation.past_lists import UNKNOWN_HISTORY, fold_key
from policy.evaluation.past_results import LabelTest, label_test
from policy.evaluation.past_tools import tool_matcher
from policy.evaluation.text_pile import TextPile
from policy.evaluation.truth import ABSENT, Absent, Indeterminate, Truth, Value, unknown_history
from policy.model import RUNNING, SUCCEEDED, PastCall
from policy.values import search_readings, takes_long

# A longer value is not looked for: it is not known whether it was copied.
_LONGEST = 1_000_000
# The steps of searching the labelled texts for each value: some thirty milliseconds. Beyond it, it
# is not known whether one was copied, but a single value is always looked for.
_MOST_STEPS = 10_000_000
# Each is folded before it is looked for, which takes some microseconds.
_MOST_VALUES = 10_000
_TOO_MUCH = "there are too many values to look for them in so long results"
# What is left of `q=20` without its escape stands in any text.
_SHORTEST = 6


def compile_found_in_labelled(
    test: checked.FoundInLabelled, left: ValueOf, place: ConditionScope
) -> ValueOf:
    """Return the test of whether one of the values stands in a labelled text."""
    labels = [(label, label_test(label, place)) for label in test.labels]
    matchers = [tool_matcher(label.tools) for label in test.labels]
    key = fold_key(test.labels, "texts")

    def decide(call: Evaluation) -> Truth | Absent:
        value = left(call)
        if value is ABSENT or isinstance(value, Indeterminate):
            return value
        history = call.history
        if history is None:
            return unknown_history(UNKNOWN_HISTORY)
        first = list(islice(texts_in(value), _MOST_VALUES + 1))
        if len(first) > _MOST_VALUES:
            return unknown_history(_TOO_MUCH)
        if any(takes_long(text, "NFKC") for text in first):
            return Indeterminate("a text with very long runs of combining marks, or too long")
        wanted = list(dict.fromkeys(wanted_texts(value)))
        kept = history.kept
        texts = kept.fold(key, lambda: LabelledTexts(labels))
        truth = texts.has(wanted, kept.length)
        if truth is not False or not wanted:
            return truth
        running = LabelledTexts(labels)
        for number, one in enumerate(kept.running):
            running.add(number, one)
        truth = running.has(wanted, len(kept.running))
        if truth is not False:
            return truth
        for tool in kept.gaps:
            if any(matches(tool) for matches in matchers):
                return unknown_history(kept.why_missing(tool))
        return False if history.unknown is None else unknown_history(history.unknown)

    return decide


def wanted_texts(value: Value) -> list[str]:
    """Return what to search labelled texts for, of a value."""
    wanted = []
    for text in texts_in(value):
        folded, *others = search_readings(text)
        wanted += [folded, *(each for each in others if len(each) >= _SHORTEST)]
    return [text for text in wanted if text]


class LabelledTexts:
    """The texts that labels mark, or may mark, folded for searching."""

    def __init__(self, labels: list[tuple[checked.CheckedLabel, LabelTest]]) -> None:
        self._labels = [(label, marks, result_reader(label.outputs)) for label, marks in labels]
        self._sure = TextPile()
        self._perhaps = TextPile()
        self._unknown: tuple[int, str] | None = None

    def add(self, position: int, call: PastCall) -> None:
        """Add the next call."""
        for label, marks, read in self._labels:
            truth = marks(call)
            if truth is False:
                continue
            if call.outcome == RUNNING or (call.result is None and not call.texts):
                self._unknown = self._unknown or (position, call.tool)
            found = [*_marked(call.result, label.fields), *call.texts]
            if isinstance(call.result, str) and not isinstance(read(call), str):
                # JSON in a text may write characters otherwise.
                found += texts_in(read(call))
            if any(takes_long(text, "NFKC") for text in found):
                self._unknown = self._unknown or (position, call.tool)
                continue
            sure = truth is True and call.outcome == SUCCEEDED
            # Texts apart, so that nothing is found that begins in one and ends in the next.
            folded = "\0".join(each for text in found for each in search_readings(text))
            (self._sure if sure else self._perhaps).add(position, folded)

    @property
    def size(self) -> int:
        """How many characters the texts have."""
        return self._sure.size + self._perhaps.size

    def first_with(self, wanted: list[str], length: int) -> int | None:
        """Return the first of so many calls with a text that is, or may be, marked and has one."""
        piles = (self._sure, self._perhaps)
        found = (pile.find(text, length) for pile in piles for text in wanted)
        return min((position for position in found if position is not None), default=None)

    def _steps(self, wanted: list[str]) -> int:
        piles = (self._sure, self._perhaps)
        return sum(pile.steps(text) for text in wanted[1:] for pile in piles)

    def has(self, wanted: list[str], length: int) -> Truth:
        """Return whether one of the first `length` calls has a text with one of these in it."""
        if self._steps(wanted) > _MOST_STEPS:
            return unknown_history(_TOO_MUCH)
        if any(self._sure.find(text, length) is not None for text in wanted):
            return True
        if any(self._perhaps.find(text, length) is not None for text in wanted):
            return unknown_history("it may be that a label marks where the value stands")
        if self._unknown is not None and self._unknown[0] < length:
            return unknown_history(f"the result of a call of `{self._unknown[1]}` is not known")
        if any(len(text) > _LONGEST for text in wanted):
            return Indeterminate("a value that is too long to be looked for")
        return False


def _marked(result: Value, fields: tuple[tuple[str, ...], ...]) -> Iterator[str]:
    """Yield the texts of a result that a label marks, which are all if it names no fields."""
    if not fields:
        yield from texts_in(result)
    for steps in fields:
        yield from _texts_at(result, steps)


def _texts_at(value: Value, steps: tuple[str, ...]) -> Iterator[str]:
    if isinstance(value, tuple) and steps:
        for item in value:
            yield from _texts_at(item, steps)
    elif isinstance(value, Mapping) and steps:
        yield from _texts_at(value.get(steps[0]), steps[1:])
    else:
        # A text may have the field somewhere in it.
        yield from texts_in(value)


def texts_in(value: Value) -> Iterator[str]:
    """Yield every text and number in a value, keys included."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield key
            yield from texts_in(item)
    elif isinstance(value, tuple):
        for item in value:
            yield from texts_in(item)
    elif value is not None and not isinstance(value, bool | Absent | Indeterminate):
        yield str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
