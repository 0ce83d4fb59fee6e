"""Patterns of paths: their text read once, and paths judged in sets of them.

A path is judged as spelled and as resolved, with and without invisible characters, and where the
file system folds case, with it folded. Where the readings disagree, the answer is None.
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

from policy.values.glob import (
    compile_name_glob,
    compile_path_glob,
    escape_glob,
    has_wildcard,
    literal_text,
    path_segments,
)
from policy.values.logic import any_of, both, negate
from policy.values.path import Path, PathContext, normal_path
from policy.values.path_dialect import foreign_glob, unescape_foreign
from policy.values.reading import Unreadable
from policy.values.text import has_control, is_encodable, is_ordinary, normalise, plain, quote


@dataclass(frozen=True, slots=True, kw_only=True)
class PathPattern:
    """One item of a set of paths, as a normalised glob.

    `base` says what the glob is below: nothing (`root`), the home folder, the workspace, or any
    folder at all (`floating`, which keeps its leading `**`).
    """

    glob: str
    base: str = "root"


Judge: TypeAlias = Callable[[str, str], bool]


def read_path_pattern(text: str, context_home: str | None = None) -> PathPattern | Unreadable:
    """Read an item such as `/srv/work/**`, `**/.env`, `~/.ssh/**` or `src/**`."""
    if not text.strip() or not is_encodable(text) or has_control(text):
        return Unreadable(reason=f"not a path pattern: {quote(text)}")
    if not is_ordinary(normalise(text)):
        return Unreadable(reason=f"a path pattern with invisible characters: {quote(text)}")
    if text[:5].lower() == "file:" or "://" in text:
        return Unreadable(reason=f"a URL where a path pattern is needed: {quote(text)}")
    if text.startswith("~") and text != "~" and not text.startswith("~/"):
        return Unreadable(reason=f"the home of another user: {quote(text)}")
    foreign = foreign_glob(normalise(text))
    if foreign is not None:
        return Unreadable(reason=foreign)
    settled = _settle(unescape_foreign(normalise(text)))
    if settled is None:
        return Unreadable(reason=f"`..` leads out of the pattern: {quote(text)}")
    if settled.startswith("~"):
        rest = settled[2:]
        if context_home is not None:
            return PathPattern(glob=_below(context_home, rest))
        return PathPattern(glob=rest, base="home")
    if settled.startswith("/"):
        return PathPattern(glob=settled)
    floats = settled == "**" or settled.startswith("**/")
    return PathPattern(glob=settled, base="floating" if floats else "workspace")


def path_in(
    path: Path,
    patterns: tuple[PathPattern, ...],
    excluded: tuple[PathPattern, ...],
    context: PathContext,
) -> bool | None:
    """Tell whether the path, or some part of the tree, is in `patterns` without `excluded`."""
    return path_meets(path, patterns, excluded, context=context)


def path_meets(
    path: Path,
    patterns: tuple[PathPattern, ...],
    excluded: tuple[PathPattern, ...],
    *,
    context: PathContext,
) -> bool | None:
    """Tell whether some part of the path is in; a floating item meets only what is spelled."""
    wanted, unwanted = (_meets, _covers) if path.tree else (_fits, _fits)
    return _judge(path, (patterns, wanted), (excluded, unwanted), context=context)


def path_within(
    path: Path,
    patterns: tuple[PathPattern, ...],
    excluded: tuple[PathPattern, ...],
    *,
    context: PathContext,
) -> bool | None:
    """Tell whether all of the path is in: of a tree, everything that may be below it."""
    wanted, unwanted = (_covers, _meets) if path.tree else (_fits, _fits)
    return _judge(path, (patterns, wanted), (excluded, unwanted), context=context)


_Side: TypeAlias = tuple[tuple[PathPattern, ...], Judge]


def _judge(path: Path, wanted: _Side, unwanted: _Side, *, context: PathContext) -> bool | None:
    """Judge every reading of the path; None where two disagree or one cannot be judged."""
    answer: bool | None = None
    for count, (text, resolved, fold) in enumerate(_readings(path, context)):
        inside = _in_some(wanted, text, resolved=resolved, fold=fold, context=context)
        if unwanted[0] and inside is not False:
            out = _in_some(unwanted, text, resolved=resolved, fold=fold, context=context)
            inside = both(inside, negate(out))
        if inside is None or (count and inside != answer):
            return None
        answer = inside
    return answer


def _readings(path: Path, context: PathContext) -> Iterator[tuple[str, bool, bool]]:
    """Yield each text to judge, whether it is the resolved one, and whether to fold its case."""
    forms = [(path.lexical, False)]
    if path.resolved is not None:
        forms.append((path.resolved, True))
    for text, resolved in forms:
        yield text, resolved, False
        if not is_ordinary(text):
            yield plain(text), resolved, False
        if context.case_insensitive:
            yield plain(text).casefold(), resolved, True


def _in_some(
    side: _Side, text: str, *, resolved: bool, fold: bool, context: PathContext
) -> bool | None:
    patterns, judge = side

    def answers() -> Iterable[bool | None]:
        for pattern in patterns:
            glob = _placed(pattern, context, resolved=resolved)
            if glob is None:
                yield None
            else:
                yield judge(normalise(glob.casefold()) if fold else glob, text)

    return any_of(answers())


def _placed(pattern: PathPattern, context: PathContext, *, resolved: bool) -> str | None:
    """Return the glob below its base, its fixed folders resolved if asked; None if unknown."""
    glob = pattern.glob
    if pattern.base == "floating":
        return glob
    if pattern.base != "root":
        folder = context.home if pattern.base == "home" else context.workspace
        if folder is None:
            return None
        glob = _below(normal_path(folder), glob)
    if not resolved or context.resolve is None:
        return glob
    fixed, rest = _fixed_part(glob)
    leads = context.resolve(fixed)
    return None if leads is None else _below(normalise(leads), rest)


@lru_cache(maxsize=4096)
def _fixed_part(glob: str) -> tuple[str, str]:
    """Cut an absolute glob into the literal path it begins with and what follows."""
    segments = path_segments(glob)
    literals: list[str] = []
    for segment in segments:
        literal = None if segment == "**" else literal_text(segment)
        if literal is None:
            break
        literals.append(literal)
    return "/".join(literals) or "/", "/".join(segments[len(literals) :])


@lru_cache(maxsize=4096)
def _below(folder: str, rest: str) -> str:
    base = escape_glob(normalise(folder)).rstrip("/")
    return f"{base}/{rest}".rstrip("/") or "/"


def _settle(text: str) -> str | None:
    """Settle `.`, `..` and separators; None where `..` would take back a wildcard or the start."""
    parts: list[str] = []
    for part in text.split("/"):
        if part in ("", "."):
            continue
        if part != "..":
            parts.append(part)
        elif not parts or has_wildcard(parts[-1]) or parts[-1] in ("~", ".."):
            return None
        else:
            parts.pop()
    joined = "/".join(parts)
    if text.startswith("/"):
        return "/" + joined
    return joined


def _fits(glob: str, text: str) -> bool:
    return compile_path_glob(glob)(text)


def _covers(glob: str, text: str) -> bool:
    """Tell whether the glob fits the folder and all that can be below it."""
    return (glob == "**" or glob.endswith("/**")) and compile_path_glob(glob)(text)


def _meets(glob: str, text: str) -> bool:
    """Tell whether the glob fits the folder, or something that can be below it."""
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


def folder_pattern(folder: str) -> PathPattern:
    """Return the pattern of a folder, given as an absolute path, and everything below it."""
    return PathPattern(glob=_below(normal_path(folder), "**"))


def path_pattern_text(pattern: PathPattern) -> str:
    """Return the pattern as an author would write it."""
    if pattern.base == "home":
        return posixpath.join("~", pattern.glob) if pattern.glob else "~"
    return pattern.glob
