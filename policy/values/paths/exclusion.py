"""A name that stands on the disk, and what a program leaves out, in; whether it is left out, out.

What cannot be told is not left out: programs differ in how they read letters beyond ASCII.
"""

from __future__ import annotations

from policy.model import Exclusions
from policy.values.globs import compile_name_glob

# Files that may show hidden names to a search: lines behind a `!`, and options.
SHOWING = frozenset(
    {
        ".gitignore", ".ignore", ".rgignore", ".fdignore", ".agignore", "exclude", "ignore", ".git",
        ".gitconfig", "config",
    }
)  # fmt: skip


def is_excluded(left: Exclusions, name: str, *, folder: bool, shown: tuple[str, ...] = ()) -> bool:
    """Tell whether a file or folder of this name is passed over; `shown` are globs that are not."""
    if any(compile_name_glob(glob.casefold())(name.casefold()) for glob in (*left.kept, *shown)):
        return False
    if left.hidden and name.startswith("."):
        return True
    if not name.isascii():
        return False
    if not folder and left.others:
        return True
    return any(compile_name_glob(glob)(name) for glob in (left.folders if folder else left.files))
