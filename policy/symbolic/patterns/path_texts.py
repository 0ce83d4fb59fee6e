"""What the text of an argument says of the path that it spells, as languages of texts.

A text that programs read differently spells no path: tests of it are indeterminate. Of the others,
an absolute one without `.`, `..` and empty segments spells the path that it is, and each one spells
a path with its own last segment, but for these and for `%` in a URL.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from policy.checks import checked
from policy.solving import (
    ANY_TEXT,
    Either,
    Expression,
    Language,
    OneOf,
    Row,
    Times,
    TooLarge,
    in_either_case,
    language,
    literal,
    these,
    union_of_differences,
    without,
)
from policy.symbolic.patterns.globs import HOME_ENDS, WORKSPACE_ENDS, flat_glob
from policy.symbolic.patterns.path_sets import language_of_items, parts_of, pattern_of
from policy.symbolic.patterns.spelled_texts import SpelledTexts
from policy.values import has_wildcard, path_segments

# The ends of folders are marked in languages of paths, so texts with these characters are left out.
_IN_A_SEGMENT = OneOf(without(these("/" + HOME_ENDS + WORKSPACE_ENDS)))
_IN_A_LAST_ONE = OneOf(without(these("/")))
_OF_A_URL: Expression = in_either_case("file:")
_BEFORE: Expression = Row((ANY_TEXT, literal("/")))
_HEX = "0123456789abcdefABCDEF"
_A_NAME_ANYWHERE = 2  # segments of `**/x`
_DOTS: Expression = Either((literal("."), literal("..")))


@lru_cache(maxsize=1)
def settled_texts() -> Language:
    """Return the absolute texts that spell the paths that they are."""
    segments = Times(Row((literal("/"), Times(_IN_A_SEGMENT, 1))), 1)
    after = Times(Row((literal("/"), ANY_TEXT)), 0, 1)
    dots = Row((ANY_TEXT, literal("/"), _DOTS, after))
    return union_of_differences([(language(segments), language(dots))])


@lru_cache(maxsize=4096)
def texts_of_paths(values: checked.ValueSet) -> SpelledTexts | None:
    """Return what texts say of a set of paths; None if it has other items, or is too large."""
    parts = parts_of(values) if values.kind == "paths" and values.included else None
    if parts is None:
        return None
    try:
        return SpelledTexts(
            settled=settled_texts(),
            surely=_surely(parts),
            perhaps=_perhaps(parts),
            by_their_end=_by_their_end(parts),
        )
    except TooLarge:
        return None


_Parts = list[tuple[tuple[str, ...], tuple[str, ...]]]


def _surely(parts: _Parts) -> Language | None:
    found = [
        (
            language_of_items(tuple(each for each in items if not _is_relative(each))),
            language_of_items(exceptions) if exceptions else None,
        )
        for items, exceptions in parts
        if not any(map(_is_relative, exceptions))
    ]
    return union_of_differences(found) if found else None


def _perhaps(parts: _Parts) -> Language | None:
    if any(_is_relative(item) for items, _ in parts for item in items):
        return None
    return union_of_differences(
        (
            language_of_items(items),
            language_of_items(exceptions)
            if exceptions and not any(map(_is_relative, exceptions))
            else None,
        )
        for items, exceptions in parts
    )


def _by_their_end(parts: _Parts) -> Language | None:
    names = [
        name
        for items, exceptions in parts
        if not exceptions
        for item in items
        for name in _names_anywhere(item)
    ]
    if not names:
        return None
    # `~` alone is a folder.
    others = Either((Row((_BEFORE, _DOTS)), _DOTS, literal("~")))
    encoded = Row((Times(_IN_A_LAST_ONE), literal("%"), Times(_IN_A_LAST_ONE)))
    of_urls = Row((_OF_A_URL, Times(_BEFORE, 0, 1), encoded))
    # What is encoded before such an ending does not change it.
    endings = [name for name in names if name[0] == "*" and _is_kept_in_urls(name[1:])]
    return union_of_differences(
        [
            (_texts_named(names), language(Either((others, of_urls)))),
            (_texts_named(endings), language(others)),
        ]
    )


def _texts_named(names: list[str]) -> Language:
    """Return the texts whose last segment matches one of the patterns."""
    ends = Either(tuple(flat_glob(name, _IN_A_LAST_ONE) for name in names))
    return language(Either((Row((_BEFORE, ends)), ends)))


def _is_kept_in_urls(ending: str) -> bool:
    return not has_wildcard(ending) and "%" not in ending and ending[:1] not in ("", *_HEX, "\\")


def _names_anywhere(item: str) -> Iterator[str]:
    """Yield the pattern of a name that an item matches in every folder: `**/.env`."""
    pattern = pattern_of(item)
    assert pattern is not None
    segments = path_segments(pattern.glob)
    if pattern.base == "floating" and len(segments) == _A_NAME_ANYWHERE and segments[0] == "**":
        name = segments[1]
        if name != "**":
            yield name


def _is_relative(item: str) -> bool:
    pattern = pattern_of(item)
    return pattern is None or pattern.base in ("home", "workspace")
