"""`placet gateway`: relative paths are judged from the folder in which a server resolves them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from mcp import Client

from tests.mcp_servers.modern import Modern, modern_server
from tests.mcp_servers.scripted import NAMES, tool
from tests.unit.cli.gateways import LISTED, gateway, scripted_server

FILES = {"one.json": json.dumps([tool(name) for name in (*NAMES, "read")])}
ALL_ARGUMENTS = 'reads = ["text"]\ncomplete = true\n'
READS = f"[tools.one__read]\n{ALL_ARGUMENTS}"
WRITES = '[tools.one__echo]\nwrites = ["text"]\ncomplete = true\n'


async def called(client: Client, name: str, given: str) -> tuple[str, bool]:
    """Call a tool; return the text of its result, and whether the call was refused."""
    result: Any = await client.call_tool(name, {"text": given})
    return result.content[0].text, bool(result.is_error)


@pytest.mark.parametrize("configured", [True, False])
async def test_a_relative_path_is_judged_as_the_server_reads_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, configured: bool
) -> None:
    here, work = tmp_path / "here", tmp_path / "work"
    here.mkdir()
    (here / "x").write_text("outside")
    (here / "rules").symlink_to(tmp_path / "rules")
    monkeypatch.chdir("/" if configured else here)
    keys = {"cwd": str(here)} if configured else {}
    rules = f'allow mcp one/read when reads only "{work}/**"\nallow mcp one/echo\n'
    settings = LISTED + READS + WRITES + scripted_server(tmp_path, "reads", **keys)
    async with gateway(tmp_path, rules, settings, files=FILES) as g, g.client() as client:
        (work / "x").write_text("in the workspace")
        assert await called(client, "one__read", str(work / "x")) == (
            "in the workspace",
            False,
        )
        assert await called(client, "one__read", f"../{work.name}/x") == ("in the workspace", False)
        for path in ("x", "./x", f"../{work.name}/../here/x"):
            said, refused = await called(client, "one__read", path)
            assert refused and "outside" not in said
        # The floor, too, knows what a tool writes.
        assert await called(client, "one__echo", "rule/global.policy") == (
            "rule/global.policy",
            False,
        )
        for path in ("rules/global.policy", "../rules/global.policy"):
            said, refused = await called(client, "one__echo", path)
            assert refused and "policy" in said


async def test_where_a_server_on_the_network_runs_is_known_if_it_is_configured(
    tmp_path: Path,
) -> None:
    work = tmp_path / "work"
    rules = (
        f'allow mcp one/echo when reads only "{work}/**"\nallow mcp one/steps\n'
        f'secret: deny mcp one/steps when reads "{work}/secret/**"\nallow mcp two/*\n'
    )
    lists = f'{LISTED}two = "two.json"\n'
    declared = READS.replace("read]", "echo]") + WRITES.replace("one__", "two__")
    files = {"two.json": FILES["one.json"]}
    async with modern_server(Modern()) as url:
        for cwd, known in (("", False), (f"cwd = {json.dumps(str(work))}\n", True)):
            table = f'[mcp.servers.one]\nurl = "{url}"\n{cwd}'
            table += table.replace(".one]", ".two]")
            folder = tmp_path / f"known {known}"
            folder.mkdir()
            async with (
                gateway(folder, rules, lists + declared + table, files=files) as g,
                g.client() as client,
            ):
                inside = str(work / "x")
                assert await called(client, "one__echo", inside) == (inside, False)
                for name, path in (("one__echo", "x"), ("two__echo", "src/x")):
                    said, refused = await called(client, name, path)
                    assert refused is not known, said
                # What was never declared to be a path need not be one.
                assert not (await called(client, "one__steps", "docs/a.md"))[1]
                assert (await called(client, "one__steps", f"{work}/secret/a"))[1]
