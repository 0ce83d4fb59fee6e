"""Reads a large profile file; its subcommands only when they are needed.

Of a program with a hundred subcommands a script uses one or two, and parsing TOML is slow. So the
text is split before each subcommand's tables. A text that is small, or cannot safely be split by
lines, is parsed whole; examples are skipped.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from policy.programs.profiles.faults import Faults, ProfileFault
from policy.programs.profiles.lazy_mapping import LazyMapping
from policy.programs.profiles.profile_file import (
    ENVIRONMENT,
    LARGEST,
    ProfileFile,
    program_of,
    read_profile_file,
)
from policy.programs.profiles.section import Section, inherited_style, read_section

_SMALL = 2_000  # characters
_HEADER = re.compile(r"^[ \t]*\[.*$", re.MULTILINE)
_SUBCOMMAND = re.compile(r"\[\[?sub\.([A-Za-z0-9_-]+)(?:\.[A-Za-z0-9_.-]+)?\]\]?[ \t]*(?:#.*)?")
_OF_PROGRAM = re.compile(
    r"\[\[?(?:options|variant|variant\.options|means|implies|overrides|same)\]\]?[ \t]*(?:#.*)?"
)
_EXAMPLES = re.compile(r"\[\[examples\]\][ \t]*(?:#.*)?")
# A subcommand whose tables cannot be parsed may do anything.
_UNREADABLE = Section(hides=True, operands=("unknown...",))


def read_profile_lazily(file: str, text: str) -> ProfileFile | tuple[ProfileFault, ...]:
    """Return the contents of a profile file without its examples, or its mistakes; never raises."""
    cut = None
    if _SMALL < len(text) <= LARGEST and program_of(file) != ENVIRONMENT:
        cut = _cut(text)
    table = None if cut is None else _table(cut[0])
    if cut is None or table is None or "sub" in table or "examples" in table:
        return read_profile_file(file, text)
    replaces = table.pop("replace", False)
    faults = Faults(file=file, text=cut[0])
    section = read_section(table, faults)
    if faults.found or not isinstance(replaces, bool):
        return read_profile_file(file, text)
    style = inherited_style(section.style or "gnu")

    def read(name: str) -> Section:
        inner = Faults(file=file, text=parts[name])
        own = (_table(parts[name]) or {}).get("sub", {}).get(name)
        if own is None:
            return _UNREADABLE
        found = read_section(own, inner, path=("sub", name), style=style)
        return _UNREADABLE if inner.found else found

    parts = cut[1]
    subcommands = LazyMapping(parts, read)
    return ProfileFile(
        file=file,
        program=program_of(file),
        section=replace(section, subcommands=subcommands),
        replaces=replaces,
    )


def _cut(text: str) -> tuple[str, Mapping[str, str]] | None:
    """Return the text of the program itself, and of each subcommand; None if it cannot be split."""
    own: list[str] = []
    subcommands: dict[str, list[str]] = {}
    examples: list[str] = []
    place, into = 0, own
    for header in _HEADER.finditer(text):
        if not _closed(text[place : header.start()]):
            return None
        into.append(text[place : header.start()])
        place = header.start()
        if (named := _SUBCOMMAND.fullmatch(header[0])) is not None:
            into = subcommands.setdefault(named[1], [])
        elif _EXAMPLES.fullmatch(header[0]) is not None:
            into = examples
        elif _OF_PROGRAM.fullmatch(header[0]) is not None:
            into = own
        else:
            return None
    into.append(text[place:])
    return "".join(own), {name: "".join(parts) for name, parts in subcommands.items()}


def _closed(part: str) -> bool:
    """Return whether a part ends outside any multi-line string."""
    return part.count('"""') % 2 == 0 and part.count("'''") % 2 == 0


def _table(text: str) -> dict[str, Any] | None:
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError):
        return None
