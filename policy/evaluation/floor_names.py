"""Whether a path that a call writes may be a file of the floor, by any of its names.

A path has several readings: as spelled, with links followed, without invisible characters, without
letter case where the file system may ignore it, and under the other names that a file or a folder
has by its device and inode.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator

from policy.evaluation.declared_resources import DeclaredResources
from policy.evaluation.effects import CallEffects
from policy.evaluation.evaluation import Evaluation
from policy.evaluation.floor import Floor
from policy.evaluation.possible_resources import handed_paths
from policy.model import FileId, Identify, ResolvePath
from policy.values import Path, Unreadable, normalise, tree_reaches, without_invisible


class FloorNames:
    """The names of one floor, indexed for look-ups."""

    def __init__(self, floor: Floor) -> None:
        self._floor = floor
        self._names = frozenset(map(normalise, floor.names()))
        self._folders = tuple(f"{normalise(folder).rstrip('/')}/" for folder in floor.folders)
        self._any_case = _by_folder(floor.any_case)
        self._data_folders = frozenset(map(normalise, floor.data_folders))
        self._folded = _Folded(self)
        self.files = frozenset(floor.files)
        self.above = floor.names() - self.files
        self.protected = (*floor.files, *floor.any_case, *floor.folders)

    def hold(self, path: Path, *, is_open: bool) -> bool:
        """Return whether a reading of a path is protected; `is_open` protects part of a folder."""
        readings = {path.lexical, path.resolved or path.lexical}
        readings |= {without_invisible(reading) for reading in readings}
        return any(self.holds(text, tree=path.tree, is_open=is_open) for text in readings) or (
            path.folds and any(self._folded.holds(text, tree=path.tree) for text in readings)
        )

    def holds(self, text: str, *, tree: bool, is_open: bool) -> bool:
        """Return whether a path without links is protected, or, for a tree, something below it."""
        if text in self._names:
            return True  # these include all folders with something protected below them
        above, name = posixpath.split(text)
        if name.lower() in self._any_case.get(above, ()):
            return True
        if above in self._data_folders and self._is_data(name):
            return True
        inside = next((one for one in self._folders if text.startswith(one)), None)
        if inside is None:
            return False
        return not is_open or tree or self._counts(text.removeprefix(inside))

    def _counts(self, below: str) -> bool:
        """Return whether a file in a policy folder is a policy file, by its name from there on."""
        if below.lower().endswith(self._floor.policy_ending):
            return True
        return self._is_data(below) and "/." not in f"/{below}"

    def _is_data(self, name: str) -> bool:
        return name.endswith(self._floor.data_endings) and not name.startswith(".")

    def spelled(self) -> Iterator[str]:
        """Yield all names that are protected, in any letter case."""
        yield from self._names
        for folder, names in self._any_case.items():
            yield from (posixpath.join(folder, name) for name in names)

    def folders(self) -> tuple[str, ...]:
        """Return the protected folders, each with a slash at its end."""
        return self._folders


class _Folded:
    """The names of a floor where letter case is ignored."""

    def __init__(self, names: FloorNames) -> None:
        self._of = names
        self._spelled: frozenset[str] | None = None
        self._folders: tuple[str, ...] = ()

    def holds(self, text: str, *, tree: bool) -> bool:
        if self._spelled is None:
            self._folders = tuple(map(_fold, self._of.folders()))
            self._spelled = frozenset(map(_fold, self._of.spelled()))
        folded = _fold(without_invisible(text))
        return folded in self._spelled or folded.startswith(self._folders)


def writes_by_any_name(
    names: FloorNames, call: Evaluation, declared: DeclaredResources, *, is_open: bool
) -> bool:
    """Return whether some reading of something that a call writes is protected."""
    effects = call.effects(declared)
    same = call.identifies()
    others = None if same is None else _OtherNames(names, same, call.paths.resolve)
    for thing in _written_paths(effects, names.protected):
        if names.hold(thing, is_open=is_open):
            return True
        leads = thing.resolved or thing.lexical
        if others is not None and any(
            names.holds(normalise(other), tree=thing.tree, is_open=is_open)
            for other in others.of(leads)
        ):
            return True
    return False


def _written_paths(effects: CallEffects, protected: Iterable[str]) -> Iterator[Path]:
    """Yield the paths that a call writes, and those that it gives to unseen code.

    Of the names of a wildcard these are the protected paths that it may stand for. Where a build or
    an installer usually writes is left out: its code could write anywhere else as well.
    """
    for item in effects.of("writes"):
        if item.is_of_unseen_code:
            continue
        thing = item.thing
        if isinstance(thing, Unreadable) and item.access is not None:
            # A file with other names may be a protected one.
            thing = effects.by_one_name(item.access)
            if isinstance(thing, Unreadable):
                # An earlier command may have made a link on the way; the name is protected as well.
                thing = effects.as_spelled(item.access)
        if isinstance(thing, Path):
            yield thing
    for thing in handed_paths(effects):
        if thing.tree:
            reached = (path for path in protected if tree_reaches(thing, path))
            yield from (Path(lexical=path) for path in reached)
        else:
            yield thing


def protected_file(floor: Floor, call: Evaluation, declared: DeclaredResources) -> str | None:
    """Return a protected path that something which a call writes is, holds, or lies in."""
    protected = sorted({*floor.files, *floor.any_case, *floor.folders})
    for thing in _written_paths(call.effects(declared), protected):
        for reading in (thing.lexical, thing.resolved or thing.lexical):
            for path in protected:
                if path == reading or path.startswith(f"{reading.rstrip('/')}/"):
                    return path
            for path in floor.folders:
                if reading.startswith(f"{path.rstrip('/')}/"):
                    return path
    return None


class _OtherNames:
    """Finds files of the floor under other names, by device and inode, for one call."""

    def __init__(self, names: FloorNames, identify: Identify, resolve: ResolvePath | None) -> None:
        self._names = names
        self._identify = identify
        self._resolve = resolve
        self._folders: dict[FileId, str] | None = None
        self._files: dict[FileId, str] | None = None

    def of(self, path: str) -> Iterator[str]:
        """Yield the protected names of a path, its own or those through a folder above it."""
        if self._folders is None:
            self._folders = self._known(self._names.above)
        here, rest = path, ""
        while True:
            found = self._identify(here)
            if found is not None:
                known = self._folders.get(found)
                if known is None and not rest:
                    known = self._file(found)
                if known is not None and known != here:
                    yield posixpath.join(known, rest) if rest else known
            above, name = posixpath.split(here)
            if above == here:
                return
            here, rest = above, posixpath.join(name, rest) if rest else name

    def _file(self, found: FileId) -> str | None:
        if self._files is None:
            self._files = self._known(self._names.files)
        return self._files.get(found)

    def _known(self, paths: Iterable[str]) -> dict[FileId, str]:
        known: dict[FileId, str] = {}
        for path in paths:
            leads = path if self._resolve is None else self._resolve(path)
            found = None if leads is None else self._identify(leads)
            if found is not None:
                known[found] = path
        return known


def _by_folder(paths: Iterable[str]) -> dict[str, frozenset[str]]:
    """Return the last segments of paths, in lower case, by their folder."""
    found: dict[str, set[str]] = {}
    for path in paths:
        folder, name = posixpath.split(normalise(path))
        found.setdefault(folder, set()).add(name.lower())
    return {folder: frozenset(names) for folder, names in found.items()}


def _fold(text: str) -> str:
    return normalise(text.casefold())
