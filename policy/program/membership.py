"""Is a thing in a set? Sets of a kind become functions of a thing that answer in three values."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from enum import Enum
from functools import partial
from typing import Any, Final, Literal, TypeAlias

from policy.checks import checked
from policy.commands import (
    CommandPattern,
    Invocation,
    PatternSet,
    Profiles,
    covers,
    fits,
    read_command_pattern,
    runs_any,
)
from policy.program.evaluation import Evaluation
from policy.values import (
    Endpoint,
    HostPattern,
    Path,
    PathContext,
    PathPattern,
    PreparedHosts,
    PreparedPaths,
    Unreadable,
    compare_numbers,
    compare_text,
    host_in,
    is_number,
    read_endpoint,
    read_host_pattern,
    read_path,
    read_path_pattern,
    recipient_in,
)

# How much of a tree must be in: some part of it, or all of it.
Extent: TypeAlias = Literal["some", "all"]
Holds: TypeAlias = Callable[[Any, Evaluation, PathContext], bool | None]
_ItemTest: TypeAlias = Callable[[Any, Evaluation, PathContext, Extent], bool | None]


class SetTest:
    """The members of one set. `holds` judges a thing already read as the set's kind needs.

    `profiles` say what the programs of command patterns do. `redirections_covered`: another clause
    of the rule answers for the redirections of commands that no pattern spells out. Without
    `prepared` every pattern is tried in turn, and every set in it by itself.
    """

    __slots__ = ("_excluded", "_flat", "_included", "_items", "commands", "kind")

    def __init__(
        self,
        values: checked.ValueSet,
        profiles: Profiles,
        *,
        redirections_covered: bool = False,
        prepared: bool = True,
    ) -> None:
        part = partial(
            SetTest,
            profiles=profiles,
            redirections_covered=redirections_covered,
            prepared=prepared,
        )
        self.kind = values.kind
        parts = tuple(p for p in values.included if not isinstance(p, checked.ValueSet))
        outs = tuple(p for p in values.excluded if not isinstance(p, checked.ValueSet))
        nested_outs = [part(p) for p in values.excluded if isinstance(p, checked.ValueSet)]
        nested = [part(p) for p in values.included if isinstance(p, checked.ValueSet)]
        own = _command_patterns(parts, profiles) if self.kind == "commands" else ()
        # The patterns of all that it includes, for saying what none of them covers.
        self.commands: tuple[CommandPattern, ...] = (
            *own,
            *(pattern for inner in nested for pattern in inner.commands),
        )
        # Plain items and plain exclusions are judged together, so that a path whose readings
        # differ is judged by the whole set and not item by item.
        self._items = _item_test(
            values.kind,
            parts,
            outs if not nested else (),
            profiles=profiles,
            redirections_covered=redirections_covered,
            prepared=prepared,
        )
        self._included = tuple(nested)
        apart = [part(checked.ValueSet(kind=values.kind, included=outs))] if nested else []
        self._excluded = (*nested_outs, *apart) if outs or nested_outs else ()
        self._flat = _flat_test(values) if prepared and (nested or nested_outs) else None

    def why_not(self, command: Invocation) -> str:
        """Say what keeps the command patterns from covering a command."""
        return "whether the command is one of these cannot be known"

    def holds(
        self, thing: Any, call: Evaluation, paths: PathContext, *, extent: Extent
    ) -> bool | None:
        """Tell whether the thing is in the set; None where that cannot be decided."""
        if self._flat is not None:
            answer = self._flat(thing, call, paths, extent)
            if answer is not _NOT_FLAT:
                return answer
        inside = self._items(thing, call, paths, extent)
        for part in self._included:
            inside = _or(inside, part.holds(thing, call, paths, extent=extent))
        if inside is False:
            return False
        out: bool | None = False
        for part in self._excluded:
            # A tree is out only where all of it is; some part is in where not all is out.
            other: Extent = "all" if extent == "some" else "some"
            out = _or(out, part.holds(thing, call, paths, extent=other))
        if out is True:
            return False
        return None if out is None else inside


class _NotFlat(Enum):
    """What the parts of a set have to be asked one by one."""

    NOT_FLAT = 1


_NOT_FLAT: Final = _NotFlat.NOT_FLAT
_FlatTest: TypeAlias = Callable[
    [Any, Evaluation, PathContext, Extent], bool | None | Literal[_NotFlat.NOT_FLAT]
]


def _flat_test(values: checked.ValueSet) -> _FlatTest | None:
    """Return a test of a set and all sets in it as of one; None where they are not as good as one.

    Of paths they are that for a path with one reading only: where readings differ, each set says
    for itself what it cannot decide.
    """
    if values.kind not in ("paths", "hosts"):
        return None
    parts, outs = _plain_items(values.included), _plain_items(values.excluded)
    if parts is None or outs is None:
        return None
    if values.kind == "hosts":
        return _host_items(parts, outs, prepared=True)
    whole = _prepared_paths(parts, outs)

    def holds(
        thing: Any, call: Evaluation, paths: PathContext, extent: Extent
    ) -> bool | None | Literal[_NotFlat.NOT_FLAT]:
        if paths.workspace is None or not isinstance(thing, Path):
            return _NOT_FLAT
        if not whole.has_one_reading(thing, paths):
            return _NOT_FLAT
        return whole.meets(thing, paths) if extent == "some" else whole.within(thing, paths)

    return holds


def _plain_items(parts: tuple[Any, ...]) -> tuple[Any, ...] | None:
    """Return the items of sets in sets; None where one of them has exceptions of its own."""
    found: list[Any] = []
    for part in parts:
        if not isinstance(part, checked.ValueSet):
            found.append(part)
            continue
        inner = _plain_items(part.included)
        if inner is None or part.excluded:
            return None
        found += inner
    return tuple(found)


def _or(left: bool | None, right: bool | None) -> bool | None:
    if left is True or right is True:
        return True
    return None if left is None or right is None else False


def _item_test(
    kind: checked.SetKind,
    parts: tuple[Any, ...],
    outs: tuple[Any, ...],
    *,
    profiles: Profiles,
    redirections_covered: bool,
    prepared: bool,
) -> _ItemTest:
    if kind == "paths":
        return _path_items(parts, outs, prepared=prepared)
    if kind == "hosts":
        return _host_items(parts, outs, prepared=prepared)
    if kind == "commands":
        return _command_items(
            PatternSet(_command_patterns(parts, profiles)),
            PatternSet(_command_patterns(outs, profiles)),
            redirections_covered=redirections_covered,
        )
    if kind == "addresses":
        return _address_items(parts, outs)
    if kind == "numbers":
        return _number_items(parts, outs)
    return _text_items(parts, outs)


def _readable(items: list[Any]) -> list[Any]:
    # The checker has read every item once and refused what cannot be read.
    return [item for item in items if not isinstance(item, Unreadable)]


def _path_items(parts: tuple[Any, ...], outs: tuple[Any, ...], *, prepared: bool) -> _ItemTest:
    whole = _prepared_paths(parts, outs)
    meets, within = whole.meets, whole.within
    if not prepared:
        meets, within = partial(whole.slowly, meets=True), partial(whole.slowly, meets=False)

    def holds(thing: Any, call: Evaluation, paths: PathContext, extent: Extent) -> bool | None:
        if not isinstance(thing, Path):
            return None
        return meets(thing, paths) if extent == "some" else within(thing, paths)

    return holds


def _prepared_paths(parts: tuple[Any, ...], outs: tuple[Any, ...]) -> PreparedPaths:
    return PreparedPaths(
        _path_patterns(parts),
        _path_patterns(outs),
        workspace=any(isinstance(part, checked.WorkspaceItem) for part in parts),
        without_workspace=any(isinstance(part, checked.WorkspaceItem) for part in outs),
    )


def _path_patterns(parts: tuple[Any, ...]) -> tuple[PathPattern, ...]:
    return tuple(_readable([read_path_pattern(p) for p in parts if isinstance(p, str)]))


def _host_items(parts: tuple[Any, ...], outs: tuple[Any, ...], *, prepared: bool) -> _ItemTest:
    included: tuple[HostPattern, ...] = tuple(_readable([read_host_pattern(p) for p in parts]))
    excluded: tuple[HostPattern, ...] = tuple(_readable([read_host_pattern(p) for p in outs]))
    if not prepared:

        def tried(thing: Any, call: Evaluation, paths: PathContext, extent: Extent) -> bool | None:
            if not isinstance(thing, Endpoint):
                return None
            return host_in(thing, included, excluded, call.hosts)

        return tried

    lookup = PreparedHosts(included, excluded).holds

    def holds(thing: Any, call: Evaluation, paths: PathContext, extent: Extent) -> bool | None:
        return lookup(thing, call.hosts) if isinstance(thing, Endpoint) else None

    return holds


def _command_patterns(parts: tuple[Any, ...], profiles: Profiles) -> tuple[CommandPattern, ...]:
    return tuple(_readable([read_command_pattern(part, profiles) for part in parts]))


def _command_items(
    included: PatternSet,
    excluded: PatternSet,
    *,
    redirections_covered: bool,
) -> _ItemTest:
    """Judge a command with all that it runs: some of it must fit, or all of it be covered."""

    def some(command: Invocation) -> bool | None:
        if not excluded:
            return runs_any(command, included)
        answer: bool | None = False
        for each in command.walk():
            alone = replace(each, inner=())
            found = _without(runs_any(alone, included), _any_fits(each, excluded))
            if found is True:
                return True
            answer = _or(answer, found)
        return answer

    def holds(thing: Any, call: Evaluation, paths: PathContext, extent: Extent) -> bool | None:
        if not isinstance(thing, Invocation):
            return None
        if extent == "some":
            return some(thing)
        inside = covers(thing, included, redirections_covered=redirections_covered)
        return _without(inside, runs_any(thing, excluded) if excluded else False)

    return holds


def _any_fits(command: Invocation, patterns: PatternSet) -> bool | None:
    answer: bool | None = False
    for pattern in patterns.near(command):
        answer = _or(answer, fits(command, pattern))
        if answer is True:
            return True
    return answer


def _without(inside: bool | None, out: bool | None) -> bool | None:
    if inside is False or out is True:
        return False
    return None if inside is None or out is None else True


def _address_items(parts: tuple[Any, ...], outs: tuple[Any, ...]) -> _ItemTest:
    def holds(thing: Any, call: Evaluation, paths: PathContext, extent: Extent) -> bool | None:
        if not isinstance(thing, str):
            return None
        return _without(recipient_in(thing, parts), recipient_in(thing, outs) if outs else False)

    return holds


def _number_items(parts: tuple[Any, ...], outs: tuple[Any, ...]) -> _ItemTest:
    def some(thing: Any, numbers: tuple[Any, ...]) -> bool | None:
        answer: bool | None = False
        for number in numbers:
            answer = _or(answer, compare_numbers("==", thing, float(number)))
        return answer

    def holds(thing: Any, call: Evaluation, paths: PathContext, extent: Extent) -> bool | None:
        return _without(some(thing, parts), some(thing, outs)) if is_number(thing) else None

    return holds


def _text_items(parts: tuple[Any, ...], outs: tuple[Any, ...]) -> _ItemTest:
    included, excluded = frozenset(parts), frozenset(outs)

    def holds(thing: Any, call: Evaluation, paths: PathContext, extent: Extent) -> bool | None:
        if not isinstance(thing, str):
            return None
        return compare_text(lambda text: text in included and text not in excluded, thing)

    return holds


def read_member(kind: checked.SetKind, value: Any, paths: PathContext) -> Any:
    """Read a value as a set of this kind compares it; `Unreadable` where it is none."""
    if kind in ("strings", "numbers", "addresses"):
        return value
    if not isinstance(value, str):
        return Unreadable(reason=f"no text to read as one of the {kind}")
    if kind == "paths":
        return read_path(value, paths)
    if kind == "hosts":
        return read_endpoint(value)
    return Unreadable(reason="a command is compared by `runs`")
