"""Which tools a client of one revision of the protocol can be told of.

A client refuses a whole list for one tool that its revision does not allow: the tool is left out.
"""

from __future__ import annotations

import logging
from functools import lru_cache

from mcp.types import Tool
from mcp.types.methods import serialize_server_result
from pydantic import ValidationError

_LOG = logging.getLogger(__name__)


def told_tools(tools: list[Tool], version: str) -> list[Tool]:
    """Return the tools that a revision can list."""
    if _problem(tools, version) is None:
        return tools
    found = []
    for tool in tools:
        problem = _problem([tool], version)
        if problem is None:
            found.append(tool)
        else:
            _say(tool.name, version, problem)
    return found


@lru_cache(maxsize=1024)  # each list would say the same
def _say(name: str, version: str, problem: str) -> None:
    _LOG.warning("%s is not listed for clients of revision %s: %s", name, version, problem)


def _problem(tools: list[Tool], version: str) -> str | None:
    dumped = [tool.model_dump(by_alias=True, mode="json", exclude_none=True) for tool in tools]
    told = {"tools": dumped, "resultType": "complete", "ttlMs": 0, "cacheScope": "private"}
    try:
        serialize_server_result("tools/list", version, told)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        return f"{'.'.join(map(str, first['loc'][2:]))}: {first['msg']}"
    return None
