"""Recognises the bounds of a confinement that are folders and files, which a sandbox can mount."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

from policy.model import Bound, ResourceSet
from policy.values.paths.membership import fixed_part


@dataclass(frozen=True, slots=True, kw_only=True)
class PlainPath:
    """An absolute path as a set spells it: with everything below it (`tree`), or alone."""

    path: str
    tree: bool

    def covers(self, other: PlainPath) -> bool:
        """Return whether it holds all of another one, as spelled."""
        if self.tree:
            return other.path == self.path or other.path.startswith(self.path.rstrip("/") + "/")
        return not other.tree and other.path == self.path


def plain_paths(resources: ResourceSet) -> tuple[PlainPath, ...] | None:
    """Return the paths that a set consists of; None if it is not plain.

    A set is plain if its items are paths without wildcards but a final `/**`, and none is excluded.
    """
    if resources.excluded:
        return None
    found: list[PlainPath] = []
    for item in resources.included:
        inner = plain_paths(item) if isinstance(item, ResourceSet) else _plain_path(item)
        if inner is None:
            return None
        found += inner
    return tuple(dict.fromkeys(found))


def _plain_path(glob: str) -> tuple[PlainPath, ...] | None:
    path, rest = fixed_part(glob) if glob.startswith("/") else ("/", glob)
    if rest not in ("", "**"):
        return None
    return (PlainPath(path=path, tree=rest == "**"),)


def plain_bound(bound: Bound) -> tuple[PlainPath, ...] | None:
    """Return the paths that are within a bound, as spelled; None if it is not plain.

    What is in `without` has still to be taken away.
    """
    whole: tuple[PlainPath, ...] = (PlainPath(path="/", tree=True),)
    for union in bound.within:
        sets = [plain_paths(one.resources) for one in union]
        if any(each is None for each in sets):
            return None
        paths = [path for each in sets if each is not None for path in each]
        whole = _intersection(whole, tuple(dict.fromkeys(paths)))
    return whole


def _intersection(
    one: tuple[PlainPath, ...], other: tuple[PlainPath, ...]
) -> tuple[PlainPath, ...]:
    found: dict[PlainPath, None] = {}
    for left, right in product(one, other):
        if left.covers(right):
            found[right] = None
        elif right.covers(left):
            found[left] = None
    return tuple(each for each in found if not _within_another(each, found))


def _within_another(path: PlainPath, others: dict[PlainPath, None]) -> bool:
    return any(other is not path and other.covers(path) for other in others)
