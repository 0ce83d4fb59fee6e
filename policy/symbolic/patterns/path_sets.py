"""Sets of paths as languages.

A path that is in a set is in one of its *parts*: it matches an item of the part, and none of the
exceptions of the part.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache

from policy.checks import checked
from policy.solving import (
    Expression,
    Language,
    TooLarge,
    language,
    union,
    union_of_differences,
)
from policy.symbolic.patterns.globs import (
    HOME_ENDS,
    PATHS,
    WORKSPACE_ENDS,
    glob_in_a_folder,
    path_glob,
    paths_at,
)
from policy.values import PathPattern, read_path_pattern


@dataclass(frozen=True, slots=True, eq=False)
class SetLanguages:
    """The languages of a set.

    `exact` is what is in it. `items` is what an included item matches, whatever the exceptions.
    `rooted` is what is in it but for included items that begin with `**/`. `without` is what its
    exceptions match that do not begin so, where all items have the same ones. None is nothing.
    `is_rooted`: no item begins with `**/`, and there are no exceptions.
    """

    exact: Language
    items: Language
    rooted: Language | None
    without: Language | None
    is_rooted: bool


_Part = tuple[tuple[str, ...], tuple[str, ...]]
_WORKSPACE = "./**"


@lru_cache(maxsize=1)
def all_paths() -> Language:
    """Return the language of all paths."""
    return language(PATHS)


@lru_cache(maxsize=16)
def paths_of_a_call(home: str, workspace: str) -> tuple[Language, Language]:
    """Return what the paths of a call with these folders are in, and what they are not in."""
    inside, outside = paths_at(home, workspace)
    return language(inside), language(outside)


@lru_cache(maxsize=4096)
def set_languages(values: checked.ValueSet) -> SetLanguages | None:
    """Return the languages of a set of paths; None if it has other items, or is too large."""
    if values.kind != "paths" or not values.included:
        return None
    parts = parts_of(values)
    if parts is None:
        return None
    exceptions = parts[0][1] if len(parts) == 1 else ()
    rooted = [(tuple(i for i in items if not _floats(i)), outs) for items, outs in parts]
    try:
        return SetLanguages(
            exact=union_of_differences(_pairs(parts)),
            items=language_of_items(tuple(item for items, _ in parts for item in items)),
            rooted=_union([part for part in rooted if part[0]]),
            without=_union([(tuple(e for e in exceptions if not _floats(e)), ())]),
            is_rooted=not any(outs or any(map(_floats, items)) for items, outs in parts),
        )
    except TooLarge:
        return None


def _union(parts: list[_Part]) -> Language | None:
    kept = [part for part in parts if part[0]]
    return union_of_differences(_pairs(kept)) if kept else None


def _pairs(parts: Iterable[_Part]) -> Iterator[tuple[Language, Language | None]]:
    for items, exceptions in parts:
        yield language_of_items(items), language_of_items(exceptions) if exceptions else None


def parts_of(values: checked.ValueSet) -> list[_Part] | None:
    """Return the parts of a set; None if something in it is no item of paths."""
    exceptions = _plain_items(values.excluded)
    if exceptions is None:
        return None
    own: list[str] = []
    found: list[_Part] = []
    for part in values.included:
        if not isinstance(part, checked.ValueSet):
            items = _plain_items((part,))
            if items is None:
                return None
            own += items
            continue
        inner = parts_of(part)
        if inner is None:
            return None
        for items, outs in inner:
            if outs:
                found.append((items, (*outs, *exceptions)))
            else:
                own += items
    return [(tuple(own), exceptions), *found] if own else found


def _plain_items(parts: tuple[checked.SetPart, ...]) -> tuple[str, ...] | None:
    found: list[str] = []
    for part in parts:
        match part:
            case checked.WorkspaceItem():
                found.append(_WORKSPACE)
            case str() if pattern_of(part) is not None:
                found.append(part)
            case checked.ValueSet(excluded=()):
                inner = _plain_items(part.included)
                if inner is None:
                    return None
                found += inner
            case _:
                return None
    return tuple(found)


def _floats(item: str) -> bool:
    pattern = pattern_of(item)
    return pattern is not None and pattern.base == "floating"


@lru_cache(maxsize=8192)
def pattern_of(item: str) -> PathPattern | None:
    """Return an item of paths as a pattern; None if it is none."""
    found = read_path_pattern(item)
    return found if isinstance(found, PathPattern) else None


@lru_cache(maxsize=8192)
def language_of_items(items: tuple[str, ...]) -> Language:
    """Return the paths that one of these items matches."""
    return union(map(_of_item, items))


@lru_cache(maxsize=8192)
def _of_item(item: str) -> Language:
    return language(_expression(item))


def _expression(item: str) -> Expression:
    pattern = pattern_of(item)
    assert pattern is not None
    match pattern.base:
        case "home":
            return glob_in_a_folder(pattern.glob, HOME_ENDS)
        case "workspace":
            return glob_in_a_folder(pattern.glob, WORKSPACE_ENDS)
        case _:
            return path_glob(pattern.glob)
