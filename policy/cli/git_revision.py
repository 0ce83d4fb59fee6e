"""A policy as it is in a git revision, read from git's store: nothing is checked out."""

from __future__ import annotations

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

    Ends the command if there is none. Links are not followed, so they end it, too.
    """
    here = path if path.is_dir() else path.parent
    if not here.is_dir():
        exit_with(f"{here} is not a folder, so no revision of it can be read")
    commit = _git(
        here, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}"
    )
    if commit is None:
        exit_with(f"git has no revision `{visible(revision, 100)}` of {here}")
    files = list(_files(here, commit.decode().strip(), revision))
    content = _contents(here, [sha for sha, _ in files])
    for (_, name), text in zip(files, content, strict=True):
        target = into / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(text)


def _files(here: Path, commit: str, revision: str) -> Iterator[tuple[str, str]]:
    """Yield the object and the name of each file below the folder."""
    listed = _git(here, "ls-tree", "-r", "-z", "--long", commit)
    entries = [entry for entry in (listed or b"").split(b"\0") if entry]
    total = 0
    if not entries:
        exit_with(f"revision `{visible(revision, 100)}` has no files in {here}")
    for number, entry in enumerate(entries):
        described, _, name = entry.partition(b"\t")
        mode, kind, sha, size = described.decode().split()
        if kind != "blob":
            continue  # a submodule: its files are in another repository
        if mode == "120000":
            where = visible(name.decode("utf-8", "replace"), 200)
            exit_with(f"`{where}` is a symbolic link in this revision, which is not followed")
        total += int(size)
        if number >= _MOST_FILES or total > _MOST_BYTES:
            exit_with(f"{here} has too many files in this revision to be a policy")
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
