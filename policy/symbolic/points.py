"""`Points`: which resources there can be, as a theory beneath the search.

Some tests say that there is a resource in or outside of sets, others what holds for all resources.
Where no resource can be what one of the former and all of the latter say, they exclude each other.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from policy.solving import ALL, Characters, Clauses, Language, OutOfSteps, Steps, contains, meeting
from policy.symbolic.strings import (
    MOST_STATES_IN_ALL,
    MOST_STATES_OF_AN_EXAMPLE,
    smallest_conflict,
)

_MOST_AT_ONCE = 10  # clauses for one point of one assignment
_ENOUGH = 20  # clauses for one assignment


@dataclass(frozen=True, slots=True)
class Demand:
    """What a resource is in, and outside of, if a literal holds."""

    literal: int
    inside: tuple[Language, ...] = ()
    outside: tuple[Language, ...] = ()


class Points:
    """The resources of one kind that a call accesses. `within` is what all of them are in."""

    def __init__(self, clauses: Clauses, within: Language) -> None:
        self._clauses = clauses
        self._within = within
        # That there is a resource at all.
        self._any = clauses.variable()
        self._some: list[Demand] = []
        self._all: list[Demand] = []
        self._left = MOST_STATES_IN_ALL
        clauses.theories.append(self)

    def some(self, demand: Demand) -> None:
        """Note that, if the literal holds, there is such a resource."""
        self._clauses.require(-demand.literal, self._any)
        self._some.append(demand)

    def all(self, demand: Demand) -> None:
        """Note that, if the literal holds, every resource is such a one."""
        self._all.append(demand)

    def refute(self, holding: frozenset[int]) -> list[list[int]]:
        """Return clauses that exclude what the assignment says of resources, if it cannot be.

        What is said of all resources is looked at first: most points are no more than that.
        """
        points = [point for point in self._some if point.literal in holding]
        if not points:
            return []
        common = [demand for demand in self._all if demand.literal in holding]
        known: list[str] = []
        found = list(self._conflicts(Demand(self._any), common, known))
        for point in () if found else points:
            if not any(_is_such(text, point) for text in known):
                found += self._conflicts(point, common, known)
            if len(found) >= _ENOUGH:
                break
        return found

    def examples(
        self,
        holding: frozenset[int],
        within: tuple[Language, Language],
        printed: Characters,
    ) -> Iterator[str]:
        """Yield short resources that are all that an assignment says there is, or one for all.

        The resources are in the first of `within`, and outside of the second; they consist of
        `printed` characters, if some such do.
        """
        common = [demand for demand in self._all if demand.literal in holding]
        points = [point for point in self._some if point.literal in holding]
        known: list[str] = []
        for each in ([point, *common] for point in points) if points else [common]:
            if any(_is_such(text, each[0]) for text in known):
                continue
            inside = tuple(one for demand in each for one in demand.inside)
            outside = tuple(one for demand in each for one in demand.outside)
            found = _example((within[0], *inside), (within[1], *outside), printed)
            if found is not None:
                known.append(found)
                yield found

    def _conflicts(
        self, point: Demand, common: list[Demand], known: list[str]
    ) -> Iterator[list[int]]:
        """Yield clauses that say which demands exclude each other.

        If they do not, add a resource that is all of what is demanded to those `known`.
        """
        demands = [point, *common]
        for count in range(_MOST_AT_ONCE):
            if self._left <= 0:
                return
            inside, outside = _sides(demands)
            conflict, used = smallest_conflict((self._within, *inside), tuple(outside))
            self._left -= used
            if not isinstance(conflict, tuple):
                if conflict is not None and not count:
                    known.append(conflict)
                return
            ins, outs = conflict
            literals = dict.fromkeys(
                (*(inside[one] for one in ins if one in inside), *(outside[one] for one in outs))
            )
            literals.setdefault(point.literal)
            yield [-literal for literal in literals]
            # Without one of the demands, the rest may exclude each other as well.
            last = next((one for one in reversed(literals) if one != point.literal), None)
            if last is None:
                return
            demands = [demand for demand in demands if demand.literal != last]


def _is_such(text: str, demand: Demand) -> bool:
    return all(contains(one, text) for one in demand.inside) and not any(
        contains(one, text) for one in demand.outside
    )


def _sides(demands: Iterable[Demand]) -> tuple[dict[Language, int], dict[Language, int]]:
    """Return the languages of demands, each with the literal of the first that has it."""
    inside: dict[Language, int] = {}
    outside: dict[Language, int] = {}
    for demand in demands:
        for one in demand.inside:
            inside.setdefault(one, demand.literal)
        for one in demand.outside:
            outside.setdefault(one, demand.literal)
    return inside, outside


def _example(
    inside: tuple[Language, ...], outside: tuple[Language, ...], printed: Characters
) -> str | None:
    for within in (printed, ALL):
        try:
            steps = Steps(MOST_STATES_OF_AN_EXAMPLE)
            found = meeting(inside, outside, within=within, steps=steps).text
        except OutOfSteps:
            return None
        if found is not None:
            return found
    return None
