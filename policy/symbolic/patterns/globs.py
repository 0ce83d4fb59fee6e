"""Globs as expressions: those of `like`, and those of paths."""

from __future__ import annotations

from policy.solving import (
    ALL,
    PRINTABLE,
    Characters,
    Either,
    Expression,
    OneOf,
    Row,
    Times,
    characters,
    literal,
    these,
    without,
)
from policy.values import compile_name_glob, glob_characters, path_segments

# Characters of no path, at the ends of the home folder and of the workspace.
HOME_ENDS, WORKSPACE_ENDS = "\ue000", "\ue001"
# What people write in paths, with these ends.
PRINTED_PATHS = characters((*PRINTABLE, *these(HOME_ENDS + WORKSPACE_ENDS)))
_MARKS: Expression = Times(OneOf(these(HOME_ENDS + WORKSPACE_ENDS)))
_IN_A_NAME = OneOf(without(these("/" + HOME_ENDS + WORKSPACE_ENDS)))
_PLAIN_NAME: Expression = Row((literal("/"), Times(_IN_A_NAME, 1)))
_NAME: Expression = Row((_MARKS, _PLAIN_NAME))


def _marked(one: str, other: str) -> Expression:
    plain = Times(_PLAIN_NAME)
    return Row((plain, Times(literal(one), 0, 1), plain, Times(literal(other), 0, 1), plain))


# The normalised absolute paths, with the ends of two folders marked if the path is in these. The
# root is the empty string here, so that every name has its `/`.
PATHS: Expression = Either((_marked(HOME_ENDS, WORKSPACE_ENDS), _marked(WORKSPACE_ENDS, HOME_ENDS)))
_ANYWHERE: Expression = Times(_NAME)


def text_glob(pattern: str) -> Expression:
    """Return the strings that a pattern of `like` matches."""
    return flat_glob(pattern, OneOf(ALL))


def path_glob(pattern: str) -> Expression:
    """Return the absolute paths that a glob of paths matches, the root as the empty string."""
    return Row((_from_the_root(path_segments(pattern)), _MARKS))


def glob_in_a_folder(pattern: str, ends: str) -> Expression:
    """Return the paths that match a glob in the folder whose end is marked by a character."""
    return Row((_ANYWHERE, _MARKS, literal(ends), _below(path_segments(pattern)), _MARKS))


def url_path_glob(pattern: str, marks: Characters) -> Expression:
    """Return the paths of URLs that a glob matches, `/` as the empty string.

    `marks` are characters of no path. Unlike the names of files, segments may be empty.
    """
    in_a_segment = OneOf(without(characters((*these("/"), *marks))))
    segment = Row((literal("/"), Times(in_a_segment)))
    return Row(
        tuple(
            Times(segment) if each == "**" else Row((literal("/"), flat_glob(each, in_a_segment)))
            for each in path_segments(pattern)[1:]
        )
    )


def paths_at(home: str, workspace: str) -> tuple[Expression, Expression]:
    """Return the paths that are marked as they are with these folders, and some that are not.

    The former without the latter are the paths of a call.
    """
    plain = Times(_PLAIN_NAME)
    folders = ((home, HOME_ENDS), (workspace, WORKSPACE_ENDS))
    marked = (Row((literal(folder), literal(ends), plain)) for folder, ends in folders)
    return (
        Either((plain, *marked)),
        Either(tuple(Row((literal(folder), plain)) for folder, _ in folders)),
    )


def as_path(text: str) -> str:
    """Return the path that a string of `PATHS` stands for."""
    return text.replace(HOME_ENDS, "").replace(WORKSPACE_ENDS, "") or "/"


def _from_the_root(segments: tuple[str, ...]) -> Expression:
    """Return the paths whose segments match; the first segment of a path is empty."""
    if not segments:
        return Either()
    first, rest = segments[0], segments[1:]
    if first == "**":
        return Either((Row((_ANYWHERE, _below(rest))), _from_the_root(rest)))
    return _below(rest) if compile_name_glob(first)("") else Either()


def _below(segments: tuple[str, ...]) -> Expression:
    return Row(
        tuple(
            _ANYWHERE
            if segment == "**"
            else Row((_MARKS, literal("/"), flat_glob(segment, _IN_A_NAME)))
            for segment in segments
        )
    )


def flat_glob(pattern: str, any_one: Expression) -> Expression:
    """Return the strings that a pattern matches whose wildcards stand for these characters."""
    parts: list[Expression] = []
    for char, is_wildcard in glob_characters(pattern):
        if not is_wildcard:
            parts.append(literal(char))
        else:
            parts.append(Times(any_one) if char == "*" else any_one)
    return Row(tuple(parts))
