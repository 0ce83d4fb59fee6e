"""A call over HTTP does not list the tools, however many there are."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import pytest
from pydantic import Field

import policy
from policy.proxy import server
from policy.service import tool
from policy.tools import ToolDefinition
from tests.unit.cli.gateways import LISTED, gateway, scripted_server


@tool
async def send(text: Annotated[str, Field(json_schema_extra={"x-mcp-header": "Text"})]) -> str:
    """Send a text."""
    return text


async def test_a_call_lists_no_tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The library would list them to compare headers with arguments, of which no tool has any."""
    shown: list[str] = []
    usual = server._shown

    def noted(tool: ToolDefinition, *rest: object) -> object:
        shown.append(tool.name)
        return usual(tool, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(server, "_shown", noted)
    table = LISTED + scripted_server(tmp_path)
    async with gateway(tmp_path, "allow one__echo, one__note\n", table) as g, g.client() as client:
        listed = (await client.list_tools()).tools
        assert shown == [tool.name for tool in listed] == ["one__echo", "one__note"]
        shown.clear()
        for name in ("one__echo", "one__note", "one__echo"):
            assert not (await client.call_tool(name, {"text": "here"})).is_error
        assert not shown


async def test_no_listed_schema_wants_an_argument_as_a_header(tmp_path: Path) -> None:
    """If one did, calls would have to be compared with their headers."""
    (tmp_path / "global.policy").write_text("policy for every agent\n\ndefault allow\n")
    service = policy.build_tool_service(policy.PolicyStore(tmp_path), tools=[send])
    definition = service.describe("send")
    assert definition is not None
    assert server._shown(definition, service.registry, "2026-07-28").input_schema["properties"] == {
        "text": {"type": "string"}
    }
