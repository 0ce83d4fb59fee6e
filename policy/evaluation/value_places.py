"""Where a value of a call stands in earlier calls: for people, as it tells what results say."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from typing import TypeAlias

from policy.checks import checked
from policy.evaluation.condition_scope import ConditionScope
from policy.evaluation.evaluation import Evaluation
from policy.evaluation.expressions import compile_value, elements
from policy.evaluation.found_in_labelled import LabelledTexts, texts_in
from policy.evaluation.found_in_results import ResultWords
from policy.evaluation.in_earlier_calls import FieldValues
from policy.evaluation.past_lists import PastList
from policy.evaluation.past_results import age_of, label_test
from policy.evaluation.truth import Absent, Indeterminate, Value
from policy.model import History, PastCall
from policy.values import (
    PathContext,
    UserMessages,
    escape_for_display,
    folded_for_search,
    user_messages,
)

HistoryTest: TypeAlias = checked.InEarlierCalls | checked.FoundInResults | checked.FoundInLabelled
_LONGEST_PATH = 100
_UNITS = ((86_400, "d"), (3_600, "h"), (60, "min"), (1, "s"))


def places_of_values(
    test: HistoryTest, place: ConditionScope, call: Evaluation
) -> Iterator[tuple[Value, str]]:
    """Yield each value that a test looks for in earlier calls, and where it stands last."""
    value, history = compile_value(test.left, place)(call), call.history
    items = (value,) if isinstance(test, checked.InEarlierCalls) else elements(value)
    if isinstance(items, (Absent, Indeterminate)) or history is None:
        return
    now = call.facts.now or history.as_of
    for item in items:
        if item is None or isinstance(item, (Absent, Indeterminate)):
            continue
        found = next((one for one in _newest(history) if _has(test, place, one, item, call)), None)
        yield item, "nowhere in earlier calls" if found is None else _place(test, found, item, now)


def _newest(history: History) -> Iterator[PastCall]:
    """Yield the calls that are kept, the last one first."""
    kept = history.kept
    for position in range(kept.length + len(kept.running) - 1, -1, -1):
        yield kept[position]


def _has(
    test: HistoryTest, place: ConditionScope, one: PastCall, item: Value, call: Evaluation
) -> bool:
    """Return whether a value stands in one earlier call, for this test."""
    match test:
        case checked.InEarlierCalls(calls=calls, steps=steps):
            values = FieldValues(_as_of(calls, place, call), steps)
            values.add(0, one)
            return values.has(item, 1) is True
        case checked.FoundInResults(calls=calls):
            words = ResultWords(_as_of(calls, place, call))
            words.add(0, one)
            return words.has(item, 1, call.paths) is True
        case checked.FoundInLabelled(labels=labels):
            texts = LabelledTexts([(label, label_test(label, place)) for label in labels])
            texts.add(0, one)
            wanted = [folded for text in texts_in(item) if (folded := folded_for_search(text))]
            return bool(wanted) and texts.stands_in(wanted)


def _as_of(calls: checked.EarlierCalls, place: ConditionScope, call: Evaluation) -> PastList:
    listed, history = PastList(calls, place), call.history
    return listed if history is None else listed.as_of(history)


def _place(test: HistoryTest, call: PastCall, item: Value, now: datetime | None) -> str:
    """Return which call it is, how long ago, and which field of it has the value."""
    # The names in a result are written by others.
    field = escape_for_display(_field(test, call, item), _LONGEST_PATH)
    where = f"in `{field}` of a call of" if field else "in a call of"
    age = age_of(call, now)
    ago = f", {_shown(age)} ago" if isinstance(age, timedelta) else ""
    known = "" if call.id is None else f" ({call.id})"
    return f"{where} `{call.tool}`{known}{ago}"


def _field(test: HistoryTest, call: PastCall, item: Value) -> str:
    if isinstance(test, checked.InEarlierCalls):
        first = ("result",) if test.calls.kind == "results" else ()
        return ".".join((*first, *test.steps))
    for path, leaf in _leaves(call.result, "result"):
        if isinstance(test, checked.FoundInLabelled):
            folded = folded_for_search(leaf)
            if any(folded_for_search(text) in folded for text in texts_in(item)):
                return path
        else:
            words = user_messages((leaf,))
            if isinstance(words, UserMessages) and words.message_with(item, PathContext()) == 0:
                return path
    return ""


def _leaves(value: Value, path: str) -> Iterator[tuple[str, str]]:
    """Yield the texts and numbers of a result, each with the path to it."""
    if isinstance(value, Mapping):
        for name, item in value.items():
            yield from _leaves(item, f"{path}.{name}")
    elif isinstance(value, tuple):
        for index, item in enumerate(value):
            yield from _leaves(item, f"{path}[{index}]")
    elif value is not None and not isinstance(value, bool):
        yield path, str(value)


def _shown(age: timedelta) -> str:
    seconds = int(age.total_seconds())
    size, unit = next(each for each in _UNITS if seconds >= each[0] or each[0] == 1)
    return f"{seconds // size} {unit}"
