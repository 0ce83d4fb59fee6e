"""An index of many sets of paths: finds those that contain a path by one walk over its folders.

The sets are looked up together, by the literal parts of their patterns. The answers are those of
each `PreparedPaths`. Other paths are left to these: a path with everything below it, a path with
several readings, a path with links in a folder that some pattern spells.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping

from policy.model import ResolvePath
from policy.values.globs import Test, compile_path_glob
from policy.values.match.glob_index import GlobIndex, fixed_folder, path_forms
from policy.values.match.one_path_set import MOST_PLACES, Place, PreparedPaths
from policy.values.paths.membership import fixed_part
from policy.values.paths.path import Path, PathContext

_Numbers = tuple[int, ...]


class PathSets:
    """Sets by number; those in `unindexed` must be asked one by one."""

    __slots__ = ("_latest", "_places", "_sets")

    def __init__(self, sets: Mapping[int, PreparedPaths]) -> None:
        self._sets = dict(sets)
        self._places: dict[Place, _Placed] = {}
        # The latest one, which most often is asked for again.
        self._latest: tuple[str | None, str | None, _Placed] | None = None

    def containing(self, path: Path, context: PathContext) -> set[int] | None:
        """Return the numbers of the sets that contain a path; None where each must be asked."""
        lexical = path.lexical
        if path.tree or path.folds or not lexical.isascii():
            return None
        placed = self._placed(context)
        if path.resolved is None:
            return placed.holding(lexical)
        if path.resolved != lexical or not placed.has_no_links(context):
            return None
        return placed.holding(lexical)

    def unindexed(self, context: PathContext) -> _Numbers:
        """Return the numbers of the sets with patterns below an unknown folder."""
        return self._placed(context).unsure

    def _placed(self, context: PathContext) -> _Placed:
        home, workspace = context.home, context.workspace
        latest = self._latest
        if latest is not None and latest[0] is home and latest[1] is workspace:
            return latest[2]
        found = self._places.get((home, workspace))
        if found is None:
            found = _Placed(self._sets, context)
            if len(self._places) >= MOST_PLACES:
                self._places.clear()
            self._places[home, workspace] = found
        self._latest = (home, workspace, found)
        return found


class _Folder:
    """The sets with one folder: by itself, with everything below it, and globs below it."""

    __slots__ = ("below", "itself", "tries")

    def __init__(self) -> None:
        self.itself: set[int] = set()
        self.below: set[int] = set()
        self.tries: list[tuple[int, Test]] = []

    def hold(self, text: str, found: set[int]) -> None:
        """Add the sets that contain this path, or one at or below this folder."""
        if self.below:
            found.update(self.below)
        for number, test in self.tries:
            if number not in found and test(text):
                found.add(number)


class _Placed:
    """The sets for one pair of home and workspace."""

    __slots__ = (
        "_excepting", "_floating", "_folders", "_longest", "_some_floating", "_spelled", "unsure",
    )  # fmt: skip

    def __init__(self, sets: Mapping[int, PreparedPaths], context: PathContext) -> None:
        self._folders: dict[str, _Folder] = defaultdict(_Folder)
        self._excepting: dict[int, GlobIndex] = {}
        floating: dict[int, list[str]] = defaultdict(list)
        spelled: dict[str, None] = {}
        unsure: list[int] = []
        for number, prepared in sets.items():
            globs = prepared.globs_at(context)
            if globs is None:
                unsure.append(number)
                continue
            ins, outs = globs
            for glob in ins:
                if not self._sort(glob, number):
                    floating[number].append(glob)
            if outs:
                self._excepting[number] = GlobIndex(outs)
            spelled.update((fixed_part(g)[0], None) for g in (*ins, *outs) if g.startswith("/"))
        self.unsure = tuple(unsure)
        self._folders = dict(self._folders)
        self._longest = max(map(len, self._folders), default=-1)
        self._floating = tuple((number, GlobIndex(globs)) for number, globs in floating.items())
        self._some_floating = (
            GlobIndex(glob for globs in floating.values() for glob in globs) if floating else None
        )
        self._spelled = tuple(spelled)

    def _sort(self, glob: str, number: int) -> bool:
        """Store a glob by the folder that it spells; return whether it spells one."""
        place = fixed_folder(glob)
        if place is None:
            return False
        folder, meant = self._folders[place[0]], place[1]
        if meant == "itself":
            folder.itself.add(number)
        elif meant == "all below":
            folder.below.add(number)
        else:
            folder.tries.append((number, compile_path_glob(glob)))
        return True

    def holding(self, text: str) -> set[int]:
        """Return the numbers of the sets that contain an absolute path with one reading."""
        folders = self._folders
        found: set[int] = set()
        folder = folders.get(text)
        if folder is not None:
            found.update(folder.itself)
            folder.hold(text, found)
        # A folder longer than any stored one cannot be stored.
        end = text.rfind("/", 0, self._longest + 1)
        while end >= 0:
            folder = folders.get(text[:end])
            if folder is not None:
                folder.hold(text, found)
            end = text.rfind("/", 0, end)
        if self._some_floating is not None:
            self._float(text, found)
        if self._excepting and found:
            spot = path_forms(text)
            for number in found.intersection(self._excepting):
                if self._excepting[number].matches(spot):
                    found.discard(number)
        return found

    def _float(self, text: str, found: set[int]) -> None:
        """Add the sets that contain the path by its name, or by wildcards elsewhere."""
        assert self._some_floating is not None
        spot = path_forms(text)
        if self._some_floating.matches(spot):
            for number, index in self._floating:
                if number not in found and index.matches(spot):
                    found.add(number)

    def has_no_links(self, context: PathContext) -> bool:
        """Return whether none of the folders that the sets spell is a link; asked once per call."""
        resolve = context.resolve
        if resolve is None:
            return True
        straight: set[str] = context.known_sets.setdefault(resolve, set())
        return straight.issuperset(self._spelled) or _all_straight(self._spelled, resolve, straight)


def _all_straight(folders: Iterable[str], resolve: ResolvePath, straight: set[str]) -> bool:
    for folder in folders:
        if folder not in straight:
            if resolve(folder) != folder:
                return False
            straight.add(folder)
    return True
