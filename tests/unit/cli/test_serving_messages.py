"""What a server reports of its policy on standard error."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.unit.cli.gateways import HEADER, LISTED, gateway, scripted_server
from tests.waiting import until


async def test_each_generation_is_reported_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said: list[str] = []

    def lines() -> list[str]:
        said.extend(capsys.readouterr().err.splitlines())
        return [line for line in said if "generation" in line]

    settings = LISTED + scripted_server(tmp_path)
    async with gateway(tmp_path, "allow mcp one/*\n", settings) as g, g.client() as client:
        await client.list_tools()
        numbers = [line.split("generation ")[1].split()[0] for line in lines()]
        assert len(numbers) == len(set(numbers))
        first, *others = lines()
        assert "the tools have changed" not in first
        assert all("the tools have changed, and the rules have not" in line for line in others)
        before = len(lines())
        policy = tmp_path / "rules" / "global.policy"
        policy.write_text("nonsense", "utf-8")
        await until(lambda: "stale: " in lines()[-1])
        policy.write_text(HEADER + "allow mcp one/*\n", "utf-8")
        await until(lambda: "stale: " not in lines()[-1])
        assert len(lines()) == before + 2
        assert json.dumps(numbers[-1]) in json.dumps(lines()[-1].split())
