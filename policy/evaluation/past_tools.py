"""Which earlier calls are calls of certain tools, and what of a call is kept for decisions."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Literal, TypeAlias

from policy.catalog import Origin, ToolSelector, ToolSpec, split_version
from policy.checks import checked
from policy.model import CalledTool

# What is kept of a call: only what all histories have, its input and outcome, or its result too.
Keep: TypeAlias = Literal["summary", "call", "result"]

_NAME_OF_SERVER = "__"
_PREFIX_OF_EXTENSION = "ext__"
_TOOLS_REMEMBERED = 4_096


def keep_for(reads: tuple[checked.PastRead, ...]) -> Callable[[CalledTool], Keep] | None:
    """Return what is kept of the calls of a tool, for a policy that reads this of earlier calls.

    None: it reads none, so that only the summary is kept of each.
    """
    if not reads:
        return None
    matchers = [(tool_matcher(read.tools), read.result) for read in reads]

    @lru_cache(maxsize=_TOOLS_REMEMBERED)
    def keep(tool: CalledTool) -> Keep:
        found = [result for matches, result in matchers if matches(tool)]
        if not found:
            return "summary"
        return "result" if any(found) else "call"

    return keep


def tool_matcher(selector: ToolSelector) -> Callable[[CalledTool], bool]:
    """Return whether a selector matches the tool of an earlier call.

    Where only its name is known, the tool may come from any server that the name allows for: it
    matches where the selector restricts if one of these does, and where it grants if all do.
    """
    enough = all if selector.grants else any

    @lru_cache(maxsize=_TOOLS_REMEMBERED)
    def matches(tool: CalledTool) -> bool:
        return enough(selector.matches(spec) for spec in _readings(tool))

    return matches


def _readings(tool: CalledTool) -> Iterator[ToolSpec]:
    """Yield the tools that may have been called."""
    if tool.kind == "host":
        yield _spec(Origin(tool=split_version(tool.name)[0]), tool.name)
        return
    if tool.kind is not None:
        prefix = Origin(kind=tool.kind, server=tool.server).flat_name()
        own = split_version(tool.name.removeprefix(prefix))[0]
        yield _spec(Origin(kind=tool.kind, server=tool.server, tool=own), tool.name)
        return
    yield from _readings(CalledTool(name=tool.name, kind="host"))
    if tool.name.startswith(_PREFIX_OF_EXTENSION):
        for server in _servers(tool.name.removeprefix(_PREFIX_OF_EXTENSION)):
            yield from _readings(CalledTool(name=tool.name, kind="ext", server=server))
    for server in _servers(tool.name):
        yield from _readings(CalledTool(name=tool.name, kind="mcp", server=server))


def _servers(name: str) -> Iterator[str]:
    """Yield every identifier of a server with which a name may begin."""
    at = name.find(_NAME_OF_SERVER, 1)
    while at != -1:
        yield name[:at]
        at = name.find(_NAME_OF_SERVER, at + 1)


def _spec(origin: Origin, name: str) -> ToolSpec:
    number = split_version(name)[1]
    return ToolSpec(name=name, origin=origin, version=None if number is None else int(number))


def spec_of(tool: CalledTool) -> ToolSpec:
    """Return a tool as a condition sees it that is about an earlier call of it."""
    return next(_readings(tool))
