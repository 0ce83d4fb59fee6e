"""Hidden names that ignore files (`.ignore`, `.gitignore`) make visible to searches of a folder.

Searches such as `rg` and `fd` skip hidden names, except those that a line with a `!` names. Which
program reads which of these files is not distinguished: each may show a name to all of them.
"""

from __future__ import annotations

import os
import re
import stat

_NAMES = (".gitignore", ".ignore", ".rgignore", ".fdignore", ".agignore", ".git/info/exclude")
_MOST_BYTES = 262_144
_EVERYTHING = ("*",)
_PLAIN = re.compile(r"[A-Za-z0-9_.*?~+@%,=-]+")
_EXCLUDES = re.compile(r'^\s*excludesfile\s*=\s*"?\s*(\S+?)\s*"?\s*$', re.IGNORECASE | re.MULTILINE)


class IgnoreFiles:
    """The hidden names that ignore files show, read once per folder."""

    def __init__(self) -> None:
        self._shown: dict[str, tuple[str, ...]] = {}

    def shown(self, folder: str) -> tuple[str, ...]:
        """Return globs of the hidden names in a folder that a search may read."""
        known = self._shown.get(folder)
        if known is None:
            above = os.path.dirname(folder)
            found = _of_user() if above == folder else self.shown(above)
            own = [glob for name in _NAMES for glob in _globs(os.path.join(folder, name))]
            own += _of_worktree(folder)
            known = self._shown[folder] = tuple(dict.fromkeys((*found, *own)))
        return known


def _of_user() -> tuple[str, ...]:
    """Return the names that the user's files show; everything if one of them sets options."""
    if os.environ.get("RIPGREP_CONFIG_PATH"):
        return _EVERYTHING
    home = os.path.expanduser("~")
    config = os.environ.get("XDG_CONFIG_HOME") or os.path.join(home, ".config")
    files = [f"{config}/git/ignore", f"{config}/fd/ignore", f"{home}/.agignore"]
    for settings in (f"{home}/.gitconfig", f"{config}/git/config"):
        text = _read(settings)
        if text is None:
            return _EVERYTHING
        files += map(os.path.expanduser, _EXCLUDES.findall(text))
    return tuple(glob for file in files for glob in _globs(file))


def _of_worktree(folder: str) -> tuple[str, ...]:
    """Return the names shown by the repository that the file `.git` of a folder points to."""
    git = os.path.join(folder, ".git")
    if not os.path.isfile(git):
        return ()
    text = _read(git)
    if not text or not text.startswith("gitdir:"):
        return _EVERYTHING
    own = os.path.join(folder, text.removeprefix("gitdir:").strip())
    common = os.path.join(own, (_read(os.path.join(own, "commondir")) or "").strip())
    return (*_globs(f"{own}/info/exclude"), *_globs(f"{common}/info/exclude"))


def _globs(file: str) -> tuple[str, ...]:
    """Return the names in the lines of a file; everything if a line is not a simple name."""
    text = _read(file)
    if text is None:
        return _EVERYTHING
    found: list[str] = []
    for line in text.splitlines():
        shown = line.lstrip("\ufeff \t")
        if shown.startswith("!"):
            name = shown[1:].strip().rstrip("/").rpartition("/")[2]
            if not _PLAIN.fullmatch(name):
                return _EVERYTHING
            found.append(name)
    return tuple(found)


def _read(file: str) -> str | None:
    """Return a file's text, empty if there is no such file; None if that cannot be determined."""
    try:
        opened = os.open(file, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError):
        return ""
    except (OSError, ValueError):
        return None
    with open(opened, "rb") as stream:
        if not stat.S_ISREG(os.fstat(opened).st_mode):
            return None
        text = stream.read(_MOST_BYTES + 1)
    return None if len(text) > _MOST_BYTES else text.decode(errors="replace")
