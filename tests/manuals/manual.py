"""Reads the options of an installed program from its manual."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator
from tempfile import TemporaryDirectory

_SECONDS = 10
_ENVIRONMENT = {
    "PATH": os.environ.get("PATH", ""),
    "LC_ALL": "C",
    "MANWIDTH": "200",
    "MANPAGER": "cat",
    "PAGER": "cat",
    "TERM": "dumb",
}
# `--[no-]color` and `--(no-)color` are two options.
_EITHER = re.compile(r"--[\[(]no-[\])]([\w-]+)")
_OPTION = re.compile(r"(?:^|(?<=[\s,|/\[(]))(--?[A-Za-z0-9#?@:][\w.+:-]*)")
_OVERSTRUCK = re.compile(r".\x08|\x1b\[[0-9;]*m")


def options_of(program: str) -> tuple[str, ...]:
    """Return the options in the manual page and in the help of `git log` or `cp`, sorted."""
    words = program.split()
    page = _output(["man", "-P", "cat", "-".join(words)])
    texts = [page, _output([*words, "--help"])]
    if not any(texts):
        texts = [_output([*words, "-h"])]
    found = {option for text in texts for option in options_in(text)}
    return tuple(sorted(found))


def version_of(program: str) -> str:
    """Return the first line that the program says of its version."""
    lines = _output([program.split()[0], "--version"]).strip().splitlines()
    return lines[0].strip()[:80] if lines else ""


def options_in(text: str) -> Iterator[str]:
    """Yield the options that lines of a manual begin with: `-a, --all  show all`."""
    for line in _OVERSTRUCK.sub("", text).splitlines():
        spec = line.strip()
        if not spec.startswith("-"):
            continue
        spec = re.split(r"\s{2,}|\t", spec)[0]
        spec = _EITHER.sub(r"--\1, --no-\1", spec)
        for option in _OPTION.findall(spec):
            name = option.rstrip(".:-")
            if len(name) > 1 and name != "--":
                yield name


def _output(words: list[str]) -> str:
    """Return what a command prints, in an empty folder and without input; empty if it cannot."""
    with TemporaryDirectory() as folder:
        try:
            ended = subprocess.run(
                words,
                cwd=folder,
                env={**_ENVIRONMENT, "HOME": folder},
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=_SECONDS,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired):
            return ""
    said = ended.stdout or ended.stderr
    return said.decode("utf-8", "replace")
