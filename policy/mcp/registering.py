"""Registers as many tools of a server as can be: one that cannot be registered costs only itself.

A tool may not fit the policy, which reads fields that it does not have, or compares them with what
they cannot be. Which of many it is, only trying shows.
"""

from __future__ import annotations

from collections.abc import Callable, Collection

from policy.catalog import CatalogError
from policy.mcp.errors import McpFailure
from policy.model import PolicyInvalid, ToolError
from policy.pins import UnusableDefinitions
from policy.tools import ToolHandler
from policy.values import quote

# What a registry raises for tools that it does not take; then nothing has changed.
REFUSED = (ToolError, CatalogError, PolicyInvalid)
# Each try builds the policy. One odd tool among a thousand takes a dozen.
MOST_TRIES = 60

Handlers = tuple[ToolHandler, ...]


def register_possible(
    handlers: Handlers, replace: Callable[[Handlers], None], first: Collection[str] = ()
) -> tuple[Handlers, dict[str, str]]:
    """Make as many of these tools those of a server as can be, with `replace`.

    Returns them, and why each of the others is left out, by name. `first` are names of tools that
    are likely to be possible.
    """
    try:
        replace(handlers)
    except REFUSED as error:
        why = text_of_failure(error)
    else:
        return handlers, {}
    found = _Possible(replace)
    ordered = sorted(handlers, key=lambda each: each.spec.name not in first)
    known = sum(each.spec.name in first for each in ordered)
    for part in (tuple(ordered[:known]), tuple(ordered[known:])):
        found.add(part, why)
    if not found.taken:
        replace(())
    return found.taken, found.left_out


class _Possible:
    """The tools that are registered so far, and those that cannot be."""

    def __init__(self, replace: Callable[[Handlers], None]) -> None:
        self._replace = replace
        self._tries = MOST_TRIES
        self.taken: Handlers = ()
        self.left_out: dict[str, str] = {}

    def add(self, part: Handlers, why: str) -> None:
        """Register a part of the tools, or those of it that can be; `why` is for no more tries."""
        if not part:
            return
        if self._tries:
            self._tries -= 1
            try:
                self._replace((*self.taken, *part))
            except REFUSED as error:
                why = text_of_failure(error)
            else:
                self.taken = (*self.taken, *part)
                return
        if len(part) == 1 or not self._tries:
            self.left_out.update({e.spec.name: f"tool {quote(e.spec.name)}: {why}" for e in part})
            return
        half = len(part) // 2
        self.add(part[:half], why)
        self.add(part[half:], why)


def text_of_failure(error: Exception) -> str:
    """Return in a sentence why a server's tools cannot be listed or registered."""
    match error:
        case PolicyInvalid():
            first = error.diagnostics[0].message if error.diagnostics else str(error)
            return f"the policy has errors with it: {first}"
        case McpFailure() | ToolError() | CatalogError() | UnusableDefinitions():
            return str(error)
        case _:
            return f"{type(error).__name__}: {error}"
