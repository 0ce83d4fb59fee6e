"""Approvals that the user of the connected client gives, in both revisions of the protocol."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, MCPError
from mcp.server.request_state import AESGCMRequestStateCodec
from mcp.types import CallToolRequest, CallToolRequestParams, ElicitResult
from pydantic import RootModel

from policy.approvals import AnswerRefused, ApprovalGate, Filed, Person, SqliteApprovals
from policy.generation import state_folder
from tests.mcp_servers.scripted import tool
from tests.unit.cli.gateways import LISTED, Era, Gateway, gateway, running, scripted_server
from tests.unit.cli.test_gateway_callers import ADA, BOB, CLIENTS
from tests.waiting import until

ERAS: tuple[Era, ...] = ("auto", "legacy")
RULES = 'look: allow one__echo with approval because "people look first"\n'
YES = ElicitResult(action="accept", content={"approve": True})
NO = ElicitResult(action="accept", content={"approve": False, "reason": "not today"})


class Raw(RootModel[dict[str, Any]]):
    """A result as it was sent."""


class User:
    """Answers what is asked, and remembers it."""

    def __init__(self, answer: ElicitResult) -> None:
        self.answer = answer
        self.asked: list[str] = []
        self.go = asyncio.Event()
        self.go.set()

    async def __call__(self, context: Any, params: Any) -> ElicitResult:
        self.asked.append(params.message)
        await self.go.wait()
        return self.answer


class Queue:
    """The queue of the gateway, for people elsewhere."""

    def __init__(self, folder: Path) -> None:
        self._gate = ApprovalGate(SqliteApprovals(folder / "approvals.sqlite"))

    async def asked(self) -> Filed:
        return (await until(self._gate.pending))[0]

    async def approve(self) -> None:
        filed = await self.asked()
        await self._gate.approve(filed.request.id, Person(id="carol", groups=("ops",)))


@asynccontextmanager
async def asking(
    folder: Path, ask: str, *, rules: str = RULES, more: str = "", limit: str = "60s"
) -> AsyncIterator[Gateway]:
    table = '[approvals]\nstore = "../approvals.sqlite"\n'
    table += f'ask = "{ask}"\ntimeout = "{limit}"\n'
    settings = LISTED + scripted_server(folder) + table + CLIENTS + more
    async with gateway(folder, rules, settings, token=None) as g:
        yield g


def said(result: Any) -> str:
    return "".join(block.text for block in result.content)


def calls(folder: Path) -> list[str]:
    note = folder / "calls"
    return note.read_text().splitlines() if note.exists() else []


@pytest.mark.parametrize("ask", ["client", "both"])
@pytest.mark.parametrize("era", ERAS)
async def test_the_clients_user_approves_one_call(tmp_path: Path, era: Era, ask: str) -> None:
    user = User(YES)
    async with (
        asking(tmp_path, ask) as g,
        g.client(era, token=ADA, elicitation_callback=user) as client,
    ):
        result = await client.call_tool("one__echo", {"text": "hi"})
        assert not result.is_error, said(result)
        assert said(result) == "hi"
        assert result.content[0].model_dump().get("vendorKey", "kept") == "kept"
        (record,) = g.records()
        (approval,) = record["approvals"]
        assert (approval["outcome"], approval["by"]) == ("approved", "ada")
        (message,) = user.asked
        assert "Placet asks" in message
        assert "one__echo" in message
        assert '{"text": "hi"}' in message
        assert "people look first" in message
        assert approval["digest"] in message
        # Another call is another question.
        await client.call_tool("one__echo", {"text": "again"})
        assert len(user.asked) == 2
    assert calls(tmp_path) == ['echo {"text": "hi"}', 'echo {"text": "again"}']


NOT_YES = {
    "no": (NO, "approval-refused"),
    "declined": (ElicitResult(action="decline"), "approval-refused"),
    "cancelled": (ElicitResult(action="cancel"), "approval-timeout"),
    "text": (ElicitResult(action="accept", content={"approve": "true"}), "approval-refused"),
    "nothing": (ElicitResult(action="accept", content={}), "approval-refused"),
}


@pytest.mark.parametrize("era", ERAS)
async def test_only_an_explicit_yes_is_one(tmp_path: Path, era: Era) -> None:
    user = User(YES)
    told: dict[str, str] = {}
    async with (
        asking(tmp_path, "client") as g,
        g.client(era, token=ADA, elicitation_callback=user) as client,
    ):
        for name, (answer, _) in NOT_YES.items():
            user.answer = answer
            result = await client.call_tool("one__echo", {"text": name})
            told[name] = said(result) if result.is_error else "it was called"
    assert {name: told[name] for name, (_, code) in NOT_YES.items() if code not in told[name]} == {}
    assert [name for name, text in told.items() if "not today" in text] == ["no"]
    assert len(user.asked) == len(NOT_YES)
    assert calls(tmp_path) == []


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("why", ["no form", "a group", "the queue alone"])
async def test_what_the_clients_user_may_not_answer_waits_in_the_queue(
    tmp_path: Path, era: Era, why: str
) -> None:
    user = User(YES)
    rules = RULES.replace("approval because", 'approval by "ops" because')
    callback = None if why == "no form" else user
    ask = "queue" if why == "the queue alone" else "client"
    async with (
        asking(tmp_path, ask, rules=rules if why == "a group" else RULES) as g,
        g.client(era, token=ADA, elicitation_callback=callback) as client,
    ):
        waiting = asyncio.create_task(client.call_tool("one__echo", {"text": "hi"}))
        await Queue(tmp_path).approve()
        assert said(await waiting) == "hi"
        assert g.records()[0]["approvals"][0]["by"] == "carol"
    assert user.asked == []


@pytest.mark.parametrize("era", ERAS)
async def test_of_two_answers_the_first_counts(tmp_path: Path, era: Era) -> None:
    user = User(NO)
    user.go.clear()
    async with (
        asking(tmp_path, "both") as g,
        g.client(era, token=ADA, elicitation_callback=user) as client,
    ):
        waiting = asyncio.create_task(client.call_tool("one__echo", {"text": "hi"}))
        await Queue(tmp_path).approve()
        await until(lambda: calls(tmp_path))
        user.go.set()
        assert said(await waiting) == "hi"
    assert calls(tmp_path) == ['echo {"text": "hi"}']


async def raw(client: Client, **changes: Any) -> dict[str, Any]:
    params = {"name": "one__echo", "arguments": {"text": "hi"}, **changes}
    request = CallToolRequest(params=CallToolRequestParams.model_validate(params))
    return (await client.session.send_request(request, Raw)).root


def answered(state: str, **changes: Any) -> dict[str, Any]:
    answer = {"action": "accept", "content": {"approve": True}}
    return {"inputResponses": {"question-1": answer}, "requestState": state, **changes}


TAMPERED: dict[str, Callable[[str], dict[str, Any]]] = {
    "forged": lambda state: answered(f"{state[:-4]}AAAA"),
    "made up": lambda state: answered("v1.AAAA"),
    "for other arguments": lambda state: answered(state, arguments={"text": "rm"}),
    "for another tool": lambda state: answered(state, name="one__note"),
}


@pytest.mark.parametrize("why", TAMPERED)
async def test_a_state_that_was_not_given_for_this_call_is_refused(
    tmp_path: Path, why: str
) -> None:
    user = User(YES)
    async with (
        asking(tmp_path, "client") as g,
        g.client(token=ADA, elicitation_callback=user) as client,
    ):
        parked = await raw(client)
        assert parked["resultType"] == "input_required"
        with pytest.raises(MCPError):
            await raw(client, **TAMPERED[why](parked["requestState"]))
        assert calls(tmp_path) == []
        # The call still waits for the right one.
        result = await raw(client, **answered(parked["requestState"]))
        assert result["content"] == [{"type": "text", "text": "hi", "vendorKey": "kept"}]
        assert result["vendorKey"] == "kept"
        with pytest.raises(MCPError):
            await raw(client, **answered(parked["requestState"]))
    assert calls(tmp_path) == ['echo {"text": "hi"}']


async def test_a_state_of_another_caller_is_refused(tmp_path: Path) -> None:
    user = User(YES)
    async with (
        asking(tmp_path, "client") as g,
        g.client(token=ADA, elicitation_callback=user) as ada,
        g.client(token=BOB, elicitation_callback=user) as bob,
    ):
        parked = await raw(ada)
        with pytest.raises(MCPError):
            await raw(bob, **answered(parked["requestState"]))
        assert calls(tmp_path) == []


async def test_a_state_is_read_with_the_key_of_the_policy_and_expires(tmp_path: Path) -> None:
    """Whoever made it: only what has not expired, and names a call that waits, goes on."""
    user = User(YES)
    async with (
        asking(tmp_path, "client") as g,
        g.client(token=ADA, elicitation_callback=user) as client,
    ):
        parked = await raw(client)
        codec = AESGCMRequestStateCodec([_key_of(tmp_path).read_bytes()])
        claims = json.loads(codec.unseal(parked["requestState"]))
        for other in ({"exp": time.time() - 1}, {"iat": time.time() + 3600}, {"s": "made-up"}):
            state = codec.seal(json.dumps({**claims, **other}).encode())
            with pytest.raises(MCPError):
                await raw(client, **answered(state))
        assert calls(tmp_path) == []
        await raw(client, **answered(codec.seal(json.dumps(claims).encode())))
    assert calls(tmp_path) == ['echo {"text": "hi"}']


async def test_a_gateway_that_was_started_again_says_so_and_runs_nothing(tmp_path: Path) -> None:
    user = User(YES)
    async with (
        asking(tmp_path, "both") as g,
        g.client(token=ADA, elicitation_callback=user) as client,
    ):
        parked = await raw(client)
        first = await Queue(tmp_path).asked()
    async with (
        running(tmp_path, token=None) as g,
        g.client(token=ADA, elicitation_callback=user) as client,
    ):
        with pytest.raises(MCPError, match="was started again"):
            await raw(client, **answered(parked["requestState"]))
        with suppress(AnswerRefused):
            await ApprovalGate(SqliteApprovals(tmp_path / "approvals.sqlite")).approve(
                first.request.id, Person(id="carol")
            )
        assert calls(tmp_path) == []
        result = await client.call_tool("one__echo", {"text": "hi"})
        assert said(result) == "hi"
    assert calls(tmp_path) == ['echo {"text": "hi"}']


async def test_a_late_answer_does_not_count_for_the_next_question(tmp_path: Path) -> None:
    """Somebody else has answered the first question, and the client's yes is for that one."""
    user = User(YES)
    rules = 'look: allow mcp one/* with approval because "look"\nallow mcp_elicit with approval\n'
    form = {"type": "object", "properties": {"approve": {"type": "boolean"}}}
    wants = {"method": "elicitation/create", "params": {"message": "?", "requestedSchema": form}}
    given = {"name": "one__asks", "arguments": {"text": json.dumps(wants)}}
    table = '[approvals]\nstore = "../approvals.sqlite"\nask = "both"\n'
    server = scripted_server(tmp_path, "asks", client_features=["elicitation"])
    files = {"one.json": json.dumps([tool("asks")])}
    async with (
        gateway(tmp_path, rules, LISTED + server + table + CLIENTS, files=files, token=None) as g,
        g.client(token=ADA, elicitation_callback=user) as client,
    ):
        parked = await raw(client, **given)
        await Queue(tmp_path).approve()
        await until(lambda: bool(calls(tmp_path)))
        again = await raw(client, **answered(parked["requestState"], **given))
        assert again["resultType"] == "input_required"
        (name,) = again["inputRequests"]
        assert name == "question-2"
        assert "mcp_elicit" in again["inputRequests"][name]["params"]["message"]


@pytest.mark.parametrize("ask", ["client", "queue"])
async def test_a_call_that_waited_goes_on_with_its_progress(tmp_path: Path, ask: str) -> None:
    user = User(YES)
    heard: list[tuple[float, str | None]] = []

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        heard.append((progress, message))

    rules = RULES.replace("one__echo", "one__steps")
    async with (
        asking(tmp_path, ask, rules=rules) as g,
        g.client(token=ADA, elicitation_callback=user) as client,
    ):
        waiting = asyncio.create_task(client.call_tool("one__steps", {}, progress_callback=hear))
        if ask == "queue":
            await until(lambda: bool(heard))
            assert heard[0][1] == "the call has not ended; it may wait for an approval"
            await Queue(tmp_path).approve()
        assert not (await waiting).is_error
        steps = [message for _, message in heard if message and message.startswith("step")]
        assert steps == ["step 1", "step 2", "step 3"]
        assert heard == sorted(heard)


async def test_no_client_takes_the_room_of_all_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A call that cannot be parked any more waits in the queue."""
    monkeypatch.setattr("policy.proxy.parked_calls._MOST_OF_ONE", 3)
    user = User(YES)
    async with (
        asking(tmp_path, "client") as g,
        g.client(token=ADA, elicitation_callback=user) as ada,
        g.client(token=BOB, elicitation_callback=user) as bob,
    ):
        parked = [await raw(ada, arguments={"text": str(n)}) for n in range(3)]
        assert all(one["resultType"] == "input_required" for one in parked)
        more = asyncio.create_task(raw(ada, arguments={"text": "one too many"}))
        assert (await Queue(tmp_path).asked()).request.tool == "one__echo"
        assert (await raw(bob))["resultType"] == "input_required"
        await Queue(tmp_path).approve()
        assert (await more)["content"][0]["text"] == "one too many"


def _key_of(folder: Path) -> Path:
    return state_folder(folder / "rules") / "parked-calls.key"


async def test_an_answer_that_comes_too_late_runs_nothing(tmp_path: Path) -> None:
    user = User(YES)
    async with (
        asking(tmp_path, "client", limit="300ms") as g,
        g.client(token=ADA, elicitation_callback=user) as client,
    ):
        parked = await raw(client)
        note = tmp_path / "audit.jsonl"
        await until(lambda: note.exists() and bool(g.records()))
        result = await raw(client, **answered(parked["requestState"]))
        assert result["isError"]
        assert "approval-timeout" in result["content"][0]["text"]
    assert calls(tmp_path) == []


@pytest.mark.parametrize("era", ERAS)
async def test_two_people_are_never_one_at_the_client(tmp_path: Path, era: Era) -> None:
    """Whatever `ask` is: neither the user of the client nor one person in the queue is enough."""
    user = User(YES)
    rules = RULES.replace("with approval because", "with approval two people because")
    async with (
        asking(tmp_path, "both", rules=rules) as g,
        g.client(era, token=ADA, elicitation_callback=user) as client,
    ):
        waiting = asyncio.create_task(client.call_tool("one__echo", {"text": "hi"}))
        filed = await Queue(tmp_path).asked()
        gate = ApprovalGate(SqliteApprovals(tmp_path / "approvals.sqlite"))
        for person in ("carol", "carol"):
            with suppress(AnswerRefused):
                await gate.approve(filed.request.id, Person(id=person))
        assert [each.request.id for each in await gate.pending()] == [filed.request.id]
        assert not waiting.done()
        await gate.deny(filed.request.id, Person(id="dora"))
        result = await waiting
        assert result.is_error
        assert user.asked == []
    assert calls(tmp_path) == []
