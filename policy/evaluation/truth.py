"""The three truth values, and the two non-values: absent and indeterminate.

A test answers True, False or an `Indeterminate`; Kleene's strong logic combines them. A value is
JSON, a time, `ABSENT`, or an `Indeterminate` that says why it could not be read. `Unknown` is an
`Indeterminate` for what was never learnt: it alone lets `is present` and `is absent` decide.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final, TypeAlias, TypeVar, final

from policy.model import Doubt

_Call = TypeVar("_Call")


class Indeterminate:
    """An indeterminate result: `why` is one short sentence, `text` the test that it affects.

    `about` is what is not known for certain: a value of the call, if nothing else is named.
    """

    __slots__ = ("about", "text", "why")

    def __init__(self, why: str, text: str | None = None, about: Doubt = "values") -> None:
        self.why = why
        self.text = text
        self.about = about

    def __bool__(self) -> bool:
        raise TypeError("an indeterminate test has no truth value; compare with `is True`")

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.why!r})"

    def within(self, text: str) -> Indeterminate:
        """Return the same result for the test `text`, unless a smaller test is known."""
        return self if self.text is not None else Indeterminate(self.why, text, self.about)


def unknown_history(why: str, text: str | None = None) -> Indeterminate:
    """Return the result where earlier calls of the session are not known for certain."""
    return Indeterminate(why, text, "history")


def unknown_resources(why: str) -> Indeterminate:
    """Return the result where it is not known what the call accesses."""
    return Indeterminate(why, about="resources")


@final
class Unknown(Indeterminate):
    """An unknown fact: a context fact without a value, or an untrusted declaration by a server."""

    __slots__ = ()

    def __init__(self, why: str, text: str | None = None, about: Doubt = "facts") -> None:
        super().__init__(why, text, about)


@final
class PartialList(Indeterminate):
    """A list of earlier calls, of which some are not known; `items` are the others, in their order.

    From the index `sure_from` on, no element is missing. Whatever does not know of partial lists
    takes it for a value that could not be read.
    """

    __slots__ = ("items", "sure_from")

    def __init__(self, items: tuple[Any, ...], why: str, *, sure_from: int) -> None:
        super().__init__(why, about="history")
        self.items = items
        self.sure_from = sure_from


@final
class Absent:
    """The value of a field that the input does not have; `null` counts as absent."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "ABSENT"


ABSENT: Final = Absent()

Truth: TypeAlias = bool | Indeterminate
Value: TypeAlias = Any  # frozen JSON | datetime | date | timedelta | Absent | Indeterminate


def all_of(tests: Sequence[Callable[[_Call], Truth]]) -> Callable[[_Call], Truth]:
    """Return the conjunction of tests as a test, evaluated in order."""
    if len(tests) == 1:
        return tests[0]

    def test(call: _Call) -> Truth:
        indeterminate: Indeterminate | None = None
        for each in tests:
            truth = each(call)
            if truth is False:
                return False
            if truth is not True and indeterminate is None:
                indeterminate = truth
        return True if indeterminate is None else indeterminate

    return test


def any_of(tests: Sequence[Callable[[_Call], Truth]]) -> Callable[[_Call], Truth]:
    """Return the disjunction of tests as a test, evaluated in order."""

    def test(call: _Call) -> Truth:
        indeterminate: Indeterminate | None = None
        for each in tests:
            truth = each(call)
            if truth is True:
                return True
            if truth is not False and indeterminate is None:
                indeterminate = truth
        return False if indeterminate is None else indeterminate

    return test


def all_true(truths: Iterable[Truth]) -> Truth:
    """Return Kleene's conjunction; the first indeterminate one stands for all."""
    indeterminate: Indeterminate | None = None
    for truth in truths:
        if truth is False:
            return False
        if truth is not True and indeterminate is None:
            indeterminate = truth
    return True if indeterminate is None else indeterminate


def negated(truth: Truth) -> Truth:
    """Return Kleene's negation."""
    return truth if isinstance(truth, Indeterminate) else not truth
