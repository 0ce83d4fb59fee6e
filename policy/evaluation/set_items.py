"""Compiles the items of a set to two functions: inside, and possibly inside.

`some` is whether some part of the value matches an item, `whole` whether all of it does: they
differ for paths with everything below them, and for commands that run others.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeAlias

from policy.checks import checked
from policy.evaluation.evaluation import Evaluation
from policy.programs import (
    CommandPattern,
    Invocation,
    PatternSet,
    Profiles,
    covers,
    matches_command,
    read_command_pattern,
    runs_any,
)
from policy.values import (
    REDIRECTED,
    ByInlineCode,
    Endpoint,
    HostPattern,
    MayBeRedirected,
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
    read_host_pattern,
    read_path_pattern,
    recipient_in,
)

_Answer: TypeAlias = bool | None
ItemTest: TypeAlias = Callable[[Any, Evaluation, PathContext], _Answer]


@dataclass(frozen=True, slots=True)
class ItemTests:
    """Both tests of the same items."""

    some: ItemTest
    whole: ItemTest


def item_tests(
    kind: checked.SetKind,
    parts: tuple[Any, ...],
    outs: tuple[Any, ...],
    *,
    profiles: Profiles,
    redirections_covered: bool,
    prepared: bool,
    inline_code: bool | None = None,
) -> ItemTests:
    """Return the tests of `parts` without `outs`, all of one type.

    Without `prepared`, items are tested one by one. `inline_code` is what a set around these items
    says of commands that inline code may run.
    """
    if kind == "paths":
        return path_tests(parts, outs, prepared=prepared)
    if kind == "hosts":
        return host_tests(parts, outs, prepared=prepared)
    if kind == "commands":
        return _command_tests(
            PatternSet(command_patterns(parts, profiles)),
            PatternSet(command_patterns(outs, profiles)),
            redirections_covered=redirections_covered,
            inline_code=of_inline_code(parts, outs) if inline_code is None else inline_code,
        )
    if kind == "addresses":
        return _address_tests(parts, outs)
    if kind == "numbers":
        return _number_tests(parts, outs)
    return _text_tests(parts, outs)


def _readable(items: list[Any]) -> list[Any]:
    # The checker has parsed every item and rejected invalid ones.
    return [item for item in items if not isinstance(item, Unreadable)]


# ------------------------------------------------------------------ paths and hosts


def path_tests(parts: tuple[Any, ...], outs: tuple[Any, ...], *, prepared: bool) -> ItemTests:
    """Return the tests of items of paths."""
    paths = prepared_paths(parts, outs)
    meets, within = paths.overlaps, paths.within
    if not prepared:
        meets, within = (
            partial(paths.without_index, meets=True),
            partial(paths.without_index, meets=False),
        )

    inline_code = of_inline_code(parts, outs)

    def some(thing: Any, call: Evaluation, paths: PathContext) -> bool | None:
        if isinstance(thing, Path):
            return meets(thing, paths)
        return inline_code if isinstance(thing, ByInlineCode) else None

    def whole(thing: Any, call: Evaluation, paths: PathContext) -> bool | None:
        if isinstance(thing, Path):
            return within(thing, paths)
        return inline_code if isinstance(thing, ByInlineCode) else None

    return ItemTests(some, whole)


def prepared_paths(parts: tuple[Any, ...], outs: tuple[Any, ...]) -> PreparedPaths:
    """Return items of paths as a set in which paths are looked up."""
    return PreparedPaths(
        _path_patterns(parts),
        _path_patterns(outs),
        workspace=any(isinstance(part, checked.WorkspaceItem) for part in parts),
        without_workspace=any(isinstance(part, checked.WorkspaceItem) for part in outs),
    )


def _path_patterns(parts: tuple[Any, ...]) -> tuple[PathPattern, ...]:
    return tuple(_readable([read_path_pattern(p) for p in parts if isinstance(p, str)]))


def host_tests(parts: tuple[Any, ...], outs: tuple[Any, ...], *, prepared: bool) -> ItemTests:
    """Return the tests of items of hosts."""
    included, excluded = _host_patterns(parts), _host_patterns(outs)
    look_up = PreparedHosts(included, excluded).contains
    redirected = _of_redirected(parts, outs)
    inline_code = of_inline_code(parts, outs)

    def unnamed(thing: Any) -> bool | None:
        if isinstance(thing, MayBeRedirected):
            return redirected
        return inline_code if isinstance(thing, ByInlineCode) else None

    def looked_up(thing: Any, call: Evaluation, paths: PathContext) -> bool | None:
        if isinstance(thing, Endpoint):
            return look_up(thing, call.hosts)
        return unnamed(thing)

    def tried(thing: Any, call: Evaluation, paths: PathContext) -> bool | None:
        if isinstance(thing, Endpoint):
            return host_in(thing, included, excluded, call.hosts)
        return unnamed(thing)

    test = looked_up if prepared else tried
    return ItemTests(test, test)


def mentions_inline_code(values: checked.ValueSet) -> bool:
    """Return whether a set, or one inside it, says something about inline code."""
    return any(
        mentions_inline_code(part)
        if isinstance(part, checked.ValueSet)
        else isinstance(part, checked.InlineCodeItem)
        for part in (*values.included, *values.excluded)
    )


def of_inline_code(parts: tuple[Any, ...], outs: tuple[Any, ...]) -> bool | None:
    """Return whether the set contains what inline code accesses; None where it does not say."""
    if checked.InlineCodeItem() in outs:
        return False
    return True if checked.InlineCodeItem() in parts else None


def _of_redirected(parts: tuple[Any, ...], outs: tuple[Any, ...]) -> bool | None:
    """Return whether the set contains hosts that are not named; None where it does not say."""
    if REDIRECTED in outs:
        return False
    return True if REDIRECTED in parts else None


def prepared_hosts(parts: tuple[Any, ...], outs: tuple[Any, ...]) -> PreparedHosts:
    """Return items of hosts as a set in which endpoints are looked up."""
    return PreparedHosts(_host_patterns(parts), _host_patterns(outs))


def _host_patterns(parts: tuple[Any, ...]) -> tuple[HostPattern, ...]:
    return tuple(_readable([read_host_pattern(p) for p in parts if isinstance(p, str)]))


# ------------------------------------------------------------------ commands


def command_patterns(parts: tuple[Any, ...], profiles: Profiles) -> tuple[CommandPattern, ...]:
    """Return items of commands as patterns."""
    texts = (part for part in parts if isinstance(part, str))
    return tuple(_readable([read_command_pattern(text, profiles) for text in texts]))


def patterns_of(values: checked.ValueSet, profiles: Profiles) -> tuple[CommandPattern, ...]:
    """Return the patterns of all included items of a set, whatever its exceptions."""
    own = tuple(part for part in values.included if not isinstance(part, checked.ValueSet))
    nested = (part for part in values.included if isinstance(part, checked.ValueSet))
    inner = (pattern for part in nested for pattern in patterns_of(part, profiles))
    return (*command_patterns(own, profiles), *inner)


def _command_tests(
    included: PatternSet,
    excluded: PatternSet,
    *,
    redirections_covered: bool,
    inline_code: bool | None,
) -> ItemTests:
    """Return the tests of a command and all that it runs: some of it matches, or all is covered.

    With `inline_code`, commands with inline code match; if it is False, what the code may run does
    not.
    """

    def some(thing: Any, call: Evaluation, paths: PathContext) -> bool | None:
        if not isinstance(thing, Invocation):
            return None
        if inline_code is True and any(each.inline_code for each in thing.walk()):
            return True
        if inline_code is False:
            thing = _without_inline_code(thing)
        if not excluded:
            return runs_any(thing, included)
        answer: bool | None = False
        for each in thing.walk():
            alone = replace(each, inner=())
            found = _without(runs_any(alone, included), _any_matches(each, excluded))
            if found is True:
                return True
            answer = either_true(answer, found)
        return answer

    def whole(thing: Any, call: Evaluation, paths: PathContext) -> bool | None:
        if not isinstance(thing, Invocation):
            return None
        if inline_code is False and any(each.inline_code for each in thing.walk()):
            return False
        inside = covers(thing, included, redirections_covered=redirections_covered)
        return _without(inside, runs_any(thing, excluded) if excluded else False)

    return ItemTests(some, whole)


def _without_inline_code(command: Invocation) -> Invocation:
    """Return a command as if no code that it spells out ran any other."""
    inner = tuple(_without_inline_code(each) for each in command.inner)
    gaps = tuple(gap for gap in command.gaps if gap not in command.inline_code)
    if gaps == command.gaps and all(a is b for a, b in zip(inner, command.inner, strict=True)):
        return command
    return replace(command, inner=inner, gaps=gaps)


def _any_matches(command: Invocation, patterns: PatternSet) -> bool | None:
    answer: bool | None = False
    for pattern in patterns.candidates(command):
        answer = either_true(answer, matches_command(command, pattern))
        if answer is True:
            return True
    return answer


def either_true(left: _Answer, right: _Answer) -> _Answer:
    """Return Kleene's disjunction."""
    if left is True or right is True:
        return True
    return None if left is None or right is None else False


def _without(inside: _Answer, out: _Answer) -> _Answer:
    if inside is False or out is True:
        return False
    return None if inside is None or out is None else True


# ------------------------------------------------------------------ the others


def _address_tests(parts: tuple[Any, ...], outs: tuple[Any, ...]) -> ItemTests:
    def holds(thing: Any, call: Evaluation, paths: PathContext) -> bool | None:
        if not isinstance(thing, str):
            return None
        return _without(recipient_in(thing, parts), recipient_in(thing, outs) if outs else False)

    return ItemTests(holds, holds)


def _number_tests(parts: tuple[Any, ...], outs: tuple[Any, ...]) -> ItemTests:
    def among(thing: Any, numbers: tuple[Any, ...]) -> bool | None:
        answer: bool | None = False
        for number in numbers:
            answer = either_true(answer, compare_numbers("==", thing, float(number)))
        return answer

    def holds(thing: Any, call: Evaluation, paths: PathContext) -> bool | None:
        return _without(among(thing, parts), among(thing, outs)) if is_number(thing) else None

    return ItemTests(holds, holds)


def _text_tests(parts: tuple[Any, ...], outs: tuple[Any, ...]) -> ItemTests:
    included, excluded = frozenset(parts), frozenset(outs)

    def holds(thing: Any, call: Evaluation, paths: PathContext) -> bool | None:
        if not isinstance(thing, str):
            return None
        return compare_text(lambda text: text in included and text not in excluded, thing)

    return ItemTests(holds, holds)
