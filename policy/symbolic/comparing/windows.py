"""`Windows`: windows of the week, of which a time may be in several.

The week is divided where a window of the rules opens or closes. What a window says of each part is
asked of the engine; zones are independent of each other.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from policy.checks import checked
from policy.evaluation import Evaluation
from policy.solving import Clauses
from policy.symbolic.comparing.quantities import Quantities, is_closed
from policy.symbolic.known_truths import result
from policy.symbolic.reading import Scope, compiled
from policy.symbolic.subjects import meaning_of
from policy.symbolic.truths import Truths
from policy.values import Unreadable, read_zone

_DAY = 24 * 60
_MONDAY = datetime(2026, 6, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class _Week:
    """The week of a value in one zone: the minutes that stand for its parts, each with a literal.

    `read` is the literal that the time can be read in the zone.
    """

    parts: Mapping[int, int]
    read: int


class Windows:
    """The windows of one call. `tests` are all that will be asked about, `call` is any call."""

    def __init__(
        self,
        clauses: Clauses,
        quantities: Quantities,
        *,
        tests: Iterable[checked.Test],
        call: Evaluation,
    ) -> None:
        self._clauses = clauses
        self._quantities = quantities
        self._call = call
        self._minutes: dict[tuple[object, str], set[int]] = {}
        self._weeks: dict[tuple[object, str], _Week] = {}
        for test in tests:
            if isinstance(test, checked.WindowTest):
                self._minutes.setdefault(_key(test), {0}).update(_borders(test))

    def truth_of(self, test: checked.WindowTest, scope: Scope) -> Truths | None:
        """Return the truth of a test; None if it is not read."""
        if not is_closed(test) or isinstance(read_zone(test.zone), Unreadable):
            return None
        value = self._quantities.of(test.left, scope)
        week = self._week(test)
        is_inside = self._clauses.any_of(
            literal for minute, literal in week.parts.items() if self._is_in(test, minute, scope)
        )
        both, any_of = self._clauses.all_of, self._clauses.any_of
        fails = both([value.moment, week.read, -is_inside])
        if scope.absent_is_false:
            fails = any_of([fails, value.absent])
        return Truths(both([value.moment, week.read, is_inside]), fails)

    def moments(self, holding: frozenset[int], now: datetime) -> Iterator[datetime]:
        """Yield moments from `now` on, each in that part of a week which an assignment has."""
        for (value, zone), week in self._weeks.items():
            place = read_zone(zone)
            if value != meaning_of(_NOW) or isinstance(place, Unreadable):
                continue
            for minute, literal in week.parts.items():
                if literal in holding:
                    yield _next(now.astimezone(place), minute).astimezone(UTC)

    def _week(self, test: checked.WindowTest) -> _Week:
        key = _key(test)
        found = self._weeks.get(key)
        if found is None:
            minutes = sorted(self._minutes.get(key, {0}))
            parts = {minute: self._clauses.variable() for minute in minutes}
            self._clauses.exactly_one(tuple(parts.values()))
            found = self._weeks[key] = _Week(parts, self._clauses.variable())
        return found

    def _is_in(self, test: checked.WindowTest, minute: int, scope: Scope) -> bool:
        moment = checked.Constant(value=_MONDAY + timedelta(minutes=minute))
        asked = compiled(replace(test, left=moment, zone="UTC"), scope)
        return result(asked, self._call) is True


_NOW = checked.Fact(path=("now",))


def _key(test: checked.WindowTest) -> tuple[object, str]:
    return meaning_of(test.left), test.zone


def _borders(test: checked.WindowTest) -> Iterator[int]:
    for day in range(7):
        for minute in (0, test.start, test.end):
            yield day * _DAY + minute % _DAY


def _next(now: datetime, minute: int) -> datetime:
    """Return the next time of this minute of the week."""
    start = now.replace(hour=0, minute=0, second=0, microsecond=0)
    found = start + timedelta(days=(minute // _DAY - start.weekday()) % 7, minutes=minute % _DAY)
    return found if found >= now else found + timedelta(days=7)
