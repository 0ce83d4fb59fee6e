"""A policy as it is in a git revision, read from git's store: nothing is checked out."""

from __future__ import annotations

import os
import posixpath
import subprocess
from collections.abc import Iterator
from pathlib import Path

from policy.cli.loading import exit_with
from policy.diagnostics import visible

PREFIX = "git:"
_MOST_FILES = 10_000
_MOST_BYTES = 100_000_000
_SECONDS = 60


def extract(revision: str, path: Path, into: Path) -> None:
    """Write what a revision has below `path`, a folder or file of a repository, into a folder.

    The folder need not be there any more. Ends the command if the revision does not have it, or if
    it holds a link or a submodule, which are not followed.
    """
    folder = path.parent if path.suffix == ".policy" else path
    here = _existing(folder)
    named = visible(str(folder), 200)
    commit = _git(
        here, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}"
    )
    if commit is None:
        exit_with(f"git has no revision `{visible(revision, 100)}` of {named}")
    tree = _tree(here, commit.decode().strip(), folder)
    if tree is None:
        exit_with(
            f"revision `{visible(revision, 100)}` has no folder {named}; if it had another name "
            f"there, write {PREFIX}{visible(revision, 100)}:NAME"
        )
    files = list(_files(here, tree, named))
    content = _contents(here, [sha for sha, _ in files])
    for (_, name), text in zip(files, content, strict=True):
        target = into / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(text)


def _existing(folder: Path) -> Path:
    """Return the folder, or the nearest one above it that is there."""
    above = Path(os.path.abspath(folder))
    return next(each for each in (above, *above.parents) if each.is_dir())


def _tree(here: Path, commit: str, folder: Path) -> str | None:
    """Return the object of a folder in a commit; None if there is no such folder."""
    prefix = _git(here, "rev-parse", "--show-prefix")
    below = Path(os.path.abspath(folder)).relative_to(here).as_posix()
    above = os.fsdecode(prefix or b"").strip("\n")
    inside = posixpath.normpath(posixpath.join(above, below))
    spelled = f"{commit}^{{tree}}" if inside == "." else f"{commit}:{inside}"
    found = _git(here, "rev-parse", "--verify", "--quiet", "--end-of-options", spelled)
    tree = (found or b"").decode().strip()
    return tree if tree and _git(here, "cat-file", "-t", tree) == b"tree\n" else None


def _files(here: Path, tree: str, named: str) -> Iterator[tuple[str, str]]:
    """Yield the object and the name of each file in a tree."""
    # Without the prefix of the folder that git runs in.
    listed = _git(here, "ls-tree", "-r", "-z", "--long", "--full-tree", tree)
    entries = [entry for entry in (listed or b"").split(b"\0") if entry]
    total = 0
    for number, entry in enumerate(entries):
        described, _, name = entry.partition(b"\t")
        mode, kind, sha, size = described.decode().split()
        where = visible(name.decode("utf-8", "replace"), 200)
        if kind != "blob":
            exit_with(
                f"`{where}` is a submodule in this revision, whose files are in another repository"
            )
        if mode == "120000":
            exit_with(f"`{where}` is a symbolic link in this revision, which is not followed")
        total += int(size)
        if number >= _MOST_FILES or total > _MOST_BYTES:
            exit_with(f"{named} has too many files in this revision to be a policy")
        yield sha, name.decode("utf-8", "surrogateescape")


def _contents(here: Path, shas: list[str]) -> Iterator[bytes]:
    """Yield the contents of objects, in order: `HEADER newline CONTENT newline` for each."""
    given = "".join(f"{sha}\n" for sha in shas).encode()
    output = _git(here, "cat-file", "--batch", given=given) or b""
    place = 0
    for _ in shas:
        end = output.index(b"\n", place)
        start, size = end + 1, int(output[place:end].split()[2])
        yield output[start : start + size]
        place = start + size + 1


def _git(here: Path, *arguments: str, given: bytes = b"") -> bytes | None:
    """Return what git prints; None if it fails."""
    try:
        done = subprocess.run(  # noqa: S603 — no shell, and a revision is never an option
            ["git", "-C", str(here), *arguments],  # noqa: S607 — the user's own git
            input=given,
            capture_output=True,
            timeout=_SECONDS,
            check=False,
        )
    except FileNotFoundError:
        exit_with("git is not installed, so no revision can be read")
    except subprocess.TimeoutExpired:
        exit_with("git takes too long to read this revision")
    return done.stdout if done.returncode == 0 else None
