"""One's own tools over MCP, and lists of the tools of live MCP servers: real processes."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from pathlib import Path

import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from policy.catalog import read_listing
from tests.e2e.serving import ENV, ROOT, Place, call, call_until, place_in, served
from tests.e2e.test_http import listening, token_file
from tests.preloaded import placet
from tests.unit.cli.running import run
from tests.waiting import PATIENCE

SHOP = '''\
from typing import Annotated

from policy.catalog import Reads
from policy.tools import Traits, tool

print("printed while it is imported")


@tool(traits=Traits(read_only=False))
def refund(customer: str, amount: int) -> str:
    """Pay a customer back."""
    print("printed while it runs")
    return f"{customer} has got {amount} back"


@tool(traits=Traits(complete=True))
def count(path: Annotated[str, Reads()]) -> int:
    """Count the words of a file."""
    return 3


tools = [refund, count]
'''
RULES = """\
policy for every agent

default deny

refund: allow refund when input.amount <= 100
count: allow count, file_read when reads only workspace
"""


def shop_in(folder: Path, rules: str = RULES) -> Place:
    place = place_in(folder, rules)
    (folder / "shop.py").write_text(SHOP)
    return place


async def test_own_tools_are_served_beside_the_built_in_ones(tmp_path: Path) -> None:
    place = shop_in(tmp_path)
    (place.workspace / "a.txt").write_text("hello")
    async with served(place, "--tools", "shop:tools") as client:
        listed = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert sorted(listed) == ["count", "file_read", "refund"]
        assert listed["refund"].input_schema["properties"]["amount"] == {"type": "integer"}
        paid = await call(client, "refund", customer="ada", amount=20)
        assert (paid.text, paid.verdict) == ("ada has got 20 back", "allow")
        assert (
            await call(client, "refund", customer="ada", amount=200)
        ).kind == "permission-denied"
        assert (await call(client, "count", path="a.txt")).text == "3"
        assert (await call(client, "count", path="/etc/passwd")).kind == "permission-denied"
        assert (await call(client, "file_read", path="a.txt")).text == "hello"
        place.save(RULES.replace("<= 100", "<= 1000"))
    assert [record["tool"] for record in place.records()].count("refund") == 2
    log = place.log.read_text()
    assert "printed while it is imported" in log and "printed while it runs" in log


async def test_rules_that_do_not_suit_the_tools_are_reported_and_everything_is_denied(
    tmp_path: Path,
) -> None:
    place = shop_in(tmp_path, RULES.replace("amount", "amont"))
    async with served(place, "--tools", "shop:tools") as client:
        assert (await client.list_tools()).tools == []
    assert "everything is denied: global.policy:5: `refund` has no field `input.amont`" in (
        place.log.read_text()
    )


async def test_a_list_that_contradicts_a_built_in_tool_is_reported_until_it_is_corrected(
    tmp_path: Path,
) -> None:
    place = place_in(tmp_path)
    entry = {"name": "file_read", "inputSchema": {"type": "object", "properties": {"file": {}}}}
    (place.rules / "tools.json").write_text(json.dumps([entry]))
    (place.rules / "placet.toml").write_text('[catalogue]\nfiles = ["tools.json"]\n')
    (place.workspace / "a.txt").write_text("hello")
    async with served(place) as client:
        assert (await client.list_tools()).tools == []
        assert (
            "`tools.json` lists `file_read` otherwise than Placet itself" in place.log.read_text()
        )
        (place.rules / "tools.json").write_text("[]")
        found = await call_until(client, lambda reply: not reply.error, "file_read", path="a.txt")
        assert found.text == "hello"


async def test_no_tool_may_write_the_code_of_tools(tmp_path: Path) -> None:
    place = shop_in(tmp_path, RULES + "write: allow file_write\n")
    (place.workspace / "helper.py").write_text("")
    (tmp_path / "mine.py").write_text(f"import helper\n{SHOP}")
    env = {**ENV, "PYTHONPATH": f"{ROOT}:{place.workspace}"}
    refused = await asyncio.to_thread(
        subprocess.run,
        place.command("--tools", "mine:tools"),
        env=env,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert refused.returncode == 2
    assert "helper.py is in the workspace, where tools could change it" in refused.stderr
    program, *arguments = place.command("--tools", "mine:tools", "--policy-in-workspace")
    server = StdioServerParameters(command=program, args=arguments, cwd=tmp_path, env=env)
    with place.log.open("a") as log:
        async with Client(stdio_client(server, errlog=log)) as client:
            for file in ("helper.py", str(tmp_path / "mine.py")):
                written = await call(client, "file_write", path=file, content="")
                assert written.text.startswith("out-of-bounds: ")
            assert not (await call(client, "file_write", path="other.py", content="")).error


def export(*arguments: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        placet("catalog", "export", *map(str, arguments)),
        cwd=cwd,
        env=ENV,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )


def test_the_tools_of_a_live_server_become_a_list(tmp_path: Path) -> None:
    place = shop_in(tmp_path)
    ran = export("--server", "till", "--", *place.command("--tools", "shop:tools"), cwd=tmp_path)
    assert ran.returncode == 0, ran.stderr
    listing = read_listing(json.loads(ran.stdout), reviewed=True)
    assert listing.problems == ()
    assert [spec.name for spec in listing.specs] == [
        "till__count",
        "till__file_read",
        "till__refund",
    ]
    (tmp_path / "till.json").write_text(ran.stdout)
    rules = tmp_path / "more"
    rules.mkdir()
    rule = "refund: allow mcp till/refund when input.amount <= 9\n"
    (rules / "global.policy").write_text(f"policy for every agent\ndefault deny\n{rule}")
    checked = run("check", rules, "--catalog", tmp_path / "till.json", "--strict")
    assert checked.code == 0, checked.out


async def test_a_server_over_http_is_asked_with_its_token(tmp_path: Path) -> None:
    place = place_in(tmp_path)
    token = token_file(place)
    async with listening(place, "--token-file", token) as url:
        command = ("catalog", "export", "--server", "x", "--url", url)
        ran = await asyncio.to_thread(run, *command, "--token-file", token)
        assert ran.code == 0, ran.err
        assert "file_read" in {tool["name"] for tool in json.loads(ran.out)["tools"]}
        ran = await asyncio.to_thread(run, *command)
        assert (ran.code, ran.out) == (2, "")
        assert ran.err.startswith("placet: server x: the server answered with an error: ")


# A server in the fewest lines; its first argument says what it does wrong.
SERVER = """\
import json, os, sys, time

mode, page = sys.argv[1], 0
LOST = {"type": "object", "properties": {"a": {"$ref": "#/nowhere"}}}


def say(**message):
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)


def tool(name, **more):
    return {"name": name, "inputSchema": {"type": "object"}, **more}


if mode == "hangs":
    time.sleep(1000)
if mode == "ends":
    sys.exit(3)
if mode == "prints":
    print("Welcome!", flush=True)
if mode == "floods":
    while True:
        sys.stdout.write("x" * 65536)
for line in sys.stdin:
    asked = json.loads(line)
    if "id" not in asked:
        continue
    if asked["method"] == "initialize":
        info = {"name": "server", "version": "1"}
        said = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": info}
        say(id=asked["id"], result=said)
    elif asked["method"] != "tools/list":
        say(id=asked["id"], error={"code": -32601, "message": "no such method"})
    else:
        page += 1
        claims = {"annotations": {"readOnlyHint": True}, "resources": {"complete": True}}
        result = {
            "pages": {"tools": [tool(f"t{page}")], "nextCursor": str(page)},
            "circle": {"tools": [tool(f"t{page}")], "nextCursor": "again"},
            "nonsense": {"tools": [{"nome": "t"}]},
            "large": {"tools": [tool(f"t{n}", description="x" * 1_000_000) for n in range(17)]},
            "unusable": {"tools": [tool("a"), tool("a"), tool("b", inputSchema=LOST)]},
        }.get(mode, {"tools": [tool("echo", description="Echo.", _meta={"x": 1}, **claims)]})
        if mode == "ends midway":
            os._exit(4)
        if mode == "errors":
            say(id=asked["id"], error={"code": -32000, "message": "not \\x1b[31m today"})
        else:
            say(id=asked["id"], result=result)
"""


@pytest.mark.parametrize(
    ("mode", "said"),
    [
        ("hangs", "the server has not listed its tools within 0.5 seconds"),
        ("floods", "the server has sent a message of more than 16,777,216 bytes"),
        ("ends", "the server has ended with exit status 3"),
        ("ends midway", "the server has ended with exit status 4"),
        ("errors", "the server answered with an error: not \\u{1b}[31m today"),
    ],
)
def test_a_server_that_misbehaves_ends_in_one_line(
    mode: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "server.py").write_text(SERVER)
    seconds = "0.5" if "0.5 seconds" in said else "60"
    server = ("--", sys.executable, "server.py", mode)
    monkeypatch.chdir(tmp_path)
    ran = run("catalog", "export", "--server", "x", "--timeout", seconds, *server)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith(f"placet: server x: {said}") and ran.err.count("\n") == 1


@pytest.mark.parametrize(
    ("mode", "tools", "said"),
    [
        ("pages", 100, "the server's list has more than 100 pages"),
        ("circle", 2, "the server's list leads back to a page before"),
    ],
)
def test_a_list_that_does_not_end_is_used_up_to_there(
    mode: str, tools: int, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "server.py").write_text(SERVER)
    monkeypatch.chdir(tmp_path)
    ran = run("catalog", "export", "--server", "x", "--", sys.executable, "server.py", mode)
    assert (ran.code, len(json.loads(ran.out)["tools"])) == (0, tools)
    assert ran.err == f"placet: server x: {said}; what it lists up to there is used\n"


def test_a_server_without_a_tool_that_can_be_used_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "server.py").write_text(SERVER)
    monkeypatch.chdir(tmp_path)
    ran = run("catalog", "export", "--server", "x", "--", sys.executable, "server.py", "nonsense")
    assert (ran.code, ran.out) == (2, "")
    assert "left out: tool 1: " in ran.err
    assert ran.err.endswith("placet: server x: none of its tools can be used\n")


def test_a_server_that_sends_too_much_is_not_listened_to_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "server.py").write_text(SERVER)
    monkeypatch.chdir(tmp_path)
    ran = run("catalog", "export", "--server", "x", "--", sys.executable, "server.py", "large")
    assert ran.code == 2
    assert "the server has sent a message of more than 16,777,216 bytes" in ran.err


def test_only_what_a_server_says_of_its_tools_is_listed_and_the_unusable_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "server.py").write_text(SERVER)
    monkeypatch.chdir(tmp_path)
    command = ("catalog", "export", "--server", "x", "--")
    ran = run(*command, sys.executable, "server.py", "prints")
    assert ran.code == 0, ran.err
    assert json.loads(ran.out)["tools"] == [
        {
            "server": "x",
            "name": "echo",
            "description": "Echo.",
            "inputSchema": {"type": "object"},
            "annotations": {"readOnlyHint": True},
        }
    ]
    ran = run(*command, sys.executable, "server.py", "unusable")
    assert [tool["name"] for tool in json.loads(ran.out)["tools"]] == ["a"]
    first, second = ran.err.splitlines()
    assert first == "placet: left out tool 2 of x: `x__a` is listed twice"
    assert second.startswith("placet: left out tool 3 of x: `x__b` cannot be called: its schema")
    ran = run(*command, "/nonexistent/server")
    assert (
        "cannot be started or reached: `/nonexistent/server`: No such file or directory" in ran.err
    )


async def test_plugins_of_the_configuration_are_served_from_the_first_list_on(
    tmp_path: Path,
) -> None:
    place = place_in(tmp_path, "policy for every agent\n\ndefault deny\n\nallow ext mask/*\n")
    mask = ROOT / "docs/samples/mask"
    tables = run("plugins", "--rules", str(place.rules), str(mask)).out.partition("toml:\n\n")[2]
    async with served(place) as client:
        assert (await client.list_tools()).tools == []
        # The table that the command prints, pasted while the server runs.
        (place.rules / "placet.toml").write_text(tables)
        masked = await call_until(
            client, lambda reply: not reply.error, "ext__mask__mask_digits", text="12"
        )
        assert json.loads(masked.text) == {"text": "##"}
    async with served(place) as client:
        listed = await client.list_tools()
        assert [each.name for each in listed.tools] == ["ext__mask__mask_digits"]
