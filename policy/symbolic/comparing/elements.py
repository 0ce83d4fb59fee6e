"""`Elements`: elements of the lists that quantifiers and memberships are about.

`any x in LIST: C` is true because of some element, `all x in LIST: C` false because of one. Such an
element has a name, as if it were a field of the input, so that conditions about it are read like
those about fields. What holds for all elements holds for each that has a name.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields, is_dataclass, replace
from typing import Any, Literal

from policy.catalog import FieldInfo, SchemaView
from policy.checks import checked
from policy.symbolic.comparing.field_quantities import path_of
from policy.symbolic.comparing.quantities import has_tests, is_closed
from policy.symbolic.leaves import leaves_of
from policy.symbolic.situation import least_input
from policy.symbolic.subjects import HISTORY, RESOURCES, Subject, meaning_of, subjects_of

# Elements of one list, and tests of one list that are read.
_MOST_NAMED = 6
_MOST_TESTS = 40
# No field of a tool is called so.
_MARK = "\0element"


@dataclass(frozen=True, slots=True)
class ElementTest:
    """A test of the elements of a list: of `any` or `all` of them.

    `needs` are other values that have to be there, as the left side of a membership.
    """

    kind: Literal["any", "all"]
    source: checked.Value
    body: checked.Test
    slot: int
    needs: tuple[checked.Value, ...] = ()

    def of(self, element: checked.Value) -> checked.Test:
        """Return what the test asks of an element."""
        found: checked.Test = _with(self.body, self.slot, element)
        return found


@dataclass(slots=True)
class ListElements:
    """The elements of one list that have a name. The first one is any, if there is one at all."""

    source: checked.Value
    named: list[checked.Value]
    tests: list[ElementTest] = field(default_factory=list)
    # The element that decides a test, None if it has no name.
    deciding: dict[object, checked.Value | None] = field(default_factory=dict)


class Elements:
    """The lists of the tests of a reading, and the elements that have a name."""

    def __init__(self, tests: Iterable[checked.Test]) -> None:
        self._lists: dict[object, ListElements] = {}
        self._count = 0
        # Where the elements of a list are in the schema.
        self.steps: dict[str, tuple[str, ...]] = {}
        for test in tests:
            found = element_test(test)
            if found is not None:
                self._note(found)

    @property
    def lists(self) -> Iterable[ListElements]:
        """The lists with elements that have a name."""
        return self._lists.values()

    def tests(self) -> Iterator[checked.Test]:
        """Yield what tests ask of the elements that have a name."""
        for each in self._lists.values():
            for test in each.tests:
                for element in each.named:
                    yield from leaves_of(test.of(element))

    def list_of(self, test: ElementTest) -> ListElements | None:
        """Return the list that a test is about; None if it is not read."""
        found = self._lists.get(meaning_of(test.source))
        return found if found is not None and _key(test) in found.deciding else None

    def decides(self, test: ElementTest) -> checked.Value | None:
        """Return the element that decides a test, None if it has no name."""
        return self._lists[meaning_of(test.source)].deciding[_key(test)]

    def view(self, view: SchemaView) -> SchemaView:
        """Return a view in which elements are fields."""
        return _ElementView(view, self.steps) if self.steps else view

    def _note(self, test: ElementTest) -> None:
        key = meaning_of(test.source)
        found = self._lists.get(key)
        if found is None:
            found = self._lists[key] = ListElements(test.source, [])
            found.named.append(self._named(test.source))
        if _key(test) in found.deciding or len(found.tests) >= _MOST_TESTS:
            return
        found.tests.append(test)
        found.deciding[_key(test)] = None
        if len(found.named) <= _MOST_NAMED:
            found.named.append(self._named(test.source))
            found.deciding[_key(test)] = found.named[-1]

    def _named(self, source: checked.Value) -> checked.Value:
        name = f"{_MARK} {self._count}"
        self._count += 1
        path = path_of(source)
        self.steps[name] = path[1:] if path is not None and path[0] == "input" else ()
        return checked.FieldOf(base=checked.Fact(path=("input",)), name=name)


def element_test(test: checked.Test) -> ElementTest | None:
    """Return what a test says of the elements of a list; None if it is not about any, or not read.

    The list may not be about earlier calls, of which some may be unknown, nor depend on an element
    of another list.
    """
    match test:
        case checked.Quantified(kind=kind, slot=slot, index_slot=None, source=source, test=body):
            found = ElementTest(kind, source, body, slot)
        case checked.Membership(left=left, right=right) if _is_list(right):
            assert not isinstance(right, checked.ValueSet)
            equal = checked.Comparison(
                op="==", left=left, right=checked.Variable(slot=_OWN), text=test.text
            )
            found = ElementTest("any", right, equal, _OWN, needs=(left,))
        case _:
            return None
    depends = subjects_of(found.source) | subjects_of(found.body)
    closed = is_closed(found.source) and is_closed(found.body, frozenset({found.slot}))
    is_read = closed and bool(subjects_of(found.source)) and not has_tests(found.source)
    is_read = is_read and not _has_quantifiers(found.body)
    return found if is_read and depends.isdisjoint((RESOURCES, HISTORY)) else None


# The slot of a membership's element; those of rules are not negative.
_OWN = -1


def _is_list(right: checked.ValueSet | checked.Value) -> bool:
    return not isinstance(right, (checked.ValueSet, checked.ListOf, checked.Constant))


def _has_quantifiers(test: checked.Test) -> bool:
    return any(isinstance(leaf, checked.Quantified) for leaf in leaves_of(test))


def _key(test: ElementTest) -> object:
    """Return the same for tests that ask the same of the elements of a list."""
    body = meaning_of(test.of(_ANY_ELEMENT))
    return test.kind, body, bool(test.needs)


_ANY_ELEMENT = checked.FieldOf(base=checked.Fact(path=("input",)), name=_MARK)


def _with(node: Any, slot: int, element: checked.Value) -> Any:
    """Return a part of a condition with an element in the place of its variable."""
    if isinstance(node, checked.Variable):
        return element if node.slot == slot else node
    if isinstance(node, tuple):
        return tuple(_with(part, slot, element) for part in node)
    if not is_dataclass(node) or isinstance(node, (type, checked.ValueSet, checked.Constant)):
        return node
    changed: Mapping[str, Any] = {
        part.name: _with(getattr(node, part.name), slot, element)
        for part in fields(node)
        if part.init
    }
    return replace(node, **changed)


class _ElementView(SchemaView):
    """A view in which elements are fields, as their lists declare them."""

    def __init__(self, view: SchemaView, steps: Mapping[str, tuple[str, ...]]) -> None:
        self.schema = view.schema
        self._view = view
        self._steps = steps

    def lookup(self, path: tuple[Any, ...]) -> FieldInfo:
        """Return what the schema declares of the value at a path."""
        steps = self._steps_of(path)
        return FieldInfo() if steps is None else self._view.lookup(steps)

    def is_always_there(self, path: tuple[Any, ...]) -> bool:
        """Return whether every input has a field; a list may have no elements."""
        return path[0] not in self._steps and self._view.is_always_there(path)

    def node(self, path: tuple[Any, ...]) -> Any:
        """Return the explicit schema of the value at a path."""
        steps = self._steps_of(path)
        return None if steps is None else self._view.node(steps)

    def _steps_of(self, path: tuple[Any, ...]) -> tuple[Any, ...] | None:
        """Return the path in the schema; None where elements are not declared for certain."""
        if not path or path[0] not in self._steps:
            return path
        steps = self._steps[path[0]]
        types = [self._view.lookup(steps[: count + 1]).types for count in range(len(steps))]
        on_the_way = all(each <= {"object", "null"} for each in types[:-1])
        if not steps or not on_the_way or not types[-1] <= {"list", "null"}:
            return None
        return (*steps, "*", *path[1:])


def put_together(
    lists: Iterable[ListElements],
    found: dict[Subject, Any],
    *,
    present: frozenset[str],
    view: SchemaView,
) -> None:
    """Put the values of elements together to lists, and what is missing into objects.

    `present` are the names of the elements that there are.
    """
    for subject, value in found.items():
        node = view.node(subject[1:]) if isinstance(value, dict) else None
        if node is not None and subject[0] == "input":
            found[subject] = {**least_input(node), **value}
    for each in lists:
        path = path_of(each.source)
        names = [element.name for element in each.named if isinstance(element, checked.FieldOf)]
        values = [found.pop(("input", name), None) for name in names]
        known = [v for name, v in zip(names, values, strict=True) if name in present]
        distinct: list[Any] = []
        for value in known:
            if value is not None and value not in distinct:
                distinct.append(value)
        if path is not None and distinct and len(path) == 2:
            found[path] = tuple(distinct)
