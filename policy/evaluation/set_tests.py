"""Membership in sets: compiles each kind of set to a function in three-valued logic."""

from __future__ import annotations

from dataclasses import replace
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
    of_inline_code,
    prepared_paths,
)
from policy.programs import CommandPattern, Profiles
from policy.values import (
    ByInlineCode,
    MayBeRedirected,
    Path,
    PathContext,
    PreparedPaths,
    Unreadable,
    read_endpoint,
    read_path,
)

# How much of a tree must be in the set: some part of it, or all of it.
Extent: TypeAlias = Literal["some", "all"]


class SetTest:
    """The membership test of one set, for values parsed as the set's type requires.

    `some` is whether some part of a value is in the set, `whole` whether all of it is, None where
    that is unknown. `profiles` are those of the programs in command patterns.
    `redirections_covered`: another clause of the rule covers redirections of commands that no
    pattern contains. Without `prepared`, patterns and nested sets are tested one by one.
    `inline_code` is False where a set around this one excludes what inline code runs.
    """

    __slots__ = ("commands", "kind", "redirections_covered", "some", "whole")

    def __init__(
        self,
        values: checked.ValueSet,
        profiles: Profiles,
        *,
        redirections_covered: bool = False,
        prepared: bool = True,
        inline_code: bool | None = None,
    ) -> None:
        # One pattern may cover a command, and one of another set what it runs: `xargs wc`. One item
        # may hold a path as spelled, and one of another set where it leads.
        values = replace(values, included=_merged(values.included))
        if values.kind == "commands" and inline_code is None:
            inline_code = of_inline_code((), values.excluded)
        part = partial(
            SetTest,
            profiles=profiles,
            redirections_covered=redirections_covered,
            prepared=prepared,
            inline_code=inline_code,
        )
        self.kind = values.kind
        if self.kind == "commands":
            values = _with_plain_sets_merged(values)
        parts = tuple(p for p in values.included if not isinstance(p, checked.ValueSet))
        outs = tuple(p for p in values.excluded if not isinstance(p, checked.ValueSet))
        if values.kind == "commands":
            outs = tuple(p for p in outs if not isinstance(p, checked.InlineCodeItem))
        nested_outs = [part(p) for p in values.excluded if isinstance(p, checked.ValueSet)]
        nested = [part(p) for p in values.included if isinstance(p, checked.ValueSet)]
        own = command_patterns(parts, profiles) if self.kind == "commands" else ()
        # The patterns of all included items, to explain what none of them covers.
        self.commands: tuple[CommandPattern, ...] = (
            *own,
            *(pattern for inner in nested for pattern in inner.commands),
        )
        # Plain items and plain exceptions are tested together, so that a path with different
        # readings is tested against the whole set and not item by item.
        items = item_tests(
            values.kind,
            parts,
            outs if not nested else (),
            profiles=profiles,
            redirections_covered=redirections_covered,
            prepared=prepared,
            inline_code=inline_code,
        )
        self.redirections_covered = redirections_covered
        self.some, self.whole = items.some, items.whole
        if not (nested or nested_outs):
            return
        apart = [part(checked.ValueSet(kind=values.kind, included=outs))] if nested and outs else []
        # A tree is excluded only if all of it is; some part is in if not all is excluded.
        excluded = (*nested_outs, *apart)
        self.some = _together(
            [items.some, *(inner.some for inner in nested)], [out.whole for out in excluded]
        )
        self.whole = _together(
            [items.whole, *(inner.whole for inner in nested)], [out.some for out in excluded]
        )
        if prepared:
            self._flatten(values)

    def holds(
        self, thing: Any, call: Evaluation, paths: PathContext, *, extent: Extent
    ) -> bool | None:
        """Return whether the value is in the set; None where that is unknown."""
        return (self.some if extent == "some" else self.whole)(thing, call, paths)

    def _flatten(self, values: checked.ValueSet) -> None:
        """Merge nested sets for a single look-up, where the result is the same."""
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


def _merged(parts: tuple[checked.SetPart, ...]) -> tuple[checked.SetPart, ...]:
    """Return the items of sets in place of these, where a set has no exceptions."""
    merged: list[checked.SetPart] = []
    for part in parts:
        if isinstance(part, checked.ValueSet) and not part.excluded:
            merged += _merged(part.included)
        else:
            merged.append(part)
    return tuple(merged)


def _together(included: list[ItemTest], excluded: list[ItemTest]) -> ItemTest:
    """Return the test of whether an included set contains a value, and no excluded one does."""

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
        # A set that says nothing about unnamed resources excludes none of them.
        unnamed = isinstance(thing, MayBeRedirected | ByInlineCode)
        return None if out is None and not unnamed else inside

    return holds


def _of_one_reading(paths: PreparedPaths, *, meets: bool, otherwise: ItemTest) -> ItemTest:
    """Return the test of a set merged with all nested sets, for a path with a single reading.

    Where readings differ, each set is tested separately; but a path that is in none of them in any
    reading is in none.
    """
    look_up = paths.overlaps if meets else paths.within

    def holds(thing: Any, call: Evaluation, context: PathContext) -> bool | None:
        if isinstance(thing, Path):
            if paths.has_one_reading(thing, context):
                return look_up(thing, context)
            if paths.certainly_misses(thing, context, meets=meets):
                return False
        return otherwise(thing, call, context)

    return holds


def _with_plain_sets_merged(values: checked.ValueSet) -> checked.ValueSet:
    """Return the set with the items of nested sets that have no exceptions.

    A command and the commands that it runs may match patterns of different sets: of `xargs grep x`,
    `xargs *` is in one and `grep *` in another.
    """
    included: list[Any] = []
    for part in values.included:
        items = listed_items((part,))
        apart = items is None or any(isinstance(one, checked.InlineCodeItem) for one in items)
        included += (part,) if items is None or apart else items
    return replace(values, included=tuple(included))


def listed_items(parts: tuple[Any, ...]) -> tuple[Any, ...] | None:
    """Return the items of nested sets; None if one of them has exceptions."""
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
    """Parse a value as an item of a set of this type; `Unreadable` if it is not valid."""
    if kind in ("strings", "numbers", "addresses"):
        return value
    if not isinstance(value, str):
        return Unreadable(reason=f"not a string that could be one of the {kind}")
    if kind == "paths":
        return read_path(value, paths)
    if kind == "hosts":
        return read_endpoint(value)
    return Unreadable(reason="a command is compared by `runs`")
