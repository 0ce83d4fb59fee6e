"""What of a server's lists and results can be used, part by part: an odd one costs only itself."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from mcp.types.methods import validate_server_result
from pydantic import ValidationError

from policy.diagnostics import visible
from policy.mcp.listed_tool import ListedTool, ListFaults, frozen
from policy.mcp.pages import ReadList
from policy.mcp.raw_answers import STAND_IN
from policy.pins import entry_problem
from policy.values import quote

_LONGEST = 200
_HINTS = ("readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint")
_DEEPEST_RESULT = 150  # levels, below what the reader of a client's side takes


def valid_tools(found: ReadList, *, version: str) -> tuple[tuple[ListedTool, ...], ListFaults]:
    """Return the tools that a revision of the protocol allows, and why the others are left out.

    Of tools that share a name, all are left out where one is.
    """
    named: list[tuple[str, Mapping[str, Any]]] = []
    left_out: dict[str, str] = {}
    others: list[str] = [f"{found.cut}; what it lists up to there is used"] if found.cut else []
    for number, entry in enumerate(found.entries, start=1):
        problem = entry_problem(entry) or _odd_hint(entry)
        name = entry.get("name") if isinstance(entry, Mapping) else None
        if problem is None:
            named.append((entry["name"], entry))
        elif isinstance(name, str) and name:
            left_out[name] = problem
        else:
            others.append(f"left out: tool {number}: {problem}")
    if not _are_valid([entry for _, entry in named], version):
        left_out.update(_refused(named, version))
    tools = (ListedTool(name=name, raw=frozen(e)) for name, e in named if name not in left_out)
    return tuple(tools), ListFaults(left_out=left_out, others=tuple(others))


def _odd_hint(entry: Mapping[str, Any]) -> str | None:
    """Return which hint of a tool is no boolean: the protocol's reader takes `"yes"` as one."""
    given = entry.get("annotations")
    hints = given if isinstance(given, Mapping) else {}
    odd = (name for name in _HINTS if not isinstance(hints.get(name), bool | None))
    return next((f"`annotations.{name}` is not a boolean" for name in odd), None)


def _refused(named: Iterable[tuple[str, Any]], version: str) -> Iterator[tuple[str, str]]:
    for name, entry in named:
        try:
            _validate([entry], version)
        except ValidationError as error:
            yield name, _said(error)
        except (ValueError, RecursionError) as error:
            yield name, visible(str(error), _LONGEST)


def _are_valid(entries: list[Any], version: str) -> bool:
    try:
        _validate(entries, version)
    except (ValueError, RecursionError):
        return False
    return True


def _validate(entries: list[Any], version: str) -> None:
    validate_server_result("tools/list", version, {**STAND_IN, "tools": entries})


def _said(error: ValidationError) -> str:
    first = error.errors(include_url=False, include_input=False)[0]
    place = ".".join(str(step) for step in first["loc"][2:])
    why = first["msg"].partition(" or instance of ")[0].replace("dictionary", "object")
    return f"{quote(place)} is not valid: {visible(why, _LONGEST)}"


def result_problem(result: Mapping[str, Any]) -> str | None:
    """Return why a result of a call cannot be relayed; parts that nobody knows can be."""
    content = result.get("content")
    if content is not None and not (
        isinstance(content, list) and all(isinstance(part, dict) for part in content)
    ):
        return "`content` is not a list of objects"
    if not isinstance(result.get("_meta") or {}, dict):
        return "`_meta` is not an object"
    if _is_deeper(result, _DEEPEST_RESULT):
        return "it is nested too deeply"
    return None


def _is_deeper(value: object, levels: int) -> bool:
    """Return whether a JSON value has more levels than these, without recursion."""
    level = [value]
    for _ in range(levels):
        level = [
            item
            for each in level
            if isinstance(each, dict | list)
            for item in (each.values() if isinstance(each, dict) else each)
        ]
        if not level:
            return False
    return True
