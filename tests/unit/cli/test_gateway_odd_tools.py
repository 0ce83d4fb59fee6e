"""`placet gateway` before servers of which a part is odd: that part costs only itself."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from mcp import Client

from policy.generation import HttpServer, McpServer, SecretReference
from policy.mcp import McpClient
from tests.mcp_servers.declaring import declaring_server
from tests.plain_http import plain_client
from tests.unit.cli.gateways import PATIENCE, TOKEN, Era, Gateway, gateway
from tests.unit.cli.test_gateway import raw_call

BOTH: tuple[Era, ...] = ("auto", "legacy")
RULES = "all: allow mcp f/*\n"


def tool(name: str, **more: Any) -> dict[str, Any]:
    fields = {"text": {"type": "string"}}
    return {"name": name, "inputSchema": {"type": "object", "properties": fields}, **more}


@asynccontextmanager
async def before(
    folder: Path, script: dict[str, Any], rules: str = RULES, settings: str = "", **keys: str
) -> AsyncIterator[Gateway]:
    """Run a gateway before a server with a script."""
    (folder / "script.json").write_text(json.dumps(script), "utf-8")
    table = declaring_server(folder / "script.json", "f")
    table += "".join(f'{key} = "{value}"\n' for key, value in keys.items())
    listed = {"f.json": json.dumps(script.get("tools", []))}
    async with gateway(folder, rules, settings + table, files=listed) as g:
        yield g


async def names_of(client: Client) -> list[str]:
    return sorted(tool.name for tool in (await client.list_tools()).tools)


ODD: dict[str, dict[str, Any]] = {
    "output": {"outputSchema": {"properties": {}}},
    "icons": {"icons": {"src": "x"}},
    "icon": {"icons": [{"href": "x"}]},
    "task": {"execution": {"taskSupport": "perhaps"}},
    "hint": {"annotations": {"readOnlyHint": "maybe"}},
    "hints": {"annotations": ["readOnly"]},
    "description": {"description": 7},
    "schema": {"inputSchema": None},
    "type": {"inputSchema": {"type": "array"}},
    "meta": {"_meta": "x"},
}


@pytest.mark.parametrize("era", BOTH)
async def test_an_odd_tool_is_left_out_and_named(
    tmp_path: Path, era: Era, capsys: pytest.CaptureFixture[str]
) -> None:
    odd = [tool(f"odd-{what}", **more) for what, more in ODD.items()]
    script = {"tools": [tool("first"), *odd, tool("last")]}
    async with before(tmp_path, script) as g, g.client(era) as client:
        assert await names_of(client) == ["f__first", "f__last"]
    told = capsys.readouterr().err
    assert all(f"the MCP server f: left out: tool `odd-{what}`: `" in told for what in ODD)


@pytest.mark.parametrize("era", BOTH)
async def test_what_is_only_unknown_is_not_odd(tmp_path: Path, era: Era) -> None:
    harmless = tool(
        "t",
        icons=[{"src": "https://a.test/i.png", "vendor": 1}],
        annotations={"readOnlyHint": True, "vendorHint": "x", "title": "T"},
        execution={"taskSupport": "optional"},
        outputSchema={"type": "object", "properties": {"n": {"type": "number"}}},
        vendor={"any": ["thing"]},
    )
    async with before(tmp_path, {"tools": [harmless]}) as g, g.client(era) as client:
        assert await names_of(client) == ["f__t"]
        (shown,) = (await client.list_tools()).tools
        assert shown.output_schema == harmless["outputSchema"]


@pytest.mark.parametrize("cursor", ["", "again"])
async def test_a_list_that_never_ends_is_used(tmp_path: Path, cursor: str) -> None:
    page = {"tools": [tool(f"t{n}") for n in range(7)], "nextCursor": cursor}
    async with before(tmp_path, {"pages": {"": page, cursor: page}}) as g, g.client() as client:
        assert await names_of(client) == [f"f__t{n}" for n in range(7)]


# Rules that are valid as long as nobody knows the tools, and not with them.
STRANGE_RULES = {
    "a tool that is not there": ("no: deny f__read_fil\n", ["f__other", "f__read_file"]),
    "the same by its server": ("no: deny mcp f/read_fil\n", ["f__other", "f__read_file"]),
    "a field that is not there": ('no: deny f__read_file when input.no == "x"\n', ["f__other"]),
    "a number that is a string": ("no: deny f__read_file when input.text > 3\n", ["f__other"]),
}


@pytest.mark.parametrize("rule", STRANGE_RULES)
async def test_a_rule_that_does_not_fit_a_tool_costs_no_other(tmp_path: Path, rule: str) -> None:
    written, left = STRANGE_RULES[rule]
    script = {"tools": [tool("read_file"), tool("other")]}
    async with before(tmp_path, script, RULES + written) as g, g.client() as client:
        assert await names_of(client) == left


RESULTS: dict[str, dict[str, Any]] = {
    "future": {"content": [{"type": "text", "text": "hi"}, {"type": "future_kind", "body": ["x"]}]},
    "partial": {"content": [{"type": "image"}, {"text": "no type"}]},
    "structured": {"structuredContent": {"n": 1}},
    "nothing": {},
}


LISTED = '[catalogue.servers]\nf = "f.json"\n'


async def old_client(g: Gateway, name: str) -> dict[str, Any]:
    """Return the result of a call as a client with a handshake gets it, whatever it is."""
    session: dict[str, str] = {}
    async with plain_client(timeout=PATIENCE) as http:

        async def post(method: str, params: dict[str, Any], **more: Any) -> Any:
            accepted = {"Accept": "application/json, text/event-stream"}
            headers = {"Authorization": f"Bearer {TOKEN}", **accepted, **session}
            message = {"jsonrpc": "2.0", "method": method, "params": params, **more}
            return await http.post(g.url, json=message, headers=headers)

        about = {"protocolVersion": "2025-06-18", "capabilities": {}}
        hello = await post(
            "initialize", {**about, "clientInfo": {"name": "c", "version": "1"}}, id=1
        )
        session["mcp-session-id"] = hello.headers["mcp-session-id"]
        session["mcp-protocol-version"] = "2025-06-18"
        await post("notifications/initialized", {})
        answer = await post("tools/call", {"name": name, "arguments": {}}, id=2)
    data = [line[6:] for line in answer.text.splitlines() if line.startswith("data: {")]
    result: dict[str, Any] = json.loads(data[-1] if data else answer.text)["result"]
    return result


async def new_client(g: Gateway, name: str) -> dict[str, Any]:
    """Return the result of a call as a client without a handshake gets it, whatever it is."""
    there = HttpServer(url=g.url, token=SecretReference(env="PLACET_TEST_TOKEN"))
    client = McpClient(McpServer(name="gateway", transport=there))
    try:
        return await client.call_tool(name, {})
    finally:
        await client.close()


@pytest.mark.parametrize("call", [old_client, new_client])
async def test_a_result_with_unknown_parts_is_relayed(
    tmp_path: Path, call: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PLACET_TEST_TOKEN", TOKEN)
    script = {"tools": [tool(name) for name in RESULTS], "results": RESULTS}
    async with before(tmp_path, script, settings=LISTED) as g:
        for name, sent in RESULTS.items():
            got = await call(g, f"f__{name}")
            assert got["content"] == sent.get("content", [])
            assert got.get("structuredContent") == sent.get("structuredContent")
            assert not got.get("isError")


@pytest.mark.parametrize("call", [old_client, new_client])
async def test_unknown_parts_are_redacted_and_carry_labels(
    tmp_path: Path, call: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PLACET_TEST_TOKEN", TOKEN)
    part = {"type": "future_kind", "body": [{"deep": "key AKIA1"}]}
    script = {"tools": [tool("t")], "results": {"t": {"content": [part]}}}
    rules = RULES + "keys: redact results of mcp f/t matching /AKIA[0-9]/\n"
    async with before(tmp_path, script, rules, LISTED) as g:
        got = await call(g, "f__t")
        assert got["content"][0]["type"] == "future_kind"
        assert "AKIA1" not in json.dumps(got)


MALFORMED: dict[str, Any] = {
    "text": {"content": "hi"},
    "strings": {"content": ["hi"]},
    "meta": {"content": [], "_meta": 7},
    "deep": {"structuredContent": {"a": json.loads("[" * 300 + "]" * 300)}},
}


async def test_a_result_that_is_none_is_an_error_of_its_call(tmp_path: Path) -> None:
    script = {"tools": [tool(name) for name in (*MALFORMED, "fine")], "results": MALFORMED}
    async with before(tmp_path, script, settings=LISTED) as g, g.client() as client:
        for name in MALFORMED:
            got = await raw_call(client, f"f__{name}", {})
            assert got["isError"] and "answer is not valid" in got["content"][0]["text"]
        assert not (await client.call_tool("f__fine", {})).is_error


SCHEMA = {
    "type": "object",
    "properties": {"n": {"type": "number"}, "s": {"type": "string", "pattern": "^a+$"}},
    "required": ["n"],
}
CHECKED: dict[str, tuple[dict[str, Any], str]] = {
    "good": ({"structuredContent": {"n": 1, "s": "aa"}}, ""),
    "more": ({"structuredContent": {"n": 1, "other": []}}, ""),
    "failed": ({"isError": True, "content": [{"type": "text", "text": "no"}]}, ""),
    "lacking": ({"structuredContent": {}}, "it does not satisfy `/required` of the output schema"),
    "wrong": ({"structuredContent": {"n": "key AKIA"}}, "`/properties/n/type`"),
    "pattern": (
        {"structuredContent": {"n": 1, "s": "a" * 50_000 + "b"}},
        "`/properties/s/pattern`",
    ),
    "unstructured": ({"content": [{"type": "text", "text": "1"}]}, "it has no structured content"),
    "large": ({"structuredContent": {"n": 1, "l": [0] * 200_000}}, "it is too large to be checked"),
}


def checked() -> dict[str, Any]:
    tools = [tool(name, outputSchema=SCHEMA) for name in CHECKED]
    return {"tools": tools, "results": {name: sent for name, (sent, _) in CHECKED.items()}}


@pytest.mark.parametrize("mode", ["off", "warn", "strict"])
async def test_results_are_checked_against_what_their_tools_declare(
    tmp_path: Path, mode: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PLACET_TEST_TOKEN", TOKEN)
    keys = {} if mode == "warn" else {"output_schema": mode}
    async with before(tmp_path, checked(), settings=LISTED, **keys) as g, g.client() as client:
        shown = {each.name: each.output_schema for each in (await client.list_tools()).tools}
        assert shown == {f"f__{name}": SCHEMA for name in CHECKED}
        for name, (sent, problem) in CHECKED.items():
            got = await new_client(g, f"f__{name}")
            if mode == "strict" and problem:
                said = got["content"][0]["text"]
                assert got["isError"] and said.startswith("output-invalid: the tool has run")
                assert problem in said and "AKIA" not in json.dumps(got)
            else:
                assert got.get("structuredContent") == sent.get("structuredContent")
                assert got.get("isError", False) == sent.get("isError", False)
    told = capsys.readouterr().err
    for name, (_, problem) in CHECKED.items():
        said = f"the MCP server f: a result of tool `{name}` is not what it declares: "
        assert (said in told) == (mode == "warn" and problem != "")
        assert problem in told or mode != "warn"
    assert "AKIA" not in told
