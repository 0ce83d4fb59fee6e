"""A set of path patterns, prepared for testing many paths; answers are three-valued.

The answers are those of `path_overlaps` and `path_within`, which try one pattern after the other.
Only what follows from the patterns and from the folders of the facts is cached; links are resolved
anew in every call, once for each folder that patterns spell.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import TypeAlias

from policy.model import ResolvePath
from policy.values.logic import any_of, both, negate
from policy.values.match.glob_index import GlobIndex, PathForms, path_forms
from policy.values.paths.membership import (
    absolute_glob,
    case_folded,
    fixed_part,
    path_overlaps,
    path_within,
    resolved_glob,
    wildcard_may_match,
)
from policy.values.paths.path import Path, PathContext
from policy.values.paths.pattern import PathPattern, folder_pattern
from policy.values.text import without_invisible

# For so many pairs of home and workspace one set is kept prepared.
MOST_PLACES = 16
_SETS_REMEMBERED = 1024

_Globs: TypeAlias = tuple[str | None, ...]
Place: TypeAlias = tuple[str | None, str | None]


class PreparedPaths:
    """`patterns` without `excluded`. Either may include the workspace with everything below it.

    Where a set includes the workspace and none is known, the answer is None.
    """

    __slots__ = (
        "_excluded", "_excluding", "_floating", "_here", "_latest", "_patterns", "_places",
        "_without_here",
    )  # fmt: skip

    def __init__(
        self,
        patterns: tuple[PathPattern, ...],
        excluded: tuple[PathPattern, ...],
        *,
        workspace: bool = False,
        without_workspace: bool = False,
    ) -> None:
        self._patterns = patterns
        self._excluded = excluded
        self._floating = _floating(patterns)
        self._excluding = _floating(excluded)
        self._here = workspace
        self._without_here = without_workspace
        self._places: dict[Place, _Sides] = {}
        # The latest one, which most often is asked for again.
        self._latest: tuple[str | None, str | None, _Sides] | None = None

    def overlaps(self, path: Path, context: PathContext) -> bool | None:
        """Return whether some part of the path is in the set, as `path_overlaps` does."""
        sides = self._sides(context)
        if sides is None:
            return None
        if not path.tree:
            return _judge_file(path, sides, context)
        if path.is_limited:
            return self.without_index(path, context, meets=True)
        answer = _judge(path, sides, context, _SOME)
        if answer is False and path.names and wildcard_may_match(path, self._patterns):
            answer = None
        if path.contents is None or answer is True:
            return answer
        return any_of((answer, self._holds(path, sides, context, self._floating)))

    def within(self, path: Path, context: PathContext) -> bool | None:
        """Return whether all of the path is in the set, as `path_within` does."""
        sides = self._sides(context)
        if sides is None:
            return None
        if not path.tree:
            return _judge_file(path, sides, context)
        if path.is_limited:
            return self.without_index(path, context, meets=False)
        answer = _judge(path, sides, context, _ALL)
        if answer and path.names and wildcard_may_match(path, self._excluded):
            answer = None
        if path.contents is None or answer is False or not self._excluding:
            return answer
        # A path that an exception excludes is not in the set.
        return both(answer, negate(self._holds(path, sides, context, self._excluding)))

    def _holds(
        self, path: Path, sides: _Sides, context: PathContext, floating: tuple[str, ...]
    ) -> bool | None:
        """Return whether something in the tree matches these floating globs."""
        assert path.contents is not None
        out = floating is self._excluding
        judged_by = sides.exceptions_only() if out else sides

        def judged(lexical: str, resolved: str) -> bool | None:
            known = None if path.resolved is None else resolved
            return _judge_file(
                Path(lexical=lexical, resolved=known, folds=path.folds), judged_by, context
            )

        return path.contents.any_matches(
            floating, judged, folds=path.folds, everything=not out and sides.outs is not None
        )

    def has_one_reading(self, path: Path, context: PathContext) -> bool:
        """Return whether the path, and every folder of the set, has only one reading.

        The workspace is then known, if it matters.
        """
        lexical = path.lexical
        several = path.folds or path.names or path.contents is not None or path.is_limited
        if several or not lexical.isascii() or context.workspace is None:
            return False
        if path.resolved is None:
            return True
        if path.resolved != lexical:
            return False
        sides = self._sides(context)
        assert sides is not None
        return context.resolve is None or _led(sides, context) is sides

    def certainly_misses(self, path: Path, context: PathContext, *, meets: bool) -> bool:
        """Return whether no reading of the path can be in the set, exceptions disregarded."""
        several = path.folds or path.names or path.contents is not None or path.is_limited
        if several or context.workspace is None:
            return False
        sides = self._sides(context)
        assert sides is not None
        how = _ITSELF if not path.tree else _SOME if meets else _ALL
        if _may_hold(sides, path.lexical, how):
            return False
        if path.resolved is None:
            return True
        leads = sides if context.resolve is None else _led(sides, context)
        if leads is sides and path.resolved == path.lexical:
            return True
        return not _may_hold(leads, path.resolved, how)

    def without_index(self, path: Path, context: PathContext, *, meets: bool) -> bool | None:
        """Return the answer of `overlaps` or `within` by trying one pattern after the other."""
        folder = context.workspace
        if (self._here or self._without_here) and folder is None:
            return None
        here = (folder_pattern(folder),) if folder else ()
        judge = path_overlaps if meets else path_within
        return judge(
            path,
            self._patterns + here if self._here else self._patterns,
            self._excluded + here if self._without_here else self._excluded,
            context=context,
        )

    def _sides(self, context: PathContext) -> _Sides | None:
        home, workspace = context.home, context.workspace
        latest = self._latest
        if latest is not None and latest[0] is home and latest[1] is workspace:
            return latest[2]
        place = (home, workspace)
        found = self._places.get(place)
        if found is None:
            found = self._placed(context, place)
        if found is not None:
            self._latest = (home, workspace, found)
        return found

    def globs_at(self, context: PathContext) -> tuple[tuple[str, ...], tuple[str, ...]] | None:
        """Return the globs of both sides; None where the folder of one of them is not known."""
        globs = self._globs(context)
        if globs is None or None in globs[0] or None in globs[1]:
            return None
        return globs  # type: ignore[return-value]

    def _placed(self, context: PathContext, place: Place) -> _Sides | None:
        globs = self._globs(context)
        if globs is None:
            return None
        sides = _sides_of(*globs)
        if len(self._places) >= MOST_PLACES:
            self._places.clear()
        self._places[place] = sides
        return sides

    def _globs(self, context: PathContext) -> tuple[_Globs, _Globs] | None:
        folder = context.workspace
        if (self._here or self._without_here) and folder is None:
            return None
        here = (folder_pattern(folder).glob,) if folder else ()
        ins: _Globs = tuple([absolute_glob(pattern, context) for pattern in self._patterns])
        outs: _Globs = tuple([absolute_glob(pattern, context) for pattern in self._excluded])
        return (
            ins + here if self._here else ins,
            outs + here if self._without_here else outs,
        )


class _Sides:
    """Both sides of a set as globs below known folders, and the folders that they spell."""

    __slots__ = ("_folded", "folders", "globs", "ins", "outs", "outs_globs")

    def __init__(self, globs: _Globs, outs: _Globs) -> None:
        self.globs, self.outs_globs = globs, outs
        self.ins = GlobIndex(globs)
        self.outs = GlobIndex(outs) if outs else None
        spelled = (fixed_part(glob)[0] for glob in (*globs, *outs) if glob and glob[0] == "/")
        self.folders = tuple(dict.fromkeys(spelled))
        self._folded: _Sides | None = None

    def folded(self) -> _Sides:
        """Return the same for paths whose letter case is ignored."""
        if self._folded is None:
            self._folded = _sides_of(case_folded(self.globs), case_folded(self.outs_globs))
        return self._folded

    def exceptions_only(self) -> _Sides:
        """Return the exceptions alone, as a set."""
        return _sides_of(self.outs_globs, ())

    def with_links_resolved(self, resolve: ResolvePath, straight: set[str]) -> _Sides:
        """Return the globs with links resolved in their folders; the same object if there are none.

        `straight` are the folders that this call knows not to be links.
        """
        if straight.issuperset(self.folders):
            return self
        for folder in self.folders:
            if folder not in straight and resolve(folder) == folder:
                straight.add(folder)
        if straight.issuperset(self.folders):
            return self

        def led(glob: str | None) -> str | None:
            if glob is None or glob[:1] != "/" or fixed_part(glob)[0] in straight:
                return glob
            return resolved_glob(glob, resolve)

        return _sides_of(
            tuple([led(glob) for glob in self.globs]),
            tuple([led(glob) for glob in self.outs_globs]),
        )


def _floating(patterns: tuple[PathPattern, ...]) -> tuple[str, ...]:
    return tuple(pattern.glob for pattern in patterns if pattern.base == "floating")


@lru_cache(maxsize=_SETS_REMEMBERED)
def _sides_of(globs: _Globs, outs: _Globs) -> _Sides:
    return _Sides(globs, outs)


# How one side is compared with a path: the path itself, some of a tree, all of a tree.
_Held: TypeAlias = Callable[[GlobIndex, PathForms], bool]
_How: TypeAlias = tuple[_Held, _Held]
_ITSELF: _How = (GlobIndex.matches, GlobIndex.matches)
_SOME: _How = (GlobIndex.overlaps, GlobIndex.covers)
_ALL: _How = (GlobIndex.covers, GlobIndex.overlaps)


def _judge_file(path: Path, sides: _Sides, context: PathContext) -> bool | None:
    """Judge a path alone, without what is below it."""
    lexical = path.lexical
    if path.resolved is not None or path.folds or not lexical.isascii():
        return _judge(path, sides, context, _ITSELF)
    # As `_inside` does, inlined for the common case.
    spot = path_forms(lexical)
    inside: bool | None = True
    if not sides.ins.matches(spot):
        if not sides.ins.unknown:
            return False
        inside = None
    outs = sides.outs
    if outs is None:
        return inside
    if outs.matches(spot):
        return False
    return None if outs.unknown else inside


def _judge(path: Path, sides: _Sides, context: PathContext, how: _How) -> bool | None:
    """Judge every reading of the path; None where two disagree or one cannot be judged."""
    lexical = path.lexical
    answer = _inside(sides, path_forms(lexical), how)
    if path.resolved is None and not path.folds and lexical.isascii():
        return answer
    if answer is None or not _agree(lexical, sides, answer=answer, how=how, folds=path.folds):
        return None
    if path.resolved is None:
        return answer
    leads = sides if context.resolve is None else _led(sides, context)
    if leads is sides and path.resolved == lexical:
        return answer
    if _inside(leads, path_forms(path.resolved), how) is not answer:
        return None
    return (
        answer if _agree(path.resolved, leads, answer=answer, how=how, folds=path.folds) else None
    )


def _agree(text: str, sides: _Sides, *, answer: bool, how: _How, folds: bool) -> bool:
    """Return whether every other reading of the text has the same answer."""
    if text.isascii() and not folds:
        return True
    other = without_invisible(text)
    if other != text and _inside(sides, path_forms(other), how) is not answer:
        return False
    return not folds or _inside(sides.folded(), path_forms(other.casefold()), how) is answer


def _inside(sides: _Sides, spot: PathForms, how: _How) -> bool | None:
    matches, matches_exception = how
    inside: bool | None = True
    if not matches(sides.ins, spot):
        if not sides.ins.unknown:
            return False
        inside = None
    if sides.outs is None:
        return inside
    if matches_exception(sides.outs, spot):
        return False
    return None if sides.outs.unknown else inside


def _may_hold(sides: _Sides, text: str, how: _How) -> bool:
    """Return whether the included side may contain a reading of a path."""
    if sides.ins.unknown or how[0](sides.ins, path_forms(text)):
        return True
    if text.isascii():
        return False
    other = without_invisible(text)
    return other != text and how[0](sides.ins, path_forms(other))


def _led(sides: _Sides, context: PathContext) -> _Sides:
    """Resolve the folders that the globs spell, once per call."""
    resolve = context.resolve
    assert resolve is not None
    known = context.known_sets.get(id(sides))
    # Keeping both alive keeps their ids unique, and distinguishes this resolver from another.
    if known is not None and known[0] is sides and known[1] is resolve:
        led: _Sides = known[2]
        return led
    leads = sides.with_links_resolved(resolve, context.known_sets.setdefault(resolve, set()))
    context.known_sets[id(sides)] = (sides, resolve, leads)
    return leads
