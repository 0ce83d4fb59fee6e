"""A mistake in a profile file: what is wrong, where, and what to write instead."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

_HEADER = re.compile(r"\s*\[\[?\s*([^\[\]]+?)\s*\]\]?\s*(?:#.*)?$")
_KEY = re.compile(r"""\s*("(?:[^"\\]|\\.)*"|'[^']*'|[A-Za-z0-9_-]+)\s*[.=]""")
_PART = re.compile(r""""((?:[^"\\]|\\.)*)"|'([^']*)'|([^."'\s]+)""")


@dataclass(frozen=True, slots=True, kw_only=True)
class ProfileFault:
    """One mistake in a profile file; `line` counts from 1 and is 0 where it is not known."""

    file: str
    message: str
    help: str = ""
    line: int = 0


@dataclass(slots=True)
class Faults:
    """The mistakes of one file, gathered while it is read."""

    file: str
    text: str
    found: list[ProfileFault] = field(default_factory=list)

    def add(self, path: Sequence[str], message: str, *, help: str = "") -> None:
        """Record a mistake at a key, given by the names of its tables and its own."""
        self.found.append(
            ProfileFault(file=self.file, message=message, help=help, line=line_of(self.text, path))
        )


def line_of(text: str, path: Sequence[str]) -> int:
    """Return the line of a key in a TOML text, else of the closest enclosing table, else 0."""
    wanted = tuple(path)
    best, length = 0, 0
    table: tuple[str, ...] = ()
    for number, line in enumerate(text.split("\n"), start=1):
        if header := _HEADER.match(line):
            table = _parts(header[1])
            here = table
        elif key := _KEY.match(line):
            here = (*table, *_parts(key[1]))
        else:
            continue
        if len(here) > length and wanted[: len(here)] == here:
            best, length = number, len(here)
    return best


def _parts(header: str) -> tuple[str, ...]:
    found = _PART.findall(header)
    return tuple(double.replace('\\"', '"') or single or bare for double, single, bare in found)
