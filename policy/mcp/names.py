"""Which tools of a server can be called `server__tool`, by models and clients everywhere."""

from __future__ import annotations

import re
from collections.abc import Iterable

from policy.catalog import Origin
from policy.values import quote

# What providers of models accept in the name of a tool.
LONGEST = 64
_CHARACTERS = re.compile(r"[A-Za-z0-9_.-]+")


def refused_names(server: str, tools: Iterable[str]) -> dict[str, str]:
    """Return the tools that cannot be called, each with the reason.

    A name is never shortened or changed: rules, reviews and records would name another tool.
    """
    found: dict[str, str] = {}
    for tool in tools:
        flat = Origin(kind="mcp", server=server, tool=tool).flat_name()
        if not _CHARACTERS.fullmatch(tool):
            found[tool] = "clients accept letters, digits, `_`, `-` and `.` in the name of a tool"
        elif len(flat) > LONGEST:
            found[tool] = (
                f"{quote(flat)} has {len(flat)} characters, and clients accept {LONGEST}: "
                "give the server a shorter name"
            )
    return found
