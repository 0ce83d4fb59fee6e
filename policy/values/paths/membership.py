"""Tests whether a path is in a set of patterns; answers are three-valued.

A path is judged as spelled and as resolved, with and without invisible characters, and with folded
letter case where the file system may ignore case. Where these readings disagree, the answer is
None.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import lru_cache
from typing import TypeAlias

from policy.model import ResolvePath
from policy.values.globs import (
    compile_name_glob,
    compile_path_glob,
    escape_glob,
    literal_text,
    path_segments,
)
from policy.values.logic import any_of, both, negate
from policy.values.paths.path import STREAMS, Path, PathContext
from policy.values.paths.pattern import PathPattern, glob_below
from policy.values.paths.possible_names import expansion_may_match
from policy.values.paths.reach import begins_above, passes_name, reaches
from policy.values.text import is_ordinary, normalise, without_invisible

Judge: TypeAlias = Callable[[str, str], bool]
# The globs for one reading; None where the folder they are below is not known.
_Globs: TypeAlias = tuple[str | None, ...]


def path_in(
    path: Path,
    patterns: tuple[PathPattern, ...],
    excluded: tuple[PathPattern, ...],
    context: PathContext,
) -> bool | None:
    """Return whether the path, or some part of the tree, is in `patterns` without `excluded`."""
    return path_overlaps(path, patterns, excluded, context=context)


def path_overlaps(
    path: Path,
    patterns: tuple[PathPattern, ...],
    excluded: tuple[PathPattern, ...],
    *,
    context: PathContext,
) -> bool | None:
    """Return whether part of the path is in the set; a floating item matches only spelled names."""
    if path.contents is not None and path.contents.are_files:
        return _holds(path, patterns, excluded, context=context)
    wanted, unwanted = (_meets_of(path), _covers) if path.tree else (_matches, _matches)
    answer = _judge(path, (patterns, wanted), (excluded, unwanted), context=context)
    if answer is False and wildcard_may_match(path, patterns):
        answer = None
    if answer is False and _may_be_named(path, patterns):
        left_out = _judge(path, (excluded, _covers), ((), _covers), context=context)
        answer = False if excluded and left_out else None
    if path.contents is None or answer is True:
        return answer
    return any_of((answer, _holds(path, patterns, excluded, context=context)))


def path_within(
    path: Path,
    patterns: tuple[PathPattern, ...],
    excluded: tuple[PathPattern, ...],
    *,
    context: PathContext,
) -> bool | None:
    """Return whether all of the path is in the set: of a tree, everything that may be below it."""
    wanted, unwanted = (_covers, _meets_of(path)) if path.tree else (_matches, _matches)
    answer = _judge(path, (patterns, wanted), (excluded, unwanted), context=context)
    if answer and (wildcard_may_match(path, excluded) or _may_be_named(path, excluded)):
        answer = None
    if path.contents is None or answer is False:
        return answer
    return both(answer, negate(_holds(path, excluded, (), context=context)))


def _holds(
    path: Path,
    patterns: tuple[PathPattern, ...],
    excluded: tuple[PathPattern, ...],
    *,
    context: PathContext,
) -> bool | None:
    """Return whether something in the tree matches a floating item."""
    assert path.contents is not None
    floating = tuple(pattern.glob for pattern in patterns if pattern.base == "floating")

    def judged(lexical: str, resolved: str) -> bool | None:
        known = None if path.resolved is None else resolved
        file = Path(lexical=lexical, resolved=known, folds=path.folds)
        return path_overlaps(file, patterns, excluded, context=context)

    everything = bool(excluded) or (path.contents.are_files and bool(patterns))
    return path.contents.any_matches(floating, judged, folds=path.folds, everything=everything)


def wildcard_may_match(path: Path, patterns: tuple[PathPattern, ...]) -> bool:
    """Return whether a wildcard may stand for a name that a floating item matches."""
    if not path.names:
        return False
    names = without_invisible(path.names).casefold() if path.folds else path.names
    return any(
        expansion_may_match(names, pattern.glob.casefold() if path.folds else pattern.glob)
        for pattern in patterns
        if pattern.base == "floating"
    )


def _may_be_named(path: Path, patterns: tuple[PathPattern, ...]) -> bool:
    """Return whether a file that a floating item matches may be created in the tree."""
    if not path.tree or path.new_names not in ("any", "patched"):
        return False
    never = "" if path.reach is None else path.reach.never
    return any(
        pattern.base == "floating" and not (never and passes_name(pattern.glob, never))
        for pattern in patterns
    )


_Side: TypeAlias = tuple[tuple[PathPattern, ...], Judge]


def _judge(path: Path, wanted: _Side, unwanted: _Side, *, context: PathContext) -> bool | None:
    """Judge every reading of the path; None where two disagree or one cannot be judged."""
    (patterns, matches), (exceptions, matches_exception) = wanted, unwanted
    answer: bool | None = None
    for count, (text, globs, outs) in enumerate(_readings(path, patterns, exceptions, context)):
        inside = _matches_some(matches, globs, text)
        if outs and inside is not False:
            inside = both(inside, negate(_matches_some(matches_exception, outs, text)))
        if inside is None or (count and inside != answer):
            return None
        answer = inside
    return answer


def _readings(
    path: Path,
    patterns: tuple[PathPattern, ...],
    exceptions: tuple[PathPattern, ...],
    context: PathContext,
) -> Iterator[tuple[str, _Globs, _Globs]]:
    """Yield each distinct text to judge with the globs to judge it by."""
    globs = tuple([absolute_glob(pattern, context) for pattern in patterns])
    outs = tuple([absolute_glob(pattern, context) for pattern in exceptions])
    yield from _variants(path.lexical, globs, outs, folds=path.folds)
    if path.resolved is None:
        return
    leads, leads_out = globs, outs
    if context.resolve is not None:
        leads = tuple([resolved_glob(glob, context.resolve) for glob in globs])
        leads_out = tuple([resolved_glob(glob, context.resolve) for glob in outs])
    if path.resolved != path.lexical or leads != globs or leads_out != outs:
        yield from _variants(path.resolved, leads, leads_out, folds=path.folds)


def _variants(
    text: str, globs: _Globs, outs: _Globs, *, folds: bool
) -> Iterator[tuple[str, _Globs, _Globs]]:
    yield text, globs, outs
    if not is_ordinary(text):
        yield without_invisible(text), globs, outs
    if folds:
        yield without_invisible(text).casefold(), case_folded(globs), case_folded(outs)


def case_folded(globs: _Globs) -> _Globs:
    """Return the globs for texts in which letter case is ignored."""
    return tuple([None if glob is None else normalise(glob.casefold()) for glob in globs])


def _matches_some(judge: Judge, globs: _Globs, text: str) -> bool | None:
    unknown = False
    for glob in globs:
        if glob is None:
            unknown = True
        elif judge(glob, text):
            return True
    return None if unknown else False


def absolute_glob(pattern: PathPattern, context: PathContext) -> str | None:
    """Return the glob below its base; None where that folder is not known."""
    if pattern.base in ("root", "floating"):
        return pattern.glob
    folder = context.home if pattern.base == "home" else context.workspace
    return None if folder is None else glob_below(folder, pattern.glob)


def resolved_glob(glob: str | None, resolve: ResolvePath) -> str | None:
    """Return the glob with the folders that it spells resolved; None where they cannot be."""
    if glob is None or not glob.startswith("/"):
        return glob
    fixed, rest = fixed_part(glob)
    # Paths to streams are judged by their names as well: see `read_path`.
    leads = fixed if fixed in STREAMS else resolve(fixed)
    if leads == fixed:
        return glob
    return None if leads is None else glob_below(leads, rest)


@lru_cache(maxsize=4096)
def fixed_part(glob: str) -> tuple[str, str]:
    """Split an absolute glob into its literal path and the rest."""
    segments = path_segments(glob)
    literals: list[str] = []
    for segment in segments:
        literal = None if segment == "**" else literal_text(segment)
        if literal is None:
            break
        literals.append(literal)
    return "/".join(literals) or "/", "/".join(segments[len(literals) :])


def _matches(glob: str, text: str) -> bool:
    return compile_path_glob(glob)(text)


def _covers(glob: str, text: str) -> bool:
    """Return whether the glob matches the folder and everything that can be below it."""
    return (glob == "**" or glob.endswith("/**")) and compile_path_glob(glob)(text)


def tree_reaches(path: Path, name: str) -> bool:
    """Return whether what writes a tree may write the file of this absolute name."""
    meets, glob = _meets_of(path), escape_glob(name)
    for reading in (path.lexical, path.resolved or path.lexical):
        if meets(glob, reading):
            return True
        if path.folds and meets(glob.casefold(), without_invisible(reading).casefold()):
            return True
    return False


def _meets_of(path: Path) -> Judge:
    """Return whether a glob matches a tree, or something that may be below it, as a function."""
    if not path.is_limited:
        return _meets
    reach, copied = path.reach, path.new_names in ("copied", "any")
    if reach is not None and path.folds:
        reach = replace(reach, folds=True)

    def meets(glob: str, text: str) -> bool:
        if reach is not None:
            return reaches(reach, glob, text)
        return _meets(glob, text) or (copied and begins_above(glob, text))

    return meets


def _meets(glob: str, text: str) -> bool:
    """Return whether the glob matches the folder, or something that can be below it."""
    if compile_path_glob(glob)(text):
        return True
    if not glob.startswith("/"):
        return False
    for wanted, name in zip(path_segments(glob), path_segments(text), strict=False):
        if wanted == "**":
            return True
        if not compile_name_glob(wanted)(name):
            return False
    return len(path_segments(text)) < len(path_segments(glob))
