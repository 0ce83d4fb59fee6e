"""Which files below a tree a command writes, as far as its words tell."""

from __future__ import annotations

from policy.evaluation.disk_view import GlobMeaning
from policy.values import ANY_DEPTH, Reach

# git takes no path with such a name into the work tree, in any letter case.
_OF_GIT = ".git"


def reach_of(meant: GlobMeaning, names: str) -> Reach | None:
    """Return what is written below a tree; None where that may be anything.

    `names` is the glob of a wildcard of the shell, relative to the folder that it searches.
    """
    if meant.new_names in ("stored", "patched"):
        return Reach(globs=("**",), never=_OF_GIT)
    if meant.sources:
        return Reach(globs=tuple(f"**/{glob}" for glob in meant.sources))
    if not (meant.steps and names.strip("*/")) or meant.new_names != "own":
        return None  # a `*` alone stands for the folder
    segments = names.split("/")
    if meant.steps[0] == ANY_DEPTH:
        segments = ["**", *(segments[1:] or ["*"])]
    if meant.tree:
        segments.append("**")
    return Reach(globs=("/".join(segments),), hidden=meant.lenient, folds=meant.lenient)
