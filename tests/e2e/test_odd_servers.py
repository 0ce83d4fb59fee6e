"""`placet gateway` as a process before servers each of whose tools is odd in one field."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.serving import BOTH_ERAS, Era
from tests.e2e.test_gateway import client_of, rules_in
from tests.mcp_servers.declaring import declaring_server

RULES = "policy for every agent\n\ndefault deny\n\nall: allow mcp */*\n"
COMPLETE: dict[str, Any] = {
    "name": "tool",
    "title": "A tool",
    "description": "Does it.",
    "inputSchema": {
        "type": "object",
        "properties": {"text": {"type": "string", "description": "What."}},
        "required": ["text"],
        "additionalProperties": False,
    },
    "outputSchema": {
        "type": "object",
        "properties": {"n": {"type": "number"}},
        "required": ["n"],
    },
    "annotations": {"title": "A tool", "readOnlyHint": True, "destructiveHint": False},
    "icons": [{"src": "https://a.test/i.png", "mimeType": "image/png", "sizes": ["48x48"]}],
    "execution": {"taskSupport": "optional"},
    "_meta": {"a.test/key": {"any": 1}},
}
LEFT_OUT = object()
ODD: dict[str, Any] = {
    "gone": LEFT_OUT,
    "null": None,
    "number": 7,
    "large-number": 10**400,
    "true": True,
    "text": "perhaps",
    "hidden": "a\u202eb\x00",
    "empty": "",
    "long": "x" * 100_000,
    "list": [],
    "mixed": [None, 7, "x", {}],
    "object": {},
    "deep": json.loads("[" * 100 + "]" * 100),
}


def places(value: Any, place: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the place of every part of a definition."""
    items = value.items() if isinstance(value, dict) else enumerate(value)
    for key, item in items:
        yield (*place, key)
        if isinstance(item, dict | list):
            yield from places(item, (*place, key))


def changed(value: Any, place: tuple[Any, ...], odd: Any) -> Any:
    """Return a definition with something odd at one place."""
    key, *rest = place
    copied = dict(value) if isinstance(value, dict) else list(value)
    if rest:
        copied[key] = changed(value[key], tuple(rest), odd)
    elif odd is LEFT_OUT:
        del copied[key]
    else:
        copied[key] = odd
    return copied


def odd_tools(odd: Any) -> Iterator[Any]:
    for number, place in enumerate(places(COMPLETE)):
        yield changed({**COMPLETE, "name": f"odd{number}"}, place, odd)


@pytest.mark.parametrize(
    "stateless", [False, pytest.param(True, marks=pytest.mark.long)], ids=["handshake", "stateless"]
)
@pytest.mark.parametrize("era", BOTH_ERAS)
async def test_a_tool_that_is_odd_in_one_field_costs_no_other(
    tmp_path: Path, era: Era, stateless: bool
) -> None:
    tables, expected = [], set()
    for kind, odd in ODD.items():
        fine = [{**COMPLETE, "name": name} for name in ("first", "last")]
        script = {"tools": [fine[0], *odd_tools(odd), None, fine[1]], "stateless": stateless}
        file = tmp_path / f"{kind}.json"
        file.write_text(json.dumps(script), "utf-8")
        tables.append(declaring_server(file, kind))
        expected |= {f"{kind}__first", f"{kind}__last"}
    rules_in(tmp_path, RULES, "".join(tables))
    async with client_of(tmp_path, era) as client:
        listed = {each.name: each for each in (await client.list_tools()).tools}
        assert expected <= listed.keys()
        assert listed["deep__first"].output_schema == COMPLETE["outputSchema"]
    told = (tmp_path / "gateway.log").read_text("utf-8")
    for kind in ODD:
        assert f"the MCP server {kind}: left out: tool " in told
    assert "Traceback" not in told
