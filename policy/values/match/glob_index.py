"""An index of globs: tests an absolute path against all of them with a few look-ups.

A glob is stored by its literal parts. Most are a path, a folder with everything below it, or a name
at any depth, and a path is looked up among those by its whole text, by its folders and by its name.
Only globs with wildcards elsewhere are tried, and only where their literal parts are those of the
path.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Literal, TypeAlias

from policy.values.globs import (
    Test,
    compile_name_glob,
    compile_path_glob,
    literal_text,
    path_segments,
)

# The forms of a path are computed once per path. They include all folders above it, which takes
# some megabytes for the longest path; so only a few long paths are cached.
_SPOTS_REMEMBERED = 1024
_LONG_SPOTS_REMEMBERED = 8
_LONG = 256


class PathForms:
    """One reading of an absolute path: its text, its folders up to the root, and its segments.

    `folders` includes the path itself, and the root as an empty string. (Not a frozen dataclass:
    one is made for every path of every call, and making it would take longer than using it.)
    """

    __slots__ = ("folders", "name", "segments", "text")

    def __init__(self, text: str) -> None:
        segments = path_segments(text)
        folders = [text]
        place = text.rfind("/")
        while place >= 0:
            folders.append(text[:place])
            place = text.rfind("/", 0, place)
        self.text = text
        self.folders = tuple(folders)
        self.segments = segments
        self.name = segments[-1]


_short_spot = lru_cache(maxsize=_SPOTS_REMEMBERED)(PathForms)
_long_spot = lru_cache(maxsize=_LONG_SPOTS_REMEMBERED)(PathForms)


def path_forms(text: str) -> PathForms:
    """Return the forms of a path."""
    return _short_spot(text) if len(text) <= _LONG else _long_spot(text)


_ALL_BELOW = ("**",)
_Tries: TypeAlias = dict[str, list[Test]]
_NOTHING: _Tries = {}


class GlobIndex:
    """A set of globs; `unknown`: the set has further members that are not known.

    `overlaps` and `covers` take a path with everything below it.
    """

    __slots__ = (
        "_above",
        "_anything",
        "_below",
        "_by_folder",
        "_by_segment",
        "_covering",
        "_ends",
        "_exact",
        "_flats",
        "_floats",
        "_globs",
        "_inside",
        "_names",
        "_others",
        "_starts",
        "_tails",
        "_wild_below",
        "unknown",
    )

    def __init__(self, globs: Iterable[str | None]) -> None:
        given = tuple(globs)
        self.unknown = None in given
        self._globs = tuple(dict.fromkeys(glob for glob in given if glob is not None))
        sorter = _Sorter()
        for glob in self._globs:
            sorter.add(glob)
        self._anything = sorter.anything
        self._exact = frozenset(sorter.exact)
        self._below = frozenset(sorter.below)
        self._names = frozenset(sorter.names)
        self._inside = frozenset(sorter.inside)
        self._starts, self._ends = tuple(sorter.starts), tuple(sorter.ends)
        self._tails = tuple(sorter.tails)
        self._by_folder = sorter.by_folder or _NOTHING
        self._by_segment = sorter.by_segment or _NOTHING
        self._flats, self._others = tuple(sorter.flats), tuple(sorter.others)
        self._floats = sorter.floats
        self._above: frozenset[str] | None = None
        self._wild_below = _NOTHING
        self._covering: GlobIndex | None = None

    def matches(self, spot: PathForms) -> bool:
        """Return whether one of the globs matches the path."""
        if self._below and not self._below.isdisjoint(spot.folders):
            return True
        if spot.text in self._exact:
            return True
        return self._floats and self._matches_floating(spot)

    def _matches_floating(self, spot: PathForms) -> bool:
        """Return whether a glob other than a path or a whole folder matches."""
        name = spot.name
        if name in self._names or name.endswith(self._ends) or name.startswith(self._starts):
            return True
        if self._tails and spot.text.endswith(self._tails):
            return True
        if self._inside and not self._inside.isdisjoint(spot.segments):
            return True
        if self._by_folder and _some(self._by_folder, spot.folders, spot.text):
            return True
        if self._by_segment and _some(self._by_segment, spot.segments, spot.text):
            return True
        for test in self._flats:
            if test(name):
                return True
        return self._anything or any(test(spot.text) for test in self._others)

    def covers(self, spot: PathForms) -> bool:
        """Return whether one of the globs matches the path and everything that can be below it."""
        covering = self._covering
        if covering is None:
            covering = self._covering = GlobIndex(
                glob for glob in self._globs if glob == "**" or glob.endswith("/**")
            )
        return covering.matches(spot)

    def overlaps(self, spot: PathForms) -> bool:
        """Return whether one of the globs matches the path, or something that can be below it."""
        above = self._above
        if above is None:
            above = self._learn_above()
        if spot.text in above or self.matches(spot):
            return True
        return bool(self._wild_below) and _some(self._wild_below, spot.folders, spot.text)

    def _learn_above(self) -> frozenset[str]:
        """Find the folders above those that the globs spell; wildcards are tried below them."""
        above: set[str] = set()
        wild: _Tries = {}
        for glob in self._globs:
            if not glob.startswith("/"):
                continue
            segments = path_segments(glob)
            fixed = _literals(segments)
            for count in range(1, min(len(fixed), len(segments) - 1) + 1):
                above.add("/".join(fixed[:count]) or "/")
            if len(fixed) < len(segments) and segments[len(fixed) :] != ("**",):
                wild.setdefault("/".join(fixed), []).append(_may_hold(segments))
        self._wild_below = wild
        # Assigned last, so that another thread sees the complete value.
        self._above = frozenset(above)
        return self._above


def _some(tries: _Tries, keys: tuple[str, ...], text: str) -> bool:
    for key in keys:
        tests = tries.get(key)
        if tests is not None:
            for test in tests:
                if test(text):
                    return True
    return False


def _may_hold(segments: tuple[str, ...]) -> Test:
    """Return a test of whether something below a path may match these segments."""
    tests: list[Callable[[str], bool] | None] = [
        None if segment == "**" else compile_name_glob(segment) for segment in segments
    ]

    def may_hold(text: str) -> bool:
        names = path_segments(text)
        for test, name in zip(tests, names, strict=False):
            if test is None:
                return True
            if not test(name):
                return False
        return len(names) < len(tests)

    return may_hold


class _Sorter:
    """Globs, sorted by their literal parts. They are compared with absolute paths only."""

    def __init__(self) -> None:
        self.anything = False
        self.exact: set[str] = set()
        self.below: set[str] = set()
        self.names: set[str] = set()
        self.inside: set[str] = set()
        self.starts: set[str] = set()
        self.ends: set[str] = set()
        self.tails: set[str] = set()
        self.by_folder: _Tries = {}
        self.by_segment: _Tries = {}
        self.flats: list[Test] = []
        self.others: list[Test] = []
        self.floats = False

    def add(self, glob: str) -> None:
        """Add one glob."""
        segments = path_segments(glob)
        fixed = _literals(segments)
        rest = segments[len(fixed) :]
        self.floats = self.floats or not glob.startswith("/") or rest not in ((), _ALL_BELOW)
        if glob.startswith("/"):
            self._add_rooted(glob, "/".join(fixed), rest)
        elif rest[:1] == ("**",) and not fixed:
            self._add_floating(glob, rest[1:])
        else:
            # Below no folder at all: not an absolute path.
            self.others.append(compile_path_glob(glob))

    def _add_rooted(self, glob: str, folder: str, rest: tuple[str, ...]) -> None:
        if not rest:
            self.exact.add(folder or "/")
        elif rest == _ALL_BELOW:
            self.below.add(folder)
        else:
            self.by_folder.setdefault(folder, []).append(compile_path_glob(glob))

    def _add_floating(self, glob: str, rest: tuple[str, ...]) -> None:
        literals = [literal_text(segment) for segment in rest if segment != "**"]
        if not rest:
            self.anything = True
        elif len(rest) == 1 and rest != ("**",):
            self._add_name(rest[0])
        elif len(rest) == 2 and rest[1] == "**" and literals and literals[0] is not None:
            self.inside.add(literals[0])
        elif "**" not in rest and None not in literals:
            self.tails.add("/" + "/".join(text or "" for text in literals))
        else:
            known = [text for text in literals if text is not None]
            test = compile_path_glob(glob)
            if known:
                self.by_segment.setdefault(max(known, key=len), []).append(test)
            else:
                self.others.append(test)

    def _add_name(self, name: str) -> None:
        literal = literal_text(name)
        if literal is not None:
            self.names.add(literal)
            return
        begins, ends = literal_text(name[:-1]), literal_text(name[1:])
        if name.endswith("*") and begins is not None and not name.endswith("\\*"):
            self.starts.add(begins)
        elif name.startswith("*") and ends is not None:
            self.ends.add(ends)
        else:
            self.flats.append(compile_name_glob(name))


Meant: TypeAlias = Literal["itself", "all below", "some below"]


def fixed_folder(glob: str) -> tuple[str, Meant] | None:
    """Return the folder that a glob spells before any wildcard, and what of it is meant.

    None where the glob may match anywhere. The root with everything below it is an empty string.
    """
    if not glob.startswith("/"):
        return None
    segments = path_segments(glob)
    fixed = _literals(segments)
    rest = segments[len(fixed) :]
    folder = "/".join(fixed)
    if not rest:
        return folder or "/", "itself"
    return folder, "all below" if rest == _ALL_BELOW else "some below"


def _literals(segments: tuple[str, ...]) -> list[str]:
    """Return the leading segments of a glob without wildcards."""
    found: list[str] = []
    for segment in segments:
        literal = None if segment == "**" else literal_text(segment)
        if literal is None:
            break
        found.append(literal)
    return found
