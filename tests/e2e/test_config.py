"""`placet config` edits the policy of a running `placet serve`, which follows by its watcher."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from tests.e2e.serving import Place, call, call_until, place_in, served
from tests.unit.cli.running import run

pytestmark = pytest.mark.people

FILE = """\
# Kept as it is.
[permissions.tools]
file_mkdir = "deny"   # nothing new
"""


async def config(place: Place, *arguments: str) -> tuple[int, str]:
    """Run `placet config`, in another process than the server."""
    ran = await asyncio.to_thread(run, "config", *arguments, place.rules)
    return ran.code, ran.out + ran.err


async def test_an_edit_reaches_the_server_that_runs(tmp_path: Path) -> None:
    place = place_in(tmp_path)
    file = place.rules / "placet.toml"
    file.write_text(FILE, "utf-8")

    async with served(place) as client:
        before = await call(client, "file_write", path="a.txt", content="a")
        code, told = await config(place, "set", "permissions.tools.file_write", "deny")
        denied = await call_until(
            client, lambda reply: reply.error, "file_write", path="a.txt", content="b"
        )
        wrong, why = await config(place, "set", "permissions.tools.file_write", "perhaps")
        still = await call(client, "file_write", path="a.txt", content="c")
        unset, _ = await config(place, "unset", "permissions.tools.file_write")
        after = await call_until(
            client, lambda reply: not reply.error, "file_write", path="a.txt", content="d"
        )

    assert (code, wrong, unset) == (0, 1, 0)
    assert before.verdict == "allow"
    assert denied.rules == ["table:file_write"]
    assert denied.said["generation"]["digest"] in told
    assert denied.number == still.number == before.number + 1
    assert "table-value" in why
    assert after.number == denied.number + 1
    assert after.said["generation"]["digest"] == before.said["generation"]["digest"]
    assert (place.workspace / "a.txt").read_text("utf-8") == "d"
    assert file.read_text("utf-8") == FILE


async def test_what_an_agent_starts_does_not_edit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = place_in(tmp_path)
    (place.rules / "placet.toml").write_text(FILE, "utf-8")
    monkeypatch.setenv("PLACET_CALL", "7")
    code, told = await config(place, "set", "permissions.tools.file_mkdir", "allow")
    assert code == 2
    assert "for people" in told
    assert (place.rules / "placet.toml").read_text("utf-8") == FILE
