"""The contents of a tree or wildcard, and whether some of them match a floating pattern.

The disk is queried when the first set with such a pattern is tested.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from policy.model import DiskAnswer, DiskQuery, Exclusions, FolderContents, LookAt
from policy.values.globs import compile_name_glob, literal_text, path_segments
from policy.values.paths.exclusion import is_excluded
from policy.values.shell_globs import compile_step
from policy.values.text import normalise, without_invisible

# Given a path in the tree, as spelled and as resolved: whether it is in the set.
Judged = Callable[[str, str], bool | None]


# Files that the call itself creates, as spelled and as resolved.
Made = Callable[[], Iterable[tuple[str, str]]]


def _nothing() -> tuple[tuple[str, str], ...]:
    return ()


class ContentsBelow:
    """The contents below a path, queried when needed, and the files that the call creates there."""

    __slots__ = ("_look", "_made", "_seen", "asked")

    def __init__(self, asked: DiskQuery, look: LookAt | None, made: Made = _nothing) -> None:
        self.asked = asked
        self._look = look
        self._made = made
        self._seen: tuple[DiskAnswer | None] | None = None

    @property
    def are_files(self) -> bool:
        """Whether the tree stands for the files of certain names that are below it."""
        return self.asked.exclusions is not None and self.asked.exclusions.only_files

    @property
    def seen(self) -> DiskAnswer | None:
        """The disk's answer; None where there is none."""
        if self._seen is None:
            self._seen = (None if self._look is None else self._look(self.asked),)
        return self._seen[0]

    def paths(self) -> Iterator[str]:
        """Yield the entries below, as spelled, as far as the disk's answer names them."""
        seen = self.seen
        for held in () if seen is None else seen.contents:
            for ways in held.names.values():
                for way in ways:
                    yield _below(held.lexical, way)

    def any_matches(
        self, floating: tuple[str, ...], judged: Judged, *, folds: bool, everything: bool
    ) -> bool | None:
        """Return whether `judged` accepts one of the contents that these globs may match.

        Only entries with the name that a glob ends with are judged, unless `everything` is set.
        """
        if not (floating or everything):
            return False
        seen = self.seen
        if seen is None:
            return None
        answer: bool | None = False if seen.complete else None
        for lexical, resolved in self._made():
            if _may_be_named(lexical, self.asked):
                found = judged(lexical, resolved)
                if found:
                    return True
                answer = None if found is None else answer
        for held in seen.contents:
            entries = (
                _files(held, self.asked.exclusions)
                if self.are_files
                else _candidates(held, floating, folds=folds, everything=everything)
            )
            for below in entries:
                found = judged(_below(held.lexical, below), _below(held.resolved, below))
                if found:
                    return True
                if found is None:
                    answer = None
        return answer


def _may_be_named(path: str, asked: DiskQuery) -> bool:
    """Return whether a created file may be one of those that the query is about."""
    if not path.startswith(asked.place.rstrip("/") + "/") and not path.startswith(
        asked.spelled.rstrip("/") + "/"
    ):
        return False
    if not asked.steps or asked.tree:
        return True
    return compile_step(asked.steps[-1], loose=asked.lenient)(path.rpartition("/")[2])


def _files(held: FolderContents, exclusions: Exclusions | None) -> Iterator[str]:
    """Yield the paths of the files that the exclusions leave."""
    assert exclusions is not None
    for name, below in held.names.items():
        if not is_excluded(exclusions, name, folder=False):
            yield from below


def _candidates(
    held: FolderContents, floating: tuple[str, ...], *, folds: bool, everything: bool
) -> Iterator[str]:
    """Yield the paths whose name one of the globs ends with."""
    names = held.names
    wanted: set[str] = set()
    tests = []
    odd = [name for name in names if not name.isascii()]
    for glob in floating:
        asked = [segment for segment in path_segments(glob) if segment != "**"]
        if not asked or everything:
            wanted.update(names)
            continue
        literal = literal_text(asked[-1])
        if literal is not None and literal in names:
            wanted.add(literal)
        if folds:
            tests.append((compile_name_glob(asked[-1].casefold()), list(names)))
        else:
            tests.append(
                (compile_name_glob(asked[-1]), odd if literal is not None else list(names))
            )
    for test, tried in tests:
        for name in tried:
            for other in _readings(name, folds=folds):
                if test(other):
                    wanted.add(name)
    for name in wanted:
        yield from names[name]


def _readings(name: str, *, folds: bool) -> tuple[str, ...]:
    if name.isascii():
        return (name.casefold() if folds else name,)
    settled = normalise(name)
    found = (settled, without_invisible(settled))
    return tuple(without_invisible(one).casefold() for one in found) if folds else found


def _below(folder: str, way: str) -> str:
    return f"{folder.rstrip('/')}/{way}"
