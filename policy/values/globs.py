r"""Compiles wildcard patterns to tests of strings: anchored, case-sensitive, with bounded work.

`*` matches any run of characters and `?` one character; a backslash makes the `*`, `?` or `\` after
it literal. In a path glob both stay within a segment, and `**` as a whole segment matches any run
of segments.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import TypeAlias, TypeVar

Test: TypeAlias = Callable[[str], bool]
Item = TypeVar("Item")


class _Wildcard(str):
    """One wildcard; its own type distinguishes it from the same character as a literal."""

    __slots__ = ()


_RUN = _Wildcard("*")
_ONE = _Wildcard("?")


def escape_glob(text: str) -> str:
    """Return a pattern that matches `text` alone."""
    return text.replace("\\", "\\\\").replace("*", "\\*").replace("?", "\\?")


def has_wildcard(pattern: str) -> bool:
    """Return whether `pattern` can match more than one string."""
    return any(isinstance(part, _Wildcard) for part in _parts(pattern))


def literal_text(pattern: str) -> str | None:
    """Return the only string that `pattern` matches, or None if it has wildcards."""
    parts = _parts(pattern)
    return None if any(isinstance(part, _Wildcard) for part in parts) else "".join(parts)


def matches_sequence(
    pattern: Sequence[Callable[[Item], bool] | None],
    items: Sequence[Item],
    *,
    run_takes: Callable[[Item], bool] | None = None,
) -> bool:
    """Return whether `pattern` matches all of `items`; None in it matches any run of items.

    `run_takes` tests which items a run may contain, the same for every run: an item that no run may
    contain must be matched by a test, so that backtracking further could not help there either.
    Backtracks to the latest run only, hence at most len(pattern) * len(items) tests.
    """
    at = position = 0
    run: int | None = None
    resume = 0
    while position < len(items):
        test = pattern[at] if at < len(pattern) else _NEVER
        if test is None:
            run, resume = at, position
            at += 1
        elif test(items[position]):
            at += 1
            position += 1
        elif run is not None and (run_takes is None or run_takes(items[resume])):
            resume += 1
            at, position = run + 1, resume
        else:
            return False
    return all(test is None for test in pattern[at:])


@lru_cache(maxsize=4096)
def globs_intersect(one: str, other: str) -> bool:
    """Return whether some string matches both patterns."""
    first, second = _characters(one), _characters(other)
    # agree[place]: whether the rest of `first` agrees with `second` from that place on.
    agree = [all(each is _RUN for each in second[position:]) for position in range(len(second) + 1)]
    for here in reversed(first):
        row = [False] * (len(second) + 1)
        for position in range(len(second), -1, -1):
            there = second[position] if position < len(second) else None
            if here is _RUN:
                row[position] = agree[position] or (there is not None and row[position + 1])
            elif there is _RUN:
                row[position] = row[position + 1] or agree[position]
            elif there is not None:
                same = here is _ONE or there is _ONE or here == there
                row[position] = same and agree[position + 1]
        agree = row
    return agree[0]


def glob_characters(pattern: str) -> tuple[tuple[str, bool], ...]:
    """Return the characters of a pattern, each with whether it is a wildcard."""
    return tuple((str(char), isinstance(char, _Wildcard)) for char in _characters(pattern))


def _characters(pattern: str) -> tuple[str, ...]:
    """Return the wildcards of a pattern, and the characters of its literals."""
    return tuple(
        char
        for part in _parts(pattern)
        for char in ((part,) if isinstance(part, _Wildcard) else part)
    )


def compile_name_glob(pattern: str) -> Test:
    """Return the test for the name of a tool or an agent."""
    return _compile_flat(pattern)


def compile_text_glob(pattern: str) -> Test:
    """Return the test for `like`, on any string; `*` also matches new lines."""
    return _compile_flat(pattern)


@lru_cache(maxsize=4096)
def compile_path_glob(pattern: str) -> Test:
    """Return the test for a normalised path: `X/**` matches `X` too, `**/name` at any depth."""
    segments = path_segments(pattern)
    steps = [None if segment == "**" else _compile_flat(segment) for segment in segments]
    literals = [None if segment == "**" else literal_text(segment) for segment in segments]
    if steps == [None]:
        return _always
    if None not in literals:
        return _compile_literal("/" if literals == [""] else _joined(literals))
    if steps[-1] is None and None not in literals[:-1]:
        return _compile_below(_joined(literals[:-1]))
    if len(steps) == 2 and steps[0] is None and literals[1] is not None:
        return _compile_named(literals[1])
    return lambda text: matches_sequence(steps, path_segments(text))


def path_segments(text: str) -> tuple[str, ...]:
    """Return the segments of a path; those of an absolute path begin with an empty one."""
    if text in ("", "/"):
        return () if not text else ("",)
    return tuple(text.split("/"))


def _joined(literals: list[str | None]) -> str:
    return "/".join(text or "" for text in literals)


def _compile_named(name: str) -> Test:
    below = "/" + name
    return lambda text: text == name or text.endswith(below)


def _compile_literal(wanted: str) -> Test:
    return lambda text: text == wanted


def _compile_below(folder: str) -> Test:
    inside = folder + "/"
    if not folder:
        return lambda text: text.startswith(inside)
    return lambda text: text == folder or text.startswith(inside)


@lru_cache(maxsize=4096)
def _compile_flat(pattern: str) -> Test:
    parts = _parts(pattern)
    match parts:
        case ():
            return lambda text: not text
        case (str(only),) if not isinstance(only, _Wildcard):
            return _compile_literal(only)
        case (run,) if run is _RUN:
            return _ALWAYS
        case (str(head), run) if run is _RUN and not isinstance(head, _Wildcard):
            return lambda text: text.startswith(head)
        case (run, str(tail)) if run is _RUN and not isinstance(tail, _Wildcard):
            return lambda text: text.endswith(tail)
    if _ONE not in [part for part in parts if isinstance(part, _Wildcard)]:
        return _compile_pieces(parts)
    steps: list[Callable[[str], bool] | None] = []
    for part in parts:
        if part is _RUN:
            steps.append(None)
        elif part is _ONE:
            steps.append(_ALWAYS)
        else:
            steps.extend(_compile_literal(char) for char in part)
    return lambda text: matches_sequence(steps, text)


def _compile_pieces(parts: tuple[str, ...]) -> Test:
    """Compile literals between runs: each is searched for from the end of the previous one."""
    head = "" if parts[0] is _RUN else parts[0]
    tail = "" if parts[-1] is _RUN else parts[-1]
    middle = [part for part in parts[1:-1] if part is not _RUN]
    least = len(head) + len(tail)

    def matches(text: str) -> bool:
        if len(text) < least or not text.startswith(head) or not text.endswith(tail):
            return False
        position, stop = len(head), len(text) - len(tail)
        for piece in middle:
            found = text.find(piece, position, stop)
            if found < 0:
                return False
            position = found + len(piece)
        return True

    return matches


@lru_cache(maxsize=4096)
def _parts(pattern: str) -> tuple[str, ...]:
    """Split a pattern into literals and wildcards; adjacent runs are merged."""
    parts: list[str] = []
    literal: list[str] = []
    position = 0
    while position < len(pattern):
        char = pattern[position]
        if char == "\\" and pattern[position + 1 : position + 2] in ("*", "?", "\\"):
            position += 1
            literal.append(pattern[position])
        elif char in "*?":
            if literal:
                parts.append("".join(literal))
                literal = []
            wildcard = _RUN if char == "*" else _ONE
            if not (wildcard is _RUN and parts and parts[-1] is _RUN):
                parts.append(wildcard)
        else:
            literal.append(char)
        position += 1
    if literal:
        parts.append("".join(literal))
    return tuple(parts)


def _always(_: object) -> bool:
    return True


def _never(_: object) -> bool:
    return False


_ALWAYS = _always
_NEVER = _never
