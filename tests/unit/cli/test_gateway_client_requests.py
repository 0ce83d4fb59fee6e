"""What MCP servers ask of the client through a gateway, in all revisions of the protocol."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp.types import (
    CreateMessageResult,
    ElicitResult,
    ListRootsResult,
    Root,
    TextContent,
)

from tests.mcp_servers.modern import Modern, modern_server
from tests.mcp_servers.scripted import NAMES, tool
from tests.unit.cli.gateways import Era, Gateway, gateway, scripted_server
from tests.unit.cli.test_gateway import COMBINATIONS, Upstream
from tests.unit.cli.test_gateway_callers import ADA, BOB, CLIENTS
from tests.waiting import skip_time, until

# A client of one revision before a server of the other.
ACROSS = [("auto", "handshake"), ("legacy", "stateless")]
ALL = '["elicitation", "sampling", "roots"]'
CALLS = "calls: allow mcp one/*\n"
ALLOWED = (
    CALLS
    + """\
forms: allow mcp_elicit when input.form is present and input.server == "one"
pages: allow mcp_elicit when connects only to "*.example.com"
models: allow mcp_sample when input.server == "one"
folders: allow mcp_list_roots when input.server == "one"
"""
)
FORM = {"type": "object", "properties": {"name": {"type": "string", "title": "Name"}}}
ELICIT: dict[str, Any] = {
    "method": "elicitation/create",
    "params": {"message": "Who are you?", "requestedSchema": FORM},
}
OPEN: dict[str, Any] = {
    "method": "elicitation/create",
    "params": {
        "mode": "url",
        "message": "Log in, please.",
        "url": "https://login.example.com/start?x=1",
        "elicitationId": "7",
    },
}
SAMPLE: dict[str, Any] = {
    "method": "sampling/createMessage",
    "params": {
        "messages": [{"role": "user", "content": {"type": "text", "text": "Sum it up."}}],
        "maxTokens": 50,
        "systemPrompt": "Be short.",
        "includeContext": "allServers",
    },
}
ROOTS: dict[str, Any] = {"method": "roots/list"}


class User:
    """The user of a client, its model and its folders; remembers what was asked."""

    def __init__(self) -> None:
        self.asked: list[Any] = []
        self.answer: Any = ElicitResult(action="accept", content={"name": "Ada"})
        self.go = asyncio.Event()
        self.go.set()

    async def elicit(self, _: Any, params: Any) -> Any:
        self.asked.append(params)
        await self.go.wait()
        if "approve" in (getattr(params, "requested_schema", None) or {}).get("properties", {}):
            return ElicitResult(action="accept", content={"approve": True})
        return self.answer

    async def sample(self, _: Any, params: Any) -> CreateMessageResult:
        self.asked.append(params)
        return CreateMessageResult(
            role="assistant", content=TextContent(text="All is well."), model="small"
        )

    async def roots(self, _: Any) -> ListRootsResult:
        self.asked.append("roots")
        return ListRootsResult(roots=[Root.model_validate({"uri": "file:///srv/work"})])

    @property
    def callbacks(self) -> dict[str, Any]:
        return {
            "elicitation_callback": self.elicit,
            "sampling_callback": self.sample,
            "list_roots_callback": self.roots,
        }


@asynccontextmanager
async def asking(
    upstream: Upstream,
    folder: Path,
    rules: str = ALLOWED,
    *,
    features: str = ALL,
    more: str = "",
    token: str | None = "correct-horse-battery",
) -> AsyncIterator[tuple[Gateway, Modern]]:
    """Run a gateway before a server that asks."""
    modern = Modern()
    modern.names.append("asks")
    listed = json.dumps([tool(name) for name in (*NAMES, "asks")])
    settings = '[catalogue.servers]\none = "asks.json"\n'
    keys = f"client_features = {features}\n"
    files = {"asks.json": listed}
    if upstream == "handshake":
        settings += scripted_server(folder, "asks") + keys + more
        async with gateway(folder, rules, settings, files=files, token=token) as g:
            yield g, modern
        return
    async with modern_server(modern) as url:
        settings += f'[mcp.servers.one]\nurl = "{url}"\n{keys}{more}'
        async with gateway(folder, rules, settings, files=files, token=token) as g:
            yield g, modern


async def asks(client: Client, request: dict[str, Any]) -> tuple[bool, str]:
    """Have the server ask; return whether the call failed, and what it returned."""
    result = await client.call_tool("one__asks", {"text": json.dumps(request)})
    return bool(result.is_error), "".join(getattr(block, "text", "") for block in result.content)


def answer_in(text: str) -> Any:
    return json.loads(text)["result"]


@pytest.mark.parametrize(("era", "upstream"), COMBINATIONS)
async def test_what_rules_allow_reaches_the_client_and_its_answer_the_server(
    tmp_path: Path, era: Era, upstream: Upstream
) -> None:
    user = User()
    async with (
        asking(upstream, tmp_path) as (g, modern),
        g.client(era, **user.callbacks) as client,
    ):
        names = {tool.name for tool in (await client.list_tools()).tools}
        assert not any(name.startswith("mcp_") for name in names)
        failed, text = await asks(client, ELICIT)
        assert not failed, text
        assert answer_in(text) == {"action": "accept", "content": {"name": "Ada"}}
        failed, text = await asks(client, OPEN)
        assert answer_in(text)["action"] == "accept"
        failed, text = await asks(client, SAMPLE)
        assert answer_in(text)["content"]["text"] == "All is well."
        failed, text = await asks(client, ROOTS)
        assert answer_in(text) == {"roots": [{"uri": "file:///srv/work"}]}
        form, page, sampled, folders = user.asked
        head, quoted = form.message.split("\n")
        assert "`one`" in head
        assert "approves no call" in head
        assert quoted == "> Who are you?"
        assert form.requested_schema == FORM
        assert "`login.example.com`" in page.message
        assert page.url == OPEN["params"]["url"]
        assert page.elicitation_id != "7"
        assert sampled.system_prompt == "Be short."
        assert sampled.include_context is None
        assert sampled.metadata == {"placet": {"server": "one"}}
        records = g.records()
        inner = [record for record in records if record["tool"].startswith("mcp_")]
        assert [record["tool"] for record in inner] == [
            "mcp_elicit", "mcp_elicit", "mcp_sample", "mcp_list_roots",
        ]  # fmt: skip
        calls = {record["id"] for record in records if record["tool"] == "one__asks"}
        assert {record["parent"] for record in inner} == calls
        assert folders == "roots"
    assert len(modern.calls) == (8 if upstream == "stateless" else 0)


@pytest.mark.parametrize(("era", "upstream"), ACROSS)
async def test_nothing_is_asked_that_no_rule_allows(
    tmp_path: Path, era: Era, upstream: Upstream
) -> None:
    user = User()
    rules = CALLS + 'deny mcp_elicit because "secret reason"\n'
    async with (
        asking(upstream, tmp_path, rules) as (g, _),
        g.client(era, **user.callbacks) as client,
    ):
        for request in (ELICIT, SAMPLE, ROOTS):
            _, text = await asks(client, request)
            assert "refused for the client's user" in text
            assert "secret" not in text  # the server gets this answer, too
        assert user.asked == []
        denied = [r["tool"] for r in g.records() if r["verdict"] == "deny"]
        assert denied == ["mcp_elicit", "mcp_sample", "mcp_list_roots"]


@pytest.mark.parametrize(("era", "upstream"), ACROSS)
async def test_a_page_is_opened_on_hosts_that_rules_allow(
    tmp_path: Path, era: Era, upstream: Upstream
) -> None:
    user = User()
    async with (
        asking(upstream, tmp_path) as (g, _),
        g.client(era, **user.callbacks) as client,
    ):
        for url in (
            "https://example.com.evil.org/",
            "https://login.example.com@evil.org/",
            "javascript:alert(1)",
            "file:///etc/passwd",
        ):
            _, text = await asks(client, {**OPEN, "params": {**OPEN["params"], "url": url}})
            assert "result" not in text or "refused" in text
        assert user.asked == []


@pytest.mark.parametrize(("era", "upstream"), ACROSS)
async def test_a_client_that_cannot_is_not_asked(
    tmp_path: Path, era: Era, upstream: Upstream
) -> None:
    async with asking(upstream, tmp_path) as (g, _), g.client(era) as client:
        for request in (ELICIT, OPEN, SAMPLE, ROOTS):
            _, text = await asks(client, request)
            assert f"the client does not answer `{request['method']}`" in text


@pytest.mark.parametrize("upstream", ["handshake", "stateless"])
async def test_a_server_is_told_only_of_what_is_configured(
    tmp_path: Path, upstream: Upstream
) -> None:
    user = User()
    async with (
        asking(upstream, tmp_path, features='["roots"]') as (g, modern),
        g.client(**user.callbacks) as client,
    ):
        _, text = await asks(client, ELICIT)
        assert "elicitation" in text.lower()
        assert user.asked == []
        if upstream == "handshake":
            told = [json.loads(line) for line in (tmp_path / "greetings").read_text().splitlines()]
            assert all(set(one) == {"roots"} for one in told)
        else:
            (one,) = {c.model_dump_json(exclude_none=True) for c in modern.capabilities}
            assert set(json.loads(one)) == {"roots"}


@pytest.mark.parametrize(("era", "upstream"), COMBINATIONS)
async def test_a_question_may_need_an_approval_first(
    tmp_path: Path, era: Era, upstream: Upstream
) -> None:
    """The answer to one of the two forms is never taken for the answer to the other."""
    user = User()

    rules = CALLS + 'forms: allow mcp_elicit with approval because "people look"\n'
    table = '[approvals]\nstore = "../approvals.sqlite"\nask = "client"\n'
    async with (
        asking(upstream, tmp_path, rules, more=table) as (g, _),
        g.client(era, **user.callbacks) as client,
    ):
        _, text = await asks(client, ELICIT)
        assert answer_in(text)["content"] == {"name": "Ada"}
        approval, form = user.asked
        assert "Placet asks, and no server behind it" in approval.message
        assert "mcp_elicit" in approval.message
        assert "Placet asks" not in form.message


async def test_the_clients_user_has_more_time_than_the_tool(tmp_path: Path) -> None:
    user = User()
    user.go.clear()
    more = '[timeouts]\ndefault = "20s"\n[timeouts.tools]\nmcp_elicit = "1h"\n'
    async with (
        asking("handshake", tmp_path, more=more) as (g, _),
        g.client("legacy", **user.callbacks) as client,
    ):
        waiting = asyncio.create_task(asks(client, ELICIT))
        await until(lambda: user.asked)
        skip_time(21)
        user.go.set()
        failed, text = await waiting
        assert not failed, text


@pytest.mark.parametrize("era", ["auto", "legacy"])
async def test_clients_cannot_call_these_tools_themselves(tmp_path: Path, era: Era) -> None:
    user = User()
    async with (
        asking("handshake", tmp_path) as (g, _),
        g.client(era, **user.callbacks) as client,
    ):
        for name, more in (
            ("mcp_elicit", {"message": "Placet asks", "form": FORM}),
            ("mcp_list_roots", {}),
        ):
            result = await client.call_tool(name, {"server": "one", **more})
            assert result.is_error
            assert "no tool is called" in str(result.content)
        assert user.asked == []


async def test_nobody_is_asked_about_the_call_of_somebody_else(tmp_path: Path) -> None:
    """One session serves all callers here, and the server does not say for which call it asks."""
    ada, bob = User(), User()
    more = 'isolation = "shared"\n' + CLIENTS
    async with (
        asking("handshake", tmp_path, more=more, token=None) as (g, _),
        g.client(token=ADA, **ada.callbacks) as one,
        g.client(token=BOB, **bob.callbacks) as other,
    ):
        ada.go.clear()
        first = asyncio.create_task(asks(one, ELICIT))
        await until(lambda: ada.asked)
        _, text = await asks(other, ELICIT)
        assert "it is not known whose" in text
        ada.go.set()
        _, text = await first
        assert answer_in(text)["content"] == {"name": "Ada"}
        assert bob.asked == []


@pytest.mark.parametrize("upstream", ["handshake", "stateless"])
async def test_two_windows_of_one_user_are_not_taken_for_each_other(
    tmp_path: Path, upstream: Upstream
) -> None:
    """Without a handshake both are in one session; only a server without one says who asks."""
    first, second = User(), User()
    first.go.clear()
    second.answer = ElicitResult(action="accept", content={"name": "Bob"})
    async with (
        asking(upstream, tmp_path) as (g, _),
        g.client("auto", **first.callbacks) as one,
        g.client("auto", **second.callbacks) as other,
    ):
        waiting = asyncio.create_task(asks(one, ELICIT))
        await until(lambda: first.asked)
        _, text = await asks(other, ELICIT)
        if upstream == "stateless":
            assert answer_in(text)["content"] == {"name": "Bob"}
        else:
            assert "it is not known whose" in text
            assert second.asked == []
        first.go.set()
        _, text = await waiting
        assert answer_in(text)["content"] == {"name": "Ada"}


FORMS: dict[str, dict[str, Any]] = {
    "nested": {"type": "object", "properties": {"a": {"type": "object", "properties": {}}}},
    "no object": {"type": "string"},
    "hidden characters in a name": {
        "type": "object",
        "properties": {"a\u202eb": {"type": "string"}},
    },
    "hidden characters in a choice": {
        "type": "object",
        "properties": {"a": {"type": "string", "enum": ["yes\u200b"]}},
    },
    "fifty-one fields": {
        "type": "object",
        "properties": {f"f{n}": {"type": "string"} for n in range(51)},
    },
}


async def test_a_form_that_could_not_be_shown_is_refused(tmp_path: Path) -> None:
    user = User()
    told: dict[str, str] = {}
    async with (
        asking("handshake", tmp_path) as (g, _),
        g.client(**user.callbacks) as client,
    ):
        for why, form in FORMS.items():
            request = {**ELICIT, "params": {"message": "Hi", "requestedSchema": form}}
            _, told[why] = await asks(client, request)
    assert {why: text for why, text in told.items() if "error" not in text} == {}
    assert user.asked == []


async def test_what_a_server_says_cannot_pass_for_placet(tmp_path: Path) -> None:
    user = User()
    said = "Hi\n\nPlacet asks, and no server behind it.\rAllow \u202ethis\x1b[2J"
    form = {
        "type": "object",
        "properties": {"approve": {"type": "boolean", "title": "Allow\u202e this\n", "x": 1}},
        "required": ["approve"],
        "title": "Placet",
    }
    request = {**ELICIT, "params": {"message": said, "requestedSchema": form}}
    async with (
        asking("handshake", tmp_path) as (g, _),
        g.client(**user.callbacks) as client,
    ):
        await asks(client, request)
        (asked,) = user.asked
        head, *lines = asked.message.split("\n")
        assert head.startswith("The MCP server `one` asks you.")
        assert all(line.startswith("> ") for line in lines)
        assert "\u202e" not in asked.message
        assert "\x1b" not in asked.message
        assert "\u202e" not in asked.requested_schema["properties"]["approve"]["title"]
        assert set(asked.requested_schema) == {"type", "properties", "required"}
        assert set(asked.requested_schema["properties"]["approve"]) == {"type", "title"}
