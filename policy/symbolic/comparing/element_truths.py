"""`ElementTruths`: the truth of quantifiers and memberships, by elements that have a name."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from policy.checks import checked
from policy.solving import Clauses
from policy.symbolic.comparing.elements import Elements, ElementTest, ListElements, element_test
from policy.symbolic.comparing.quantities import Quantities
from policy.symbolic.reading import Reading, Scope, truth_of
from policy.symbolic.truths import Truths, unknown


@dataclass(frozen=True, slots=True)
class _List:
    """What a list is: literals that it is absent, unclear or empty, and what elements it has."""

    absent: int
    unclear: int
    empty: int
    present: dict[str, int]


class ElementTruths:
    """The tests of elements in one call. `reading` reads what they ask of an element."""

    def __init__(
        self, clauses: Clauses, elements: Elements, quantities: Quantities, reading: Reading
    ) -> None:
        self._clauses = clauses
        self._elements = elements
        self._quantities = quantities
        self._reading = reading
        self._lists: dict[int, _List] = {}

    def truth_of(self, test: checked.Test, scope: Scope) -> Truths | None:
        """Return the truth of a test; None if it is not read by elements."""
        asked = element_test(test)
        found = None if asked is None else self._elements.list_of(asked)
        if asked is None or found is None:
            return None
        truth = unknown(self._clauses)
        _Requirements(self._clauses, asked, self._state(found, asked, scope), truth).add(
            found.named,
            self._elements.decides(asked),
            lambda element: self._body(asked, element, scope),
            absent_is_false=scope.absent_is_false,
        )
        return truth

    def present(self, holding: frozenset[int]) -> frozenset[str]:
        """Return the names of elements that there are in an assignment."""
        return frozenset(
            name
            for each in self._lists.values()
            for name, literal in each.present.items()
            if literal in holding
        )

    def _body(self, test: ElementTest, element: checked.Value, scope: Scope) -> Truths:
        # In a membership, nothing is equal to an element that is `null`, and it is indeterminate.
        inner = replace(scope, absent_is_false=False) if test.needs else scope
        return truth_of(test.of(element), inner, self._reading)

    def _state(self, found: ListElements, test: ElementTest, scope: Scope) -> _List:
        """Return what the list is, with what else the test needs."""
        known = self._list(found, scope)
        if not test.needs:
            return known
        both, any_of = self._clauses.all_of, self._clauses.any_of
        needed = [self._quantities.of(value, scope) for value in test.needs]
        unclear = any_of([known.unclear, *(each.unclear for each in needed)])
        absent = any_of([known.absent, *(each.absent for each in needed)])
        return replace(known, unclear=unclear, absent=both([-unclear, absent]))

    def _list(self, found: ListElements, scope: Scope) -> _List:
        known = self._lists.get(id(found))
        if known is None:
            source, clauses = self._quantities.of(found.source, scope), self._clauses
            empty = clauses.all_of([-source.absent, -source.unclear, clauses.variable()])
            some = clauses.all_of([-source.absent, -source.unclear, -empty])
            first, *others = (_name(element) for element in found.named)
            present = {first: some, **{name: clauses.variable() for name in others}}
            for name in others:
                clauses.require(-present[name], some)
            known = _List(source.absent, source.unclear, empty, present)
            self._lists[id(found)] = known
        return known


@dataclass(frozen=True, slots=True)
class _Requirements:
    """What is required of the truth of a test of elements."""

    clauses: Clauses
    test: ElementTest
    known: _List
    truth: Truths

    def add(
        self,
        named: Iterable[checked.Value],
        deciding: checked.Value | None,
        body: Callable[[checked.Value], Truths],
        *,
        absent_is_false: bool,
    ) -> None:
        """Require what the engine would say; `deciding` is an element that decides the test."""
        require, known = self.clauses.require, self.known
        # For `any`, one that is true decides, and makes it true; for `all`, one that is false.
        is_any = self.test.kind == "any"
        stops, other = (
            (self.truth.holds, self.truth.fails) if is_any else (self.truth.fails, self.truth.holds)
        )
        # What an absent list, and for `all` an empty one, gives.
        nothing = [known.absent] if is_any else [known.absent, known.empty]
        for each in nothing:
            require(-each, self.truth.fails if absent_is_false else -self.truth.fails)
            require(-each, -self.truth.holds)
        if is_any:
            require(-known.empty, known.absent, known.unclear, self.truth.fails)
        require(-known.unclear, -self.truth.holds)
        require(-known.unclear, -self.truth.fails)
        for element in named:
            there, said = known.present[_name(element)], body(element)
            stop, rest = (said.holds, said.fails) if is_any else (said.fails, said.holds)
            require(-there, -stop, stops)
            require(-other, *nothing, -there, rest)
            if element == deciding:
                require(-stops, *nothing, there)
                require(-stops, *nothing, stop)
                indeterminate = (self.truth.holds, self.truth.fails, known.unclear, *nothing)
                require(*indeterminate, there)
                require(*indeterminate, -rest)


def _name(element: checked.Value) -> str:
    assert isinstance(element, checked.FieldOf)
    return element.name
