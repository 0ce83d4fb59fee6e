"""Looks into a git repository: whether going to other revisions would change one file.

Only commands of git are run that read its store, with a fixed program, a fixed environment, and
settings under which they start no other program.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator, Mapping
from functools import lru_cache

from policy.model import GitMove

_PROGRAMS = ("/usr/bin/git", "/usr/local/bin/git", "/opt/homebrew/bin/git", "/bin/git")
_SECONDS = 2.0
# Nothing here may run a program: no transport fetches a missing object, no monitor is asked.
_SETTINGS = ("-c", "protocol.allow=never", "-c", "core.fsmonitor=false", "--no-optional-locks")
_ENVIRONMENT = {
    "PATH": "/usr/bin:/bin",
    "LC_ALL": "C",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_TERMINAL_PROMPT": "0",
}
# What a revision has at a path: its type and id; None where it has nothing.
_Found = tuple[str, str] | None


class GitStore:
    """The repositories that one call is about; each answer is cached."""

    __slots__ = ("_answers", "_tops")

    def __init__(self) -> None:
        self._answers: dict[tuple[GitMove, str], bool | None] = {}
        self._tops: dict[str, str | None] = {}

    def may_restore(self, move: GitMove, path: str) -> bool | None:
        """Return whether a move may change the file at a path; None where that is not known."""
        key = (move, path)
        if key not in self._answers:
            self._answers[key] = self._looked_up(move, path)
        return self._answers[key]

    def _looked_up(self, move: GitMove, path: str) -> bool | None:
        if move.elsewhere:
            return None
        folder = os.path.realpath(move.folder)
        if move.made:
            return None if path.startswith(f"{folder.rstrip('/')}/") else False
        if not os.path.isdir(folder):
            # What the script makes there may be a repository of any kind.
            return None if move.may_appear else False
        repository = _repository_around(folder)
        if repository is None:
            return False
        top = self._top(repository)
        if top != repository:
            # A bare layout (`HEAD`, `objects`, `refs`), whose work tree may lie anywhere, an empty
            # `.git`, or one with `core.worktree`.
            return None
        if not path.startswith(f"{top.rstrip('/')}/"):
            return False
        if not move.revisions:
            return None
        try:
            return _Comparison(top, os.path.relpath(path, top), path).changes(move)
        except (OSError, ValueError, subprocess.SubprocessError):
            return None

    def _top(self, folder: str) -> str | None:
        if folder not in self._tops:
            try:
                found = _git(folder, "rev-parse", "--show-toplevel").rstrip("\n")
            except (OSError, ValueError, subprocess.SubprocessError):
                found = ""
            self._tops[folder] = found or None
        return self._tops[folder]


class _Comparison:
    """One file in a repository, as several revisions have it."""

    def __init__(self, top: str, name: str, path: str) -> None:
        self._top = top
        self._name = name
        self._folder = name.partition("/")[0]
        self._path = path

    def changes(self, move: GitMove) -> bool:
        """Return whether going to the revisions changes the file."""
        revisions = [*move.revisions, *self._remote_branches(move.revisions)]
        objects = self._objects(revisions)
        real = [one for one in revisions if objects[f"{one}^{{tree}}"] is not None]
        if self._index_differs(objects):
            return True
        if move.merges:
            # A merge may move files into a folder that one side has renamed.
            return len({objects[f"{one}:{self._folder}"] for one in ["HEAD", *real]}) > 1
        there = self._on_disk()
        tracked = objects["HEAD:" + self._name] is not None or objects[":" + self._name] is not None
        return any(self._differs(objects, one, there, tracked=tracked) for one in real)

    def _index_differs(self, objects: Mapping[str, _Found]) -> bool:
        """Return whether the index has a version of its own, as `git stash -k` writes it.

        One that `HEAD` has is compared with the file as `HEAD` is. Sides of a conflict count too
        (`checkout --theirs`), and so do objects that are not in the store yet.
        """
        listed = _git(
            self._top, "--literal-pathspecs", "ls-files", "--stage", "-z", "--", self._folder
        )
        entries = [entry.partition("\t") for entry in listed.split("\0") if entry]
        folders = set(_folders_of(self._name))
        if any(name in folders for _, _, name in entries):
            return True  # a link or a file in place of the folder
        own = {entry.split(" ")[1] for entry, _, name in entries if name == self._name}
        at_head = objects[f"HEAD:{self._name}"]
        if at_head is not None:
            own.discard(at_head[1])
        return bool(own) and own != {self._on_disk()}

    def _differs(
        self, objects: Mapping[str, _Found], revision: str, there: str | None, *, tracked: bool
    ) -> bool:
        for folder in _folders_of(self._name):
            above = objects[f"{revision}:{folder}"]
            if above is not None and above[0] != "tree":
                return True  # a link or a file in place of the folder
        found = objects[f"{revision}:{self._name}"]
        if found is None:
            return tracked and there is not None
        return found != ("blob", there)

    def _objects(self, revisions: list[str]) -> Mapping[str, _Found]:
        """Return what the revisions, and the index, have at the file and the folders above it."""
        parts = (*_folders_of(self._name), self._name)
        names = [f":{self._name}"]
        for one in dict.fromkeys(["HEAD", *revisions]):
            names.append(f"{one}^{{tree}}")
            names += [f"{one}:{part}" for part in parts]
        text = "".join(f"{name}\n" for name in names)
        lines = _git(self._top, "cat-file", "--batch-check", given=text).splitlines()
        if len(lines) != len(names):
            raise ValueError("git has not answered each question")
        return dict(zip(names, map(_read, lines), strict=True))

    def _remote_branches(self, revisions: tuple[str, ...]) -> list[str]:
        """Return the branches of remotes that git takes for a name without a branch of its own."""
        patterns = [f"refs/remotes/**/{one}" for one in revisions if one != "HEAD"]
        if not patterns:
            return []
        return _git(self._top, "for-each-ref", "--format=%(refname)", *patterns).splitlines()

    def _on_disk(self) -> str | None:
        if not os.path.lexists(self._path):
            return None
        if os.path.islink(self._path):
            return ""
        return _git(self._top, "hash-object", "--no-filters", "--", self._path).strip()


def repository_above(folder: str, names: tuple[str, ...]) -> str | None:
    """Return where the repository begins that contains a folder, if that is above the folder.

    None too if one of the names is a file there: git takes it for a path.
    """
    if any(os.path.lexists(os.path.join(folder, name)) for name in names if "\0" not in name):
        return None
    real = os.path.realpath(folder)
    top = _repository_around(real)
    return None if top == real else top


def _repository_around(folder: str) -> str | None:
    """Return the folder, or the one above it, that has a `.git` or may be a repository itself."""
    while not any(os.path.lexists(os.path.join(folder, name)) for name in (".git", "HEAD")):
        above = os.path.dirname(folder)
        if above == folder:
            return None
        folder = above
    return folder


def _folders_of(name: str) -> Iterator[str]:
    for place, char in enumerate(name):
        if char == "/":
            yield name[:place]


def _read(line: str) -> _Found:
    """Read a line of `cat-file --batch-check`: `ID TYPE SIZE`, or `NAME missing`."""
    words = line.split(" ")
    if len(words) == 3 and words[1] in ("blob", "tree", "commit", "tag"):
        return words[1], words[0]
    if words[-1] != "missing":
        raise ValueError("an answer that is not understood")
    return None


@lru_cache(maxsize=1)
def _program() -> str:
    for place in _PROGRAMS:
        if os.access(place, os.X_OK):
            return place
    raise FileNotFoundError("git")


def _git(folder: str, *words: str, given: str = "") -> str:
    done = subprocess.run(  # noqa: S603 - a fixed program, and words that name no command
        [_program(), *_SETTINGS, *words],
        cwd=folder,
        env=_ENVIRONMENT,
        input=given,
        capture_output=True,
        timeout=_SECONDS,
        encoding="utf-8",
        check=True,
    )
    return done.stdout
