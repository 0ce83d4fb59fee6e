"""Approval requests of a real `placet serve`, answered by `placet approvals` in another process."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from policy.approvals import ApprovalGate, SqliteApprovals
from tests.e2e.serving import ENV, Place, Reply, call, place_in, served
from tests.unit.cli.running import Ran, run
from tests.waiting import PATIENCE, until

pytestmark = pytest.mark.people

# A session with a name outlives the server; each connection has one of its own otherwise.
SETTINGS = """\
[serve]
session = "desk"
[approvals]
store = "../state/approvals.sqlite"
timeout = "60s"
"""


@pytest.fixture
def place(tmp_path: Path) -> Place:
    found = place_in(tmp_path)
    (found.rules / "placet.toml").write_text(SETTINGS, "utf-8")
    (found.workspace / "a.txt").write_text("x", "utf-8")
    return found


def answer(*arguments: str | Path) -> Ran:
    """Run `placet approvals` here, in another process than the server."""
    return run("approvals", *arguments)


async def asked(place: Place, count: int = 1) -> None:
    """Wait until so many questions wait for an answer."""
    async with SqliteApprovals(place.folder / "state" / "approvals.sqlite") as approvals:
        gate = ApprovalGate(approvals)

        async def enough() -> bool:
            return len(await gate.pending()) == count

        await until(enough)


async def question(place: Place) -> dict[str, Any]:
    """Return the one question that waits, as the command lists it, as soon as there is one."""
    await asked(place)
    done = await asyncio.to_thread(answer, "list", "--format", "json", place.rules)
    assert done.code == 0, done.err
    (only,) = json.loads(done.out)["questions"]
    return dict(only)


async def test_an_approval_from_another_process_lets_the_call_go_on(place: Place) -> None:
    async with served(place, "--agent", "tester") as client:
        waiting = asyncio.create_task(call(client, "file_delete", path="a.txt"))
        asked = await question(place)
        assert (asked["tool"], asked["input"]) == ("file_delete", {"path": "a.txt"})
        assert asked["resources"][0].startswith(f"writes {place.workspace / 'a.txt'}")
        shown = await asyncio.to_thread(answer, "show", asked["id"][:6], place.rules)
        assert f"writes {place.workspace / 'a.txt'}" in shown.out
        done = await asyncio.to_thread(answer, "approve", asked["id"][:6], place.rules)
        assert (done.code, done.out.split(":")[0]) == (0, "approved"), done.err
        reply = await waiting
    assert (reply.error, reply.said["approval"]) == (False, "approved")
    assert not (place.workspace / "a.txt").exists()
    assert "asks wait for `placet approvals" in place.log.read_text("utf-8")
    again = await asyncio.to_thread(answer, "approve", asked["id"], place.rules)
    assert (again.code, again.out) == (1, "")
    assert "its call has run" in again.err


async def test_a_denial_reaches_the_agent_with_its_message(place: Place) -> None:
    async with served(place) as client:
        waiting = asyncio.create_task(call(client, "file_delete", path="a.txt"))
        id = (await question(place))["id"]
        done = await asyncio.to_thread(
            answer, "deny", id, place.rules, "--message", "move it to old/ instead"
        )
        assert done.code == 0, done.err
        reply = await waiting
        again = await call(client, "file_delete", path="a.txt")
    assert (reply.kind, reply.said["approval"]) == ("permission-denied", "denied")
    assert "move it to old/ instead" in reply.text
    assert again.kind == "permission-denied"
    assert (place.workspace / "a.txt").exists()


async def test_a_session_can_be_denied_as_a_whole(place: Place) -> None:
    (place.workspace / "b.txt").write_text("x", "utf-8")
    async with served(place) as client:
        calls = [
            asyncio.create_task(call(client, "file_delete", path=name))
            for name in ("a.txt", "b.txt")
        ]
        await asked(place, 2)
        assert len(_waiting(await asyncio.to_thread(answer, "list", place.rules))) == 2
        other = await asyncio.to_thread(
            answer, "deny", "--session", "another", "--all", place.rules
        )
        assert "denied: 0 requests" in other.out
        done = await asyncio.to_thread(answer, "deny", "--session", "desk", "--all", place.rules)
        assert "denied: 2 requests" in done.out
        replies: list[Reply] = await asyncio.gather(*calls)
    assert {reply.kind for reply in replies} == {"permission-denied"}


@pytest.mark.parametrize("end", ["kill", pytest.param("terminate", marks=pytest.mark.long)])
async def test_an_answer_given_while_the_server_is_away_serves_the_call_that_comes_again(
    place: Place, end: str
) -> None:
    id = await _asked_and_left(place, end)
    done = await asyncio.to_thread(answer, "approve", id, place.rules)
    assert done.code == 0, done.err
    async with served(place) as client:
        reply = await call(client, "file_delete", path="a.txt")
        (place.workspace / "a.txt").write_text("x", "utf-8")
        waiting = asyncio.create_task(call(client, "file_delete", path="a.txt"))
        anew = await question(place)
        await asyncio.to_thread(answer, "deny", anew["id"], place.rules)
        refused = await waiting
    assert (reply.error, reply.said["approval"]) == (False, "approved")
    assert anew["id"] != id
    assert refused.said["approval"] == "denied"


async def test_a_denial_given_while_the_server_is_away_holds_for_the_call_that_comes_again(
    place: Place,
) -> None:
    id = await _asked_and_left(place, "kill")
    done = await asyncio.to_thread(answer, "deny", id, place.rules)
    assert done.code == 0, done.err
    async with served(place) as client:
        reply = await call(client, "file_delete", path="a.txt")
    assert reply.kind == "permission-denied"
    assert "refused before" in reply.text
    assert (place.workspace / "a.txt").exists()


def test_a_tool_call_can_neither_answer_nor_revoke(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PLACET_CALL", "bash_exec")
    for command in (["approve", "x"], ["deny", "x"], ["revoke", "x"]):
        done = answer(*command, place.rules)
        assert (done.code, done.out) == (2, "")
        assert "is for people" in done.err


async def test_an_agent_cannot_approve_itself_through_its_shell(place: Place) -> None:
    python = f"{sys.executable} -m policy"
    place.save(
        place.policy.read_text("utf-8")
        + 'commands all = "placet *", "env *", "sh *"\n'
        + "anything: allow bash_exec when runs only all\n"
        + f'commands direct = "{python} approvals approve x ."\n'
        + "spelled: allow bash_exec when runs only direct\n"
    )
    async with served(place) as client:
        looked = await call(client, "bash_exec", command="placet approvals show x rules")
        approved = await call(client, "bash_exec", command="placet approvals approve x .")
        unset = await call(
            client, "bash_exec", command="env -u PLACET_CALL placet approvals approve x"
        )
        written = await call(client, "bash_exec", command="placet config set a.b c")
        spelled = await call(client, "bash_exec", command=f"{python} approvals approve x .")
        seen = await call(
            client, "file_write", path=str(place.folder / "state/approvals.sqlite"), content=""
        )
    assert looked.kind != "permission-denied"
    for refused in (approved, unset, written, spelled, seen):
        assert refused.kind == "permission-denied", refused.text
    assert "floor" in seen.rules


def _waiting(done: Ran) -> list[str]:
    return [line for line in done.out.splitlines()[1:] if "file_delete" in line]


async def _asked_and_left(place: Place, end: str) -> str:
    """Let a server be asked, and end it while the question waits; return the question's id."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "policy", *place.arguments()),  # gone as soon as it is killed
        cwd=place.folder,
        env={**os.environ, **ENV},
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
    )
    assert process.stdin is not None
    hello = {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "t", "version": "1"},
    }
    delete = {"name": "file_delete", "arguments": {"path": "a.txt"}}
    for message in (
        {"id": 1, "method": "initialize", "params": hello},
        {"method": "notifications/initialized"},
        {"id": 2, "method": "tools/call", "params": delete},
    ):
        process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
    await process.stdin.drain()
    async with asyncio.timeout(PATIENCE):
        id = str((await question(place))["id"])
        getattr(process, end)()
        await process.wait()
    return id
