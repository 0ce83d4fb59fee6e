"""Membership in sets: compiles each kind of set to a function in three-valued logic."""

from __future__ import annotations

from functools import partial
from typing import Any, Literal, TypeAlias

from policy.checks import checked
from policy.evaluation.evaluation import Evaluation
from policy.evaluation.set_items import (
    ItemTest,
    command_patterns,
    either_true,
    host_tests,
    item_tests,
    prepared_paths,
)
from policy.programs import CommandPattern, Invocation, Profiles
from policy.values import (
    MayBeRedirected,
    Path,
    PathContext,
    PreparedPaths,
    Unreadable,
    read_endpoint,
    read_path,
)

# How much of a tree must be in: some part of it, or all of it.
Extent: TypeAlias = Literal["some", "all"]


class SetTest:
    """The members of one set, for things already read as the set's kind needs.

    `some` tells of a thing whether some part of it is in, `whole` whether all of it is, None where
    that cannot be decided. `profiles` say what the programs of command patterns do.
    `redirections_covered`: another clause of the rule answers for the redirections of commands that
    no pattern spells out. Without `prepared` every pattern is tried in turn, and every set in it by
    itself.
    """

    __slots__ = ("commands", "kind", "some", "whole")

    def __init__(
        self,
        values: checked.ValueSet,
        profiles: Profiles,
        *,
        redirections_covered: bool = False,
        prepared: bool = True,
    ) -> None:
        part = partial(
            SetTest, profiles=profiles, redirections_covered=redirections_covered, prepared=prepared
        )
        self.kind = values.kind
        parts = tuple(p for p in values.included if not isinstance(p, checked.ValueSet))
        outs = tuple(p for p in values.excluded if not isinstance(p, checked.ValueSet))
        nested_outs = [part(p) for p in values.excluded if isinstance(p, checked.ValueSet)]
        nested = [part(p) for p in values.included if isinstance(p, checked.ValueSet)]
        own = command_patterns(parts, profiles) if self.kind == "commands" else ()
        # The patterns of all that it includes, for saying what none of them covers.
        self.commands: tuple[CommandPattern, ...] = (
            *own,
            *(pattern for inner in nested for pattern in inner.commands),
        )
        # Plain items and plain exclusions are judged together, so that a path whose readings
        # differ is judged by the whole set and not item by item.
        items = item_tests(
            values.kind,
            parts,
            outs if not nested else (),
            profiles=profiles,
            redirections_covered=redirections_covered,
            prepared=prepared,
        )
        self.some, self.whole = items.some, items.whole
        if not (nested or nested_outs):
            return
        apart = [part(checked.ValueSet(kind=values.kind, included=outs))] if nested else []
        # A tree is out only where all of it is; some part is in where not all is out.
        excluded = (*nested_outs, *apart)
        self.some = _together(
            [items.some, *(inner.some for inner in nested)], [out.whole for out in excluded]
        )
        self.whole = _together(
            [items.whole, *(inner.whole for inner in nested)], [out.some for out in excluded]
        )
        if prepared:
            self._flatten(values)

    def why_not(self, command: Invocation) -> str:
        """Say what keeps the command patterns from covering a command."""
        return "whether the command is one of these cannot be known"

    def holds(
        self, thing: Any, call: Evaluation, paths: PathContext, *, extent: Extent
    ) -> bool | None:
        """Tell whether the thing is in the set; None where that cannot be decided."""
        return (self.some if extent == "some" else self.whole)(thing, call, paths)

    def _flatten(self, values: checked.ValueSet) -> None:
        """Look things up in all sets at once, where that means the same as in one by one."""
        if values.kind not in ("paths", "hosts"):
            return
        parts, outs = listed_items(values.included), listed_items(values.excluded)
        if parts is None or outs is None:
            return
        if values.kind == "hosts":
            tests = host_tests(parts, outs, prepared=True)
            self.some, self.whole = tests.some, tests.whole
            return
        paths = prepared_paths(parts, outs)
        self.some = _of_one_reading(paths, meets=True, otherwise=self.some)
        self.whole = _of_one_reading(paths, meets=False, otherwise=self.whole)


def _together(included: list[ItemTest], excluded: list[ItemTest]) -> ItemTest:
    """Return the test that one of the included sets holds a thing, and none of the excluded."""

    def holds(thing: Any, call: Evaluation, paths: PathContext) -> bool | None:
        inside: bool | None = False
        for test in included:
            inside = either_true(inside, test(thing, call, paths))
        if inside is False:
            return False
        out: bool | None = False
        for test in excluded:
            out = either_true(out, test(thing, call, paths))
        if out is True:
            return False
        # A set that does not speak of hosts that nothing names takes none of them out.
        return None if out is None and not isinstance(thing, MayBeRedirected) else inside

    return holds


def _of_one_reading(paths: PreparedPaths, *, meets: bool, otherwise: ItemTest) -> ItemTest:
    """Return the test of a set and all sets in it as of one, for a path with one reading only.

    Where readings differ, each set says for itself what it cannot decide; but what is in none of
    them in any reading is in none.
    """
    look_up = paths.meets if meets else paths.within

    def holds(thing: Any, call: Evaluation, context: PathContext) -> bool | None:
        if isinstance(thing, Path):
            if paths.has_one_reading(thing, context):
                return look_up(thing, context)
            if paths.certainly_misses(thing, context, meets=meets):
                return False
        return otherwise(thing, call, context)

    return holds


def listed_items(parts: tuple[Any, ...]) -> tuple[Any, ...] | None:
    """Return the items of sets in sets; None where one of them has exceptions of its own."""
    found: list[Any] = []
    for part in parts:
        if not isinstance(part, checked.ValueSet):
            found.append(part)
            continue
        inner = listed_items(part.included)
        if inner is None or part.excluded:
            return None
        found += inner
    return tuple(found)


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
