"""Where a value of a call stands in earlier calls: for people, as it tells what results say."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import datetime, timedelta
from itertools import islice
from typing import TypeAlias

from policy.checks import checked
from policy.evaluation.condition_scope import ConditionScope
from policy.evaluation.evaluation import Evaluation
from policy.evaluation.expressions import compile_value, elements
from policy.evaluation.found_in_labelled import LabelledTexts, wanted_texts
from policy.evaluation.found_in_results import ResultWords
from policy.evaluation.in_earlier_calls import FieldValues
from policy.evaluation.past_lists import PastList, fold_key
from policy.evaluation.past_results import age_of, label_test
from policy.evaluation.past_tools import tool_matcher
from policy.evaluation.truth import Absent, Indeterminate, Value
from policy.model import History, PastCall
from policy.values import (
    PathContext,
    UserMessages,
    escape_for_display,
    search_readings,
    user_messages,
)

HistoryTest: TypeAlias = checked.InEarlierCalls | checked.FoundInResults | checked.FoundInLabelled
_Searched: TypeAlias = FieldValues | ResultWords | LabelledTexts
_LONGEST_PATH = 100
# So many calls are looked at one by one, for the last one with a value.
_RECENT = 100
# Labelled texts of more characters are searched together alone, for the first call with a value.
_LONG = 1_000_000
# Of more values it is not told where they stand: each is searched for.
_MOST_VALUES = 20
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
    for item in islice(items, _MOST_VALUES):
        if item is None or isinstance(item, (Absent, Indeterminate)):
            continue
        found = _call_with(test, place, item, call, history)
        where = _nowhere(test, history) if found is None else _place(test, found, item, now)
        yield item, where


def _nowhere(test: HistoryTest, history: History) -> str:
    if isinstance(test, checked.FoundInLabelled):
        read = [label.tools for label in test.labels]
    else:
        read = [test.calls.tools]
    matches = [tool_matcher(tools) for tools in read]
    gaps = any(one(tool) for one in matches for tool in history.kept.gaps)
    if gaps or history.unknown is not None:
        return "nowhere in the earlier calls that are kept"
    return "nowhere in earlier calls"


def _call_with(
    test: HistoryTest, place: ConditionScope, item: Value, call: Evaluation, history: History
) -> PastCall | None:
    """Return the last call in which a value stands; the first if it stands in no recent one.

    So a value that stands nowhere takes no time that grows with the history.
    """
    kept = history.kept
    key, make = _index_of(test, place, history)
    indexed = kept.fold(key, make)
    is_long = isinstance(indexed, LabelledTexts) and indexed.size > _LONG
    last = kept.length + len(kept.running)
    for position in range(last - 1, last if is_long else max(last - _RECENT, 0) - 1, -1):
        one = make()
        one.add(0, kept[position])
        if _first_with(one, item, 1, call) is not None:
            return kept[position]
    first = _first_with(indexed, item, kept.length, call)
    return None if first is None else kept[first]


def _index_of(
    test: HistoryTest, place: ConditionScope, history: History
) -> tuple[object, Callable[[], _Searched]]:
    """Return what indexes calls for this test, and the key under which decisions share it."""
    if isinstance(test, checked.FoundInLabelled):
        labels = [(label, label_test(label, place)) for label in test.labels]
        return fold_key(test.labels, "texts"), lambda: LabelledTexts(labels)
    calls = PastList(test.calls, place).as_of(history)
    if isinstance(test, checked.FoundInResults):
        return calls.key("words"), lambda: ResultWords(calls)
    steps = test.steps
    return calls.key("values", steps), lambda: FieldValues(calls, steps)


def _first_with(searched: _Searched, item: Value, length: int, call: Evaluation) -> int | None:
    match searched:
        case FieldValues():
            return searched.first_with(item, length)
        case ResultWords():
            return searched.first_with(item, length, call.paths)
        case LabelledTexts():
            return searched.first_with(wanted_texts(item), length)


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
            readings = search_readings(leaf)
            if any(text in reading for text in wanted_texts(item) for reading in readings):
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
