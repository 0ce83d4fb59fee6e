"""`NestedFields`: fields within objects of the input, `input.headers.a`, compared with constants.

Where the schema declares nothing but objects on the way, such a field has one of a few values that
stand for all. Those of two fields are chosen independently, though they may be in one object.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from itertools import islice
from typing import Any

from policy.catalog import FieldInfo, SchemaView
from policy.checks import checked
from policy.evaluation import ABSENT
from policy.solving import Clauses
from policy.symbolic.comparing.field_quantities import path_of
from policy.symbolic.field_values import accepted_values, bounds_in
from policy.symbolic.known_truths import KnownTruths
from policy.symbolic.reading import Choice, Scope, choices, compiled, table
from policy.symbolic.samples import compared_value, complete_samples, guessed_samples, is_strange
from policy.symbolic.situation import Situation, least_input
from policy.symbolic.subjects import Subject
from policy.symbolic.truths import Truths

_MOST_PATHS = 4  # within one field of the input, for which objects are made up
_MOST_VALUES = 8  # of each of them
# No field of a tool is called so.
_NESTED = "\0nested"


class NestedFields:
    """The fields within objects that tests are about; calls differ from `base` in them."""

    def __init__(
        self,
        clauses: Clauses,
        view: SchemaView,
        *,
        tests: Iterable[checked.Test],
        base: Situation,
        slots: int,
        known: KnownTruths,
    ) -> None:
        self._clauses = clauses
        self._view = view
        self._base = base
        self._slots = slots
        self._known = known
        self._tests: dict[Subject, list[checked.Test]] = {}
        for test in tests:
            path = _compared_path(test)
            if path is not None and _is_in_objects(view, path[1:]):
                self._tests.setdefault(path, []).append(test)
        self._choices: dict[Subject, list[Choice]] = {}

    def truth_of(self, test: checked.Test, scope: Scope) -> Truths | None:
        """Return the truth of a test; None if it is not about such a field alone.

        Comparisons are read with those of other numbers.
        """
        path = _compared_path(test)
        if path not in self._tests or isinstance(test, checked.Comparison):
            return None
        row = self._known.row((self._known.meaning_of(test), scope))
        return table(self._clauses, lambda: compiled(test, scope), self._choices_of(path), row)

    def _choices_of(self, path: Subject) -> Sequence[Choice]:
        found = self._choices.get(path)
        if found is None:
            view = _NestedView(self._view, path[1:])
            samples = complete_samples(self._tests[path], more=bounds_in(view, _NESTED))
            values = accepted_values(view, _NESTED, samples)
            within = [object_with(path[2:], value) for value in values if value is not ABSENT]
            # It may be absent because of any object on the way.
            without = (object_with(path[2:end], {}) for end in range(2, len(path)))
            found = self._choices[path] = choices(
                self._clauses,
                self._base,
                path[:2],
                (ABSENT, *without, *within),
                slots=self._slots,
                known=self._known,
            )
        return found


def nested_samples(
    subject: Subject, tests: Iterable[checked.Test], view: SchemaView
) -> Iterator[Mapping[str, Any]]:
    """Yield objects for a field of the input, of whose own fields tests are true or false."""
    node = view.node(subject[1:])
    least: Mapping[str, Any] = {} if node is None else least_input(node)
    about: dict[Subject, list[checked.Test]] = {}
    for test in tests:
        for path in _nested_paths(test):
            if path[:2] == subject:
                about.setdefault(path, []).append(test)
    before = [least]
    for path, those in islice(about.items(), _MOST_PATHS):
        samples = (*complete_samples(those), *guessed_samples(those))
        there = sorted((each for each in samples if each is not ABSENT), key=is_strange)
        values = there[: _MOST_VALUES * 2]
        made = [merged(each, path[2:], value) for value in values for each in before]
        yield from made
        before = [least, *made[:_MOST_VALUES]]


def object_with(names: tuple[str, ...], value: Any) -> Any:
    """Return an object with a value where the names lead; the value itself without names."""
    for name in reversed(names):
        value = {name: value}
    return value


def merged(base: Mapping[str, Any], names: tuple[str, ...], value: Any) -> Mapping[str, Any]:
    """Return an object with another value where the names lead."""
    first, rest = names[0], names[1:]
    inside = base.get(first)
    inside = inside if isinstance(inside, Mapping) else {}
    return {**base, first: merged(inside, rest, value) if rest else value}


def _compared_path(test: checked.Test) -> Subject | None:
    """Return the path of the field within an object that a test compares with constants."""
    value = compared_value(test)
    path = None if value is None else path_of(value)
    return path if path is not None and _is_nested(path) else None


def _nested_paths(node: Any) -> Iterator[Subject]:
    path = path_of(node) if isinstance(node, checked.FieldOf) else None
    if path is not None:
        if _is_nested(path):
            yield path
        return
    parts: Iterable[Any] = ()
    if isinstance(node, tuple):
        parts = node
    elif is_dataclass(node) and not isinstance(node, (type, checked.ValueSet)):
        parts = (getattr(node, part.name) for part in fields(node))
    for part in parts:
        yield from _nested_paths(part)


def _is_nested(path: Subject) -> bool:
    return path[0] == "input" and len(path) > len(("input", "field"))


def _is_in_objects(view: SchemaView, steps: tuple[str, ...]) -> bool:
    """Return whether nothing but objects can be on the way, and the value is declared."""
    above = [view.lookup(steps[: count + 1]) for count in range(len(steps) - 1)]
    declared = all(each.known and each.types <= {"object", "null"} for each in above)
    return declared and view.lookup(steps).known


class _NestedView(SchemaView):
    """A view in which the value at a path is a field that may be absent."""

    def __init__(self, view: SchemaView, steps: tuple[str, ...]) -> None:
        self.schema = view.schema
        self._view = view
        self._steps = steps

    def lookup(self, path: tuple[Any, ...]) -> FieldInfo:
        """Return what the schema declares of the value at a path."""
        return self._view.lookup((*self._steps, *path[1:]))

    def is_always_there(self, path: tuple[Any, ...]) -> bool:
        """Return False: an object on the way may be absent."""
        return False

    def node(self, path: tuple[Any, ...]) -> Any:
        """Return the explicit schema of the value at a path."""
        return self._view.node((*self._steps, *path[1:]))
