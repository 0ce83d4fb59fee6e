"""`ComparedValues`: conditions that compare values with each other, and with elements of lists.

They are read together: what one says of a number, a string or a list counts for the others.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any, Protocol

from policy.catalog import SchemaView
from policy.checks import checked
from policy.evaluation import Evaluation
from policy.solving import Clauses, Inequalities, LeftOpen
from policy.symbolic.comparing.comparisons import Comparisons, equalities_of
from policy.symbolic.comparing.element_truths import ElementTruths
from policy.symbolic.comparing.elements import Elements, put_together
from policy.symbolic.comparing.equal_texts import EqualTexts, Text
from policy.symbolic.comparing.field_quantities import FieldChoices, FieldQuantities
from policy.symbolic.comparing.quantities import is_closed
from policy.symbolic.comparing.suggested_values import suggested_values
from policy.symbolic.comparing.windows import Windows
from policy.symbolic.reading import Reading, Scope
from policy.symbolic.subjects import Subject
from policy.symbolic.truths import Truths, any_of

_NOW: Subject = ("now",)
_AN_EVENING = datetime(2026, 6, 1, 18, 30, tzinfo=UTC)


class Fields(FieldChoices, Protocol):
    """The values of fields and facts, with those that are strings."""

    def text_of(self, subject: Subject) -> Text | None:
        """Return the string that a field or fact may be; None if it is not modelled as one."""
        ...


class ComparedValues:
    """The comparisons of one call, whose fields and facts have the values of `fields`.

    `reading` reads the tests that they consist of; `tests` are all windows that will be asked
    about.
    """

    def __init__(
        self,
        clauses: Clauses,
        reading: Reading,
        fields: Fields,
        *,
        tests: Iterable[checked.Test],
        elements: Elements,
        view: SchemaView,
        call: Evaluation,
    ) -> None:
        self._clauses = clauses
        self._reading = reading
        self._elements = elements
        self._view = view
        self._numbers = Inequalities(clauses)
        self._quantities = FieldQuantities(
            clauses, self._numbers, view=view, fields=fields, call=call
        )
        self._equal_texts = EqualTexts(clauses, fields)
        self._comparisons = Comparisons(
            clauses, self._numbers, self._quantities.all, self._equal_texts
        )
        self._windows = Windows(clauses, self._quantities.all, tests=tests, call=call)
        self._element_truths = ElementTruths(clauses, elements, self._quantities.all, reading)

    def truth_of(self, test: checked.Test, scope: Scope) -> Truths | None:
        """Return the truth of a test; None if it is not about values that are compared."""
        if isinstance(test, checked.Comparison) and is_closed(test):
            return self._comparisons.truth_of(test, scope)
        if isinstance(test, checked.WindowTest):
            return self._windows.truth_of(test, scope)
        equalities = equalities_of(test)
        if equalities:
            return any_of(self._clauses, [self._reading.leaf(one, scope) for one in equalities])
        return self._element_truths.truth_of(test, scope)

    @property
    def left_open(self) -> LeftOpen:
        """Why some assignments were not looked into."""
        return self._numbers.left_open

    def suggest(self, found: dict[Subject, Any], holding: frozenset[int]) -> None:
        """Give fields and facts the values that an assignment compares.

        `found` has values that stand for those of the assignment.
        """
        for _ in range(2):  # what is equal to what is equal
            for one, other in self._equal_texts.equal(holding):
                found[other] = found.get(one)
        sizes = self._numbers.values(holding)
        found.update(suggested_values(self._quantities, sizes, holding, found))
        for moment in self._windows.moments(holding, found.get(_NOW) or _AN_EVENING):
            found[_NOW] = moment
        present = self._element_truths.present(holding)
        put_together(self._elements.lists, found, present=present, view=self._view)
