"""Globs as expressions: those of `like`, and those of paths."""

from __future__ import annotations

from policy.solving import ALL, Either, Expression, OneOf, Row, Times, literal, these, without
from policy.values import compile_name_glob, glob_characters, path_segments

_IN_A_NAME = OneOf(without(these("/")))
# The normalised absolute paths. The root is the empty string here, so that every name has its `/`.
_NAME: Expression = Row((literal("/"), Times(_IN_A_NAME, 1)))
PATHS: Expression = Times(_NAME)


def text_glob(pattern: str) -> Expression:
    """Return the strings that a pattern of `like` matches."""
    return _flat(pattern, OneOf(ALL))


def path_glob(pattern: str) -> Expression:
    """Return the absolute paths that a glob of paths matches, the root as the empty string."""
    return _from_the_root(path_segments(pattern))


def as_path(text: str) -> str:
    """Return the path that a string of `PATHS` stands for."""
    return text or "/"


def _from_the_root(segments: tuple[str, ...]) -> Expression:
    """Return the paths whose segments match; the first segment of a path is empty."""
    if not segments:
        return Either()
    first, rest = segments[0], segments[1:]
    if first == "**":
        return Either((Row((PATHS, _below(rest))), _from_the_root(rest)))
    return _below(rest) if compile_name_glob(first)("") else Either()


def _below(segments: tuple[str, ...]) -> Expression:
    return Row(
        tuple(
            PATHS if segment == "**" else Row((literal("/"), _flat(segment, _IN_A_NAME)))
            for segment in segments
        )
    )


def _flat(pattern: str, any_one: Expression) -> Expression:
    parts: list[Expression] = []
    for char, is_wildcard in glob_characters(pattern):
        if not is_wildcard:
            parts.append(literal(char))
        else:
            parts.append(Times(any_one) if char == "*" else any_one)
    return Row(tuple(parts))
