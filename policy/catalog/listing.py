"""Reads tool definitions from a list of tools as servers and hosts publish it.

A server's declarations about its own tools are ignored until a person has reviewed them:
annotations, categories and resources are read from the host application's tools and from reviewed
lists only.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from policy.catalog.catalog import identifier_problem, owner
from policy.catalog.listed_resources import BadResources, read_resources
from policy.catalog.schemas.problems import output_schema_problem, schema_problem
from policy.catalog.schemas.walk import read_only_schema
from policy.catalog.tool import Origin, ToolSpec, split_version
from policy.model import EMPTY
from policy.values import quote

_LONGEST_NAME = 256
_MOST_DIGITS = 9
_NO_ARGUMENTS: Mapping[str, Any] = {"type": "object", "properties": {}}
_SCHEMA_KEYS = ("inputSchema", "input_schema", "parameters")
_OUTPUT_KEYS = ("outputSchema", "output_schema")


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """The tools of a list, and one sentence for each problem with it."""

    specs: tuple[ToolSpec, ...] = ()
    problems: tuple[str, ...] = ()


def read_listing(value: Any, *, server: str | None = None, reviewed: bool = False) -> Listing:
    """Read a `tools/list` answer or a list of tools, as JSON values; never raises.

    With `server` all tools belong to that MCP server; without, each belongs to its own `server`, or
    to the host application. A tool without a valid name is left out; one with an unusable schema is
    kept, with a `fault`, and one with an unusable output schema as if it declared none.
    """
    entries = _entries(value)
    if entries is None:
        return Listing(problems=("this is neither a list of tools nor an answer to tools/list",))
    specs: dict[str, ToolSpec] = {}
    problems: list[str] = []
    for number, entry in enumerate(entries, start=1):
        read = _read(entry, server, reviewed=reviewed)
        if isinstance(read, str):
            problems.append(f"tool {number}: {read}")
            continue
        if read.name in specs:
            problems.append(f"tool {number}: `{read.name}` is listed twice")
            continue
        if read.fault is not None:
            problems.append(f"tool {number}: `{read.name}` cannot be called: {read.fault}")
        broken = output_schema_problem(_output_schema(entry))
        if broken is not None and _is_trusted(read.origin, reviewed=reviewed):
            problems.append(f"tool {number}: `{read.name}`: {broken}")
        specs[read.name] = read
    return Listing(specs=tuple(specs.values()), problems=tuple(problems))


def _entries(value: Any) -> tuple[Any, ...] | list[Any] | None:
    for key in ("result", "tools/list", "tools"):
        if isinstance(value, Mapping) and key in value:
            value = value[key]
    return value if isinstance(value, (list, tuple)) else None


def _read(entry: Any, server: str | None, *, reviewed: bool) -> ToolSpec | str:
    if not isinstance(entry, Mapping):
        return "it is not an object"
    name = entry.get("name")
    if not isinstance(name, str) or not 0 < len(name) <= _LONGEST_NAME or not name.isprintable():
        return f"`name` must be a string of 1 to {_LONGEST_NAME} visible characters"
    version = entry.get("version")
    if entry.get("server") is None and server is None:
        name, version = _split(name, version)
    origin = _origin(name, entry.get("server") if server is None else server)
    if isinstance(origin, str):
        return origin
    numbered = type(version) is int and version >= 1
    if origin.kind == "host" and version is not None and not numbered:
        return "`version` must be a whole number from 1 on"
    problem = identifier_problem(origin)
    if problem is not None:
        return f"{owner(origin)} cannot have tools here: {problem}"
    schema = next((entry[key] for key in _SCHEMA_KEYS if key in entry), _NO_ARGUMENTS)
    broken = schema_problem(schema)
    trusted = _is_trusted(origin, reviewed=reviewed)
    output = _output_schema(entry)
    try:
        said = _said(entry) if trusted else {}
    except BadResources as error:
        return f"`{origin.flat_name()}`: {error}"
    return ToolSpec(
        name=origin.flat_name(),
        origin=origin,
        description=_text(entry.get("description")) or "",
        schema=read_only_schema(_NO_ARGUMENTS if broken else {"type": "object", **schema}),
        output=read_only_schema(
            output if trusted and output_schema_problem(output) is None else EMPTY
        ),
        fault=broken,
        requires_confirmation=entry.get("requires_confirmation") is True,
        pinned=trusted,
        version=version if trusted and numbered else None,
        **said,
    )


def _is_trusted(origin: Origin, *, reviewed: bool) -> bool:
    """Return whether what a list declares of a tool counts."""
    return reviewed or origin.kind == "host"


def _output_schema(entry: Mapping[str, Any]) -> Any:
    """Return what a list has as the schema of a tool's results; empty if it has none."""
    found = next((entry[key] for key in _OUTPUT_KEYS if key in entry), None)
    return EMPTY if found is None else found


def _origin(name: str, server: Any) -> Origin | str:
    if server is None:
        return Origin(kind="host", tool=name)
    if not isinstance(server, str):
        return f"`server` of {quote(name)} must be a string"
    return Origin(kind="mcp", server=server, tool=name)


def _split(name: str, version: Any) -> tuple[str, Any]:
    """Return a name of the host application without its version suffix, and the version."""
    base, number = split_version(name)
    if version is not None or number is None:
        return name, version
    return base, int(number[:_MOST_DIGITS])


def _said(entry: Mapping[str, Any]) -> dict[str, Any]:
    """Return the annotations of a tool from a trusted list; raises BadResources."""
    hints = entry.get("annotations")
    hints = hints if isinstance(hints, Mapping) else {}
    read_only, destructive = hints.get("readOnlyHint"), hints.get("destructiveHint")
    idempotent = hints.get("idempotentHint")
    resources = read_resources(entry.get("resources"))
    return {
        "category": _text(entry.get("category")),
        "exec_class": entry.get("exec_class") is True,
        "read_only": read_only if isinstance(read_only, bool) else None,
        "destructive": destructive if isinstance(destructive, bool) else None,
        "idempotent": idempotent if isinstance(idempotent, bool) else None,
        "resources": resources.resources,
        "complete": resources.complete,
        "unseen": resources.unseen,
    }


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None
