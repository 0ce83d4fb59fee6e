"""The list of tools as an MCP client reads it, over an in-memory session."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import pytest
from jsonschema import Draft202012Validator
from mcp import Client
from pydantic import BaseModel, Field

from policy import PolicyStore
from policy.catalog import Arguments
from policy.proxy import ListChanges, tool_server
from policy.service import build_tool_service
from policy.tools import Traits, tool


class Read(Arguments):
    """Read a note."""

    operation: Literal["read"]
    name: str


class Delete(Arguments):
    """Delete a note."""

    operation: Literal["delete"]
    name: str
    force: bool | None = None


class Found(BaseModel):
    text: str


async def note(args: Annotated[Read | Delete, Field(discriminator="operation")]) -> Found:
    """Keep notes."""
    return Found(text=args.name)


async def shout(text: str, times: int | None = None) -> str:
    """Say it loudly."""
    return text.upper() * (times or 1)


@pytest.mark.parametrize("strict", [True, False])
async def test_clients_see_what_they_may_send_and_what_comes_back(
    tmp_path: Path, *, strict: bool
) -> None:
    (tmp_path / "global.policy").write_text(
        'policy for every agent\ndefault allow\nkeep: deny note when input.operation == "delete"\n'
    )
    traits = Traits(strict_schema=strict)
    tools = [tool(traits=traits)(note), tool(traits=traits)(shout)]
    service = build_tool_service(PolicyStore(tmp_path), tools=tools)
    async with Client(tool_server(lambda client: service, ListChanges())) as client:
        listed: dict[str, Any] = {each.name: each for each in (await client.list_tools()).tools}
        schema = listed["note"].input_schema
        assert schema["properties"]["operation"]["enum"] == ["read"]
        assert set(schema["required"]) == {"operation", "name"}
        assert set(listed["shout"].input_schema["required"]) == {"text"}
        assert listed["shout"].output_schema is None
        result = await client.call_tool("note", {"operation": "read", "name": "x"})
        Draft202012Validator(listed["note"].output_schema).validate(result.structured_content)
        refused = await client.call_tool("note", {"operation": "delete", "name": "x"})
        assert refused.is_error
