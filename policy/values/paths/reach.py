"""Which files below a tree a program writes, as globs, and whether one of them may match a pattern.

`rm -rf *.egg-info` writes `*.egg-info/**` of its folder, a formatter of Python `**/*.py`: neither
writes `.git/config` there.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from policy.values.globs import escape_glob, globs_intersect, literal_text, path_segments

_ANY = "**"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reach:
    """Globs of the files below a tree, relative to it.

    `hidden`: wildcards match names that begin with a dot as well. `folds`: letter case is ignored.
    `never` is a name, in lower case, that no `**` passes.
    """

    globs: tuple[str, ...]
    hidden: bool = True
    folds: bool = False
    never: str = ""


_EVERYTHING = Reach(globs=(_ANY,))


@lru_cache(maxsize=4096)
def reaches(reach: Reach, glob: str, tree: str) -> bool:
    """Return whether a file that is reached below the folder `tree` may match the pattern `glob`.

    A floating pattern has to begin in the tree's own path: `**/.git/hooks/**` in `/work/.git`, not
    in `/work`. Which files of such names there are below, only the disk knows.
    """
    wanted = path_segments(glob)
    folders = tuple(escape_glob(name) for name in path_segments(tree))
    for one in reach.globs:
        below = path_segments(one)
        if glob.startswith("/"):
            if _agree(wanted, (*folders, *below), reach):
                return True
            continue
        named = wanted[1:] if wanted[:1] == (_ANY,) else wanted
        if not named or any(
            _agree(named, (*folders[start:], *below), reach) for start in range(len(folders))
        ):
            return True
    return False


def begins_above(glob: str, tree: str) -> bool:
    """Return whether a floating pattern begins in the path of `tree`, and may go on below it."""
    return not glob.startswith("/") and reaches(_EVERYTHING, glob, tree)


def passes_name(glob: str, name: str) -> bool:
    """Return whether every path that a pattern matches has a segment of this name."""
    literals = map(literal_text, path_segments(glob))
    return any(literal is not None and literal.casefold() == name for literal in literals)


def _agree(wanted: tuple[str, ...], reached: tuple[str, ...], reach: Reach) -> bool:
    """Return whether some path matches both globs; decided from their ends on."""
    # after[place]: whether the rest of `wanted` agrees with `reached` from that place on.
    after = [_is_empty(reached[place:]) for place in range(len(reached) + 1)]
    for at in range(len(wanted) - 1, -1, -1):
        one, here = wanted[at], [False] * (len(reached) + 1)
        for place in range(len(reached), -1, -1):
            other = reached[place] if place < len(reached) else None
            if one == _ANY:
                here[place] = after[place] or (other is not None and here[place + 1])
            elif other == _ANY:
                here[place] = here[place + 1] or (after[place] and not _is_never(one, reach))
            elif other is not None:
                here[place] = after[place + 1] and _names_agree(one, other, reach)
        after = here
    return after[0]


def _is_empty(segments: tuple[str, ...]) -> bool:
    return all(segment == _ANY for segment in segments)


def _is_never(name: str, reach: Reach) -> bool:
    literal = literal_text(name)
    return bool(reach.never) and literal is not None and literal.casefold() == reach.never


def _names_agree(wanted: str, reached: str, reach: Reach) -> bool:
    if not reach.hidden and reached[:1] in ("*", "?") and wanted.startswith("."):
        return False
    if reach.folds:
        wanted, reached = wanted.casefold(), reached.casefold()
    return globs_intersect(wanted, reached)
