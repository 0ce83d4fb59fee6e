"""`placet serve` over stdio, with real clients."""

from __future__ import annotations

import asyncio
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.serving import BOTH_ERAS, ENDLESS, POLICY, Era, call, call_until, place_in, served

FROZEN = POLICY + 'freeze: deny file_write when writes "**/*.txt" because "texts are frozen"\n'
BROKEN = POLICY.replace("file_read, file_list", "file_raed, file_list")


@pytest.mark.parametrize("era", BOTH_ERAS)
async def test_calls_are_governed_answered_and_recorded(tmp_path: Path, era: Era) -> None:
    place = place_in(tmp_path)
    (tmp_path / "answers").write_text("yes\nno: it is needed  # says the script\n", "utf-8")

    async with served(
        place, "--approve-script", str(tmp_path / "answers"), "--agent", "tester", era=era
    ) as client:
        shown = {tool.name: tool for tool in (await client.list_tools()).tools}
        written = await call(client, "file_write", path="a.txt", content="hello")
        read = await call(client, "file_read", path="a.txt")
        listed = await call(client, "file_list", path=".")
        ran = await call(client, "bash_exec", command="wc a.txt")
        outside = await call(client, "file_read", path="../../etc/passwd")
        key = await call(client, "file_read", path="~/.ssh/id_rsa")
        hidden = await call(client, "web_fetch", url="http://127.0.0.1/")
        chained = await call(client, "bash_exec", command="ls; rm -rf /")
        nested = await call(client, "bash_exec", command="ls $(cat a.txt)")
        deleted = await call(client, "file_delete", path="a.txt")
        kept = await call(client, "file_delete", path="work")
        unknown = await call(client, "file_rename", path="a.txt")
        wrong = await call(client, "file_read", file="a.txt")

    assert "web_fetch" not in shown and "file_chmod" not in shown
    assert shown["bash_exec"].input_schema["required"] == ["command"]
    assert shown["file_delete"].meta == {"placet": {"may_ask": True}}
    assert shown["file_read"].meta is None

    assert (written.verdict, written.rules) == ("allow", ["change"])
    assert written.structure == {"path": "a.txt", "bytes": 5}
    assert (read.text, read.structure, read.error) == ("hello", None, False)
    assert listed.structure is not None and listed.structure["entries"][0]["path"] == "a.txt"
    assert ran.structure is not None and ran.structure["exit_code"] == 0

    for refused in (outside, key, hidden, chained, nested):
        assert (refused.error, refused.kind, refused.verdict) == (True, "permission-denied", "deny")
    assert "keys stay on this machine" in key.text and "no-keys" in key.rules

    assert (deleted.verdict, deleted.said["approval"], deleted.error) == ("ask", "approved", False)
    assert (kept.kind, kept.said["approval"]) == ("permission-denied", "denied")
    assert "it is needed" in kept.text
    assert (unknown.kind, wrong.kind) == ("not-found", "validation-failed")

    records = place.records()
    outcomes = ["ok"] * 4 + ["denied"] * 5 + ["ok", "denied", "not-found", "refused"]
    assert [record["outcome"] for record in records] == outcomes
    assert {record["caller"]["agent"] for record in records} == {"tester"}
    assert records[0]["id"] == written.said["call"]


async def test_without_an_approver_what_asks_is_denied(tmp_path: Path) -> None:
    place = place_in(tmp_path)
    (place.workspace / "a.txt").write_text("x", "utf-8")
    async with served(place) as client:
        reply = await call(client, "file_delete", path="a.txt")
    assert (reply.kind, reply.said["approval"]) == ("permission-denied", "none")
    assert (place.workspace / "a.txt").exists()


async def test_an_edit_holds_from_the_next_call_and_a_broken_one_changes_nothing(
    tmp_path: Path,
) -> None:
    place = place_in(tmp_path)
    note = {"path": "a.txt", "content": "x"}
    async with served(place) as client:
        first = await call(client, "file_write", **note)
        assert (first.verdict, first.number) == ("allow", 1)

        place.save(FROZEN)
        second = await call_until(client, lambda reply: reply.number > 1, "file_write", **note)
        assert (second.verdict, second.number, second.rules) == ("deny", 2, ["freeze"])

        place.save(BROKEN)
        stale = await call_until(client, lambda r: "stale" in r.said, "file_write", **note)
        assert (stale.verdict, stale.number) == ("deny", 2)

        shutil.rmtree(place.rules)
        gone = await call(client, "file_write", **note)
        assert (gone.verdict, gone.number) == ("deny", 2)

        place.rules.mkdir()
        place.save(POLICY)
        again = await call_until(client, lambda reply: reply.number > 2, "file_write", **note)
        assert (again.verdict, again.number) == ("allow", 3)
        assert "stale" not in again.said

    log = place.log.read_text("utf-8")
    assert "stale: generation 2" in log
    assert "global.policy:8: no tool is called `file_raed`" in log
    assert "generation 3" in log
    assert "Traceback" not in log


@pytest.mark.parametrize("era", ["auto", "legacy"])
async def test_a_client_is_told_when_its_tools_may_have_changed(tmp_path: Path, era: Era) -> None:
    place, told = place_in(tmp_path), asyncio.Event()

    def heard(message: Any) -> None:
        if getattr(message, "method", "") == "notifications/tools/list_changed":
            told.set()

    async with served(place, era=era, heard=heard) as client:
        assert "file_delete" in [tool.name for tool in (await client.list_tools()).tools]
        without = POLICY.replace("delete: allow file_delete", "delete: allow file_mkdir")
        if era == "legacy":
            place.save(without)
            await told.wait()
        else:
            async with client.listen(tools_list_changed=True) as changes:
                place.save(without)
                await anext(aiter(changes))
        names = [tool.name for tool in (await client.list_tools(cache_mode="refresh")).tools]
    assert "file_delete" not in names


async def test_a_server_without_a_good_policy_denies_everything_until_it_is_mended(
    tmp_path: Path,
) -> None:
    place = place_in(tmp_path, BROKEN)
    async with served(place) as client:
        assert (await client.list_tools()).tools == []
        refused = await call(client, "file_list", path=".")
        assert (refused.kind, refused.said.get("generation")) == ("permission-denied", None)
        place.save(POLICY)
        reply = await call_until(client, lambda reply: not reply.error, "file_list", path=".")
        assert reply.number == 1
    assert "no policy in force, everything is denied: global.policy:8" in place.log.read_text()


async def test_a_cancelled_call_ends_and_is_recorded(tmp_path: Path) -> None:
    place = place_in(tmp_path)
    async with served(place) as client:
        endless = asyncio.create_task(client.call_tool("bash_exec", {"command": ENDLESS}))
        await call_until(client, lambda reply: "begun" in reply.text, "file_list", path=".")
        endless.cancel()
        with pytest.raises(asyncio.CancelledError):
            await endless
        assert not (await call(client, "file_list", path=".")).error
    outcomes = {record["tool"]: record["outcome"] for record in place.records()}
    assert outcomes == {"bash_exec": "cancelled", "file_list": "ok"}


async def test_the_configuration_says_who_calls(tmp_path: Path) -> None:
    place = place_in(tmp_path)
    (place.rules / "placet.toml").write_text('[serve]\nagent = "reader"\nuser = "ada"\n', "utf-8")
    (place.rules / "reader.policy").write_text(
        'policy for agent "reader"\n\nread-only: deny file_write\n', "utf-8"
    )
    async with served(place) as client:
        reply = await call(client, "file_write", path="a.txt", content="x")
    assert reply.rules == ["read-only"]
    (record,) = place.records()
    assert (record["caller"]["agent"], record["caller"]["user"]) == ("reader", "ada")
