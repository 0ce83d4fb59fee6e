"""Texts that are made to be slow: units that are repeated, nested and put in turn, of any size.

They are for every text of every input: commands, paths, URLs, names, JSON, results, policies.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TypeAlias

# A text of about so many characters.
Make: TypeAlias = Callable[[int], str]

# What readers of text look for: separators, quotes, escapes, brackets, wildcards, words of shells.
_SIGNS = tuple(":,;/\\\"'`$*?[]{}()<>|&=@%#!~^+-._ \t\n0a")
_PARTS = (
    *("a:", "a,", "a/", "../", "./", "a b ", "-a ", "--a ", "a=", "a@", "a.", "://", "http://a "),
    *("{a,", "{a,b}", "$(", "${a", "$((", "`a", "<<a ", ">a ", "a;", "a|", "a&&", "f() { "),
    *(
        '\\"',
        "\\\\",
        "\\n",
        '"a',
        "'a",
        "''",
        '""',
        "[a",
        "[[",
        "<!--",
        "<a>",
        "&amp;",
        "&#",
        "%25",
    ),
    *("%", "=20", "=\n", "\\u0041", "[1,", '{"a":', "1,", "1e", "9", "select ", "s/a/b/;", "--"),
)
# Marks in an order that is not canonical, letters that decompose, invisible and wide characters.
_BEYOND_ASCII = (
    *(
        "\u0301\u0316",
        "a\u0301",
        "\u0f73\u0f71",
        "\u0301\uff9e",
        "\u1100\u1161",
        "\u034f",
        "\u200b",
    ),
    *("\u202e", "é", "\ufdfa", "\uff0e", "\u3002", "\u0430", "\U0001f600", "\u0130", "\u00df"),
)
UNITS = (*_SIGNS, *_PARTS, *_BEYOND_ASCII)


def repeated(unit: str, before: str = "", after: str = "") -> Make:
    """Return texts of a unit again and again, after a beginning and before an end."""
    return lambda size: before + (unit * (size // len(unit) + 1))[:size] + after


def nested(opening: str, closing: str) -> Make:
    """Return texts of brackets within brackets."""

    def make(size: int) -> str:
        depth = size // (len(opening) + len(closing))
        return opening * depth + closing * depth

    return make


_NESTED = (("(", ")"), ("[", "]"), ("{", "}"), ("$(", ")"), ("<a>", "</a>"), ('{"a":', "}"))


def families() -> Mapping[str, Make]:
    """Return all texts by what they consist of."""
    return dict(_families())


def _families() -> Iterator[tuple[str, Make]]:
    for unit in UNITS:
        yield f"{unit!a} again and again", repeated(unit)
        yield f"{unit!a} behind a quote", repeated(unit, before='"')
    for one, other in zip(UNITS, UNITS[1:] + UNITS[:1], strict=True):
        yield f"{one!a} and {other!a} in turn", repeated(one + other)
    for opening, closing in _NESTED:
        yield f"{opening!a} within {opening!a}", nested(opening, closing)
