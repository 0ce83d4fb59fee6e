"""Follows a page of the documentation: writes its files, makes its edits and runs its commands.

A page is followed from its first block to its last, in one shell:

* a `console` block holds commands, each behind `$ `, and what they print;
* a block with a file name behind its language is that file;
* a `diff` block with a file name is an edit of that file;
* `console reloaded` is for output that shows an earlier edit once a running process has seen it.

`sh` and `text` blocks are for the reader alone.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.preloaded import placet_in

# As long as the real folder, because the width of a path decides where a line is wrapped.
HOME = "/home/charlie"
INSTALLED = "/home/charlie/placet/.venv/bin"

_BLOCK = re.compile(r"^```(\w+)(?: ([^\n]*))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_COMMAND = re.compile(r"^\$ (.*(?:\n> .*)*)\n((?:(?!\$ ).*\n)*)", re.MULTILINE)
_VARYING = (
    (re.compile(r"sha256:[0-9a-f]+…?"), "sha256:…"),
    # Lines of the packs that ship: a page need not change whenever a pack does.
    (re.compile(r"placet:(\w+):\d+:\d+\n\d+ \|"), r"placet:\1:…\n  … |"),
    (re.compile(r"placet:(\w+):\d+"), r"placet:\1:…"),
    (re.compile(r'("file": "placet:\w+", "line": )\d+'), r"\1…"),
    (re.compile(r"since \S+Z by \S+?:"), "since 2026-11-22T09:30:00Z by charlie:"),
    (re.compile(r"accepted by \S+ at \S+Z"), "accepted by charlie at 2026-11-22T09:30:00Z"),
    (re.compile(r"frozen by \S+?:"), "frozen by charlie:"),
    (re.compile(r"process \d+, running \d+ s"), "process 4242, running 60 s"),
)
_READ_BY_PEOPLE = {"sh", "text"}
_END = "--- end of output ---"
_PATIENCE = 30.0  # seconds until a running process must have seen an edit
_AGAIN = 0.1  # seconds between two looks


@dataclass(slots=True)
class Session:
    """A shell in a fresh home folder, in which a page is followed."""

    home: Path
    shell: subprocess.Popen[str]
    folder: Path

    def follow(self, page: str, *, updating: bool = False) -> str:
        """Do what the page says, and return the page with what its commands really print."""
        return _BLOCK.sub(lambda block: self._block(block, updating=updating), page)

    def run(self, command: str) -> str:
        """Return what a command prints, without what differs from run to run."""
        assert self.shell.stdin is not None
        assert self.shell.stdout is not None
        typed = command.replace("\n> ", "\n")
        self.shell.stdin.write(f"{{ {typed}\n}} </dev/null 2>&1; echo '{_END}'\n")
        self.shell.stdin.flush()
        printed = ""
        while not printed.endswith(f"{_END}\n"):
            line = self.shell.stdout.readline()
            assert line, f"the shell ended: {command}\n{printed}"
            printed += line
        return self._masked(printed.removesuffix(f"{_END}\n"))

    def _block(self, block: re.Match[str], *, updating: bool) -> str:
        language, info, text = block.groups()
        if language in _READ_BY_PEOPLE:
            return block[0]
        if language == "console":
            if info == "reloaded":
                return self._reloaded(block, updating=updating)
            return f"```console\n{_COMMAND.sub(self._command, text)}```"
        assert info, f"a {language} block names no file:\n{text}"
        if language == "diff":
            self._edit(info, text)
        else:
            self._write(info, text)
        return block[0]

    def _command(self, shown: re.Match[str]) -> str:
        return f"$ {shown[1]}\n{self.run(shown[1])}"

    def _reloaded(self, block: re.Match[str], *, updating: bool) -> str:
        """Repeat the commands until they print what the page shows."""
        began = time.monotonic()
        patience = 5.0 if updating else _PATIENCE
        while True:
            current = f"```console reloaded\n{_COMMAND.sub(self._command, block[3])}```"
            if current == block[0] or time.monotonic() - began > patience:
                return current
            time.sleep(_AGAIN)

    def _write(self, name: str, text: str) -> None:
        file = self.folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        fresh = file.with_name(".fresh")
        fresh.write_text(text, "utf-8")
        os.replace(fresh, file)

    def _edit(self, name: str, diff: str) -> None:
        lines = diff.splitlines(keepends=True)
        before = "".join(line[1:] for line in lines if line[0] in " -")
        after = "".join(line[1:] for line in lines if line[0] in " +")
        current = (self.folder / name).read_text("utf-8")
        assert current.count(before) == 1, f"{name} does not have, once:\n{before}"
        self._write(name, current.replace(before, after))

    def _masked(self, printed: str) -> str:
        printed = printed.replace(str(Path(sys.executable).parent), INSTALLED)
        printed = printed.replace(str(self.home), HOME)
        for pattern, instead in _VARYING:
            printed = pattern.sub(instead, printed)
        return printed


@contextmanager
def session(folder: str = ".") -> Iterator[Session]:
    """Start a shell in a new home folder; files are written below `folder` of it."""
    with (
        tempfile.TemporaryDirectory(dir="/tmp", prefix="") as home,
        tempfile.TemporaryDirectory(prefix="placet-") as state,
        tempfile.TemporaryDirectory(prefix="placet-") as bin,
    ):
        assert len(home) == len(HOME)
        placet_in(Path(bin))
        environment = {
            "PATH": os.pathsep.join((bin, str(Path(sys.executable).parent), os.environ["PATH"])),
            "HOME": home,
            "LANG": "C.UTF-8",
            "XDG_RUNTIME_DIR": state,
            "PLACET_DAEMON_IDLE": "120",
        }
        shell = subprocess.Popen(
            ["bash", "--norc"],
            cwd=home,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        here = Session(home=Path(home), shell=shell, folder=Path(home) / folder)
        try:
            yield here
        finally:
            here.run("placet daemon stop")
            shell.communicate()
