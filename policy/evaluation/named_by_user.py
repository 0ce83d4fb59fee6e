"""`named by user`: whether every value stands in what the user wrote."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from policy.evaluation.condition_scope import ValueOf
from policy.evaluation.evaluation import Evaluation
from policy.evaluation.expressions import elements
from policy.evaluation.truth import ABSENT, Absent, Indeterminate, Truth, Value, all_true
from policy.values import Unreadable, UserMessages

_MISSING = Indeterminate("an element is absent")


def compile_named_by_user(value: ValueOf) -> Callable[[Evaluation], Truth | Absent]:
    """Return the test of a value, or of each element of a list; an empty list is absent."""

    def decide(call: Evaluation) -> Truth | Absent:
        items = elements(value(call))
        if isinstance(items, (Absent, Indeterminate)):
            return items
        if not items:
            return ABSENT
        said = call.said
        if not isinstance(said, UserMessages):
            return said
        return all_true(_is_named(item, said, call) for item in items)

    return decide


def named_values(value: ValueOf, call: Evaluation) -> Iterator[tuple[Value, str]]:
    """Yield each value, and in which message it first stands."""
    items, said = elements(value(call)), call.said
    if isinstance(items, (Absent, Indeterminate)) or not isinstance(said, UserMessages):
        return
    for item in items:
        place = said.message_with(item, call.paths)
        yield item, _message(place if isinstance(place, int) else None, said)


def _message(place: int | None, said: UserMessages) -> str:
    if said.missing is None:
        return "nowhere in what the user wrote" if place is None else _number(place)
    if place is None:
        return "nowhere in what is kept of what the user wrote"
    return f"{_number(place)} of those that are kept"


def _number(place: int) -> str:
    return f"in the user's message {place + 1}"


def _is_named(item: Value, said: UserMessages, call: Evaluation) -> Truth:
    if item is None or item is ABSENT:
        return _MISSING
    if isinstance(item, Indeterminate):
        return item
    place = said.message_with(item, call.paths)
    if isinstance(place, Unreadable):
        return Indeterminate(place.reason, about="said")
    return place is not None
