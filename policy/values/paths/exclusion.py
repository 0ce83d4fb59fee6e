"""Decides whether a program skips a file or folder of a given name.

A name is skipped only if that is certain: programs differ in how they treat letters beyond ASCII.
"""

from __future__ import annotations

from policy.model import Exclusions
from policy.values.globs import compile_name_glob

# Files that may make hidden names visible to a search, by lines with a `!` or by options.
SHOWING = frozenset(
    {
        ".gitignore", ".ignore", ".rgignore", ".fdignore", ".agignore", "exclude", "ignore", ".git",
        ".gitconfig", "config",
    }
)  # fmt: skip


def is_excluded(left: Exclusions, name: str, *, folder: bool, shown: tuple[str, ...] = ()) -> bool:
    """Return whether a file or folder of this name is skipped; names in `shown` never are."""
    if any(
        compile_name_glob(glob.casefold())(name.casefold()) for glob in (*left.included, *shown)
    ):
        return False
    if left.hidden and name.startswith("."):
        return True
    if not name.isascii():
        return False
    if not folder and left.all_others:
        return True
    return any(compile_name_glob(glob)(name) for glob in (left.folders if folder else left.files))
