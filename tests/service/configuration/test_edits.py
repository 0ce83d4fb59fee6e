"""Only the owner edits the configuration through the service, and every edit is recorded."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from policy import (
    Caller,
    ConfigurationRefused,
    GuestScope,
    PermissionDenied,
    PolicyInvalid,
    ToolError,
    build_tool_service,
)
from policy.service import GovernedService
from policy.tools import ExecutionContext
from tests.fakes import BrokenSink, CountingHandler
from tests.service.configuration.office import Office, tool

FILE = """\
# What may be done.
[permissions.tools]
default = "deny"
code_exec = "allow"   # for now
"""


async def test_an_edit_counts_from_the_next_call_on(tmp_path: Path) -> None:
    office = Office(tmp_path, FILE, run := tool("code_exec"))
    assert await office.outcome("code_exec") == "allow"
    made = await office.service.configure("permissions.tools.code_exec", "deny")
    assert await office.outcome("code_exec") == "deny"
    assert office.last.generation == made.generation.id
    assert office.service.list() == []
    made = await office.service.configure("permissions.tools.code_exec", "ask")
    assert made.looser
    assert await office.outcome("code_exec") == "ask"
    assert run.calls == 2
    assert office.file.read_text("utf-8") == FILE.replace('"allow"', '"ask"')


async def test_taking_a_key_away_leaves_the_file_as_it_was(tmp_path: Path) -> None:
    office = Office(tmp_path, FILE, tool("code_exec"), tool("look"))
    await office.service.configure("permissions.tools.look", "allow")
    assert await office.outcome("look") == "allow"
    await office.service.configure("permissions.tools.look", None)
    assert await office.outcome("look") == "deny"
    assert office.file.read_text("utf-8") == FILE


async def test_an_edit_is_on_record_with_who_what_and_both_digests(tmp_path: Path) -> None:
    office = Office(tmp_path, FILE, tool("code_exec"))
    owner = office.as_agent("desk", user="ada", session="s7")
    made = await owner.configure("permissions.tools.code_exec", "ask")
    (record,) = office.sink.records
    assert (record.asked_tool, record.outcome, record.caller.user) == (
        "placet:configure",
        "ok",
        "ada",
    )
    said: Any = record.final_input
    assert (said["key"], said["before"], said["after"]) == (
        "permissions.tools.code_exec",
        '"allow"',
        '"ask"',
    )
    assert (said["old_digest"], said["new_digest"]) == (made.old_digest, made.new_digest)
    assert said["looser"] is False
    assert record.generation == made.generation.id


@pytest.mark.parametrize(
    "caller",
    [
        Caller(role="guest", scope=GuestScope(allowed_tools=("*",))),
        Caller(role="anonymous"),
        Caller(role="admin"),
        Caller(agent="helper", parent=Caller()),
        Caller(scope=GuestScope(allowed_tools=("*",))),
    ],
)
@pytest.mark.parametrize("key", ["permissions.tools.code_exec", "no..key"])
async def test_nobody_but_the_owner_edits_or_learns_anything(
    tmp_path: Path, caller: Caller, key: str
) -> None:
    office = Office(tmp_path, FILE, tool("code_exec"))
    told = set()
    for dry_run in (True, False):
        with pytest.raises(PermissionDenied) as error:
            await office.service.bound_to(caller).configure(key, "ask", dry_run=dry_run)
        told.add(error.value.message)
    assert told == {"only the owner may change the configuration"}
    assert office.file.read_text("utf-8") == FILE
    assert [record.outcome for record in office.sink.records] == ["denied", "denied"]


async def test_a_tool_in_the_middle_of_a_call_does_not_edit(tmp_path: Path) -> None:
    tried: list[BaseException] = []

    async def body(input: dict[str, Any], ctx: ExecutionContext) -> Any:
        assert isinstance(ctx.tools, GovernedService)
        try:
            await ctx.tools.configure("permissions.tools.code_exec", "deny")
        except PermissionDenied as error:
            tried.append(error)

    office = Office(tmp_path, FILE, CountingHandler("code_exec", body))
    await office.service.execute("code_exec", {})
    assert len(tried) == 1
    assert office.file.read_text("utf-8") == FILE


async def test_no_tool_leads_to_the_configuration(tmp_path: Path) -> None:
    office = Office(tmp_path, '[permissions.tools]\ndefault = "allow"\n', tool("look"))
    assert [shown.name for shown in office.service.list()] == ["look"]
    for name in ("placet:configure", "configure", "config", "placet config"):
        with pytest.raises(ToolError) as error:
            await office.service.execute(name, {"key": "permissions.tools.look", "value": "deny"})
        assert error.value.kind == "not-found"


async def test_a_refused_edit_changes_nothing_and_is_on_record(tmp_path: Path) -> None:
    office = Office(tmp_path, FILE, tool("code_exec"))
    before = office.store.current
    with pytest.raises(PolicyInvalid) as wrong:
        await office.service.configure("permissions.tools.code_exec", "perhaps")
    assert wrong.value.diagnostics
    with pytest.raises(ConfigurationRefused):
        await office.service.configure("permissions.tools.nothing", None)
    assert office.store.current is before
    assert office.file.read_text("utf-8") == FILE
    assert [record.outcome for record in office.sink.records] == ["failed", "failed"]


async def test_a_dry_run_says_what_would_be_and_writes_nothing(tmp_path: Path) -> None:
    office = Office(tmp_path, FILE, tool("code_exec"))
    made = await office.service.configure("permissions.tools.code_exec", "deny", dry_run=True)
    assert '+code_exec = "deny"   # for now' in made.diff.splitlines()
    assert office.file.read_text("utf-8") == FILE
    assert await office.outcome("code_exec") == "allow"


async def test_without_a_policy_folder_there_is_nothing_to_edit() -> None:
    with pytest.raises(ConfigurationRefused):
        await build_tool_service(tools=[]).configure("permissions.tools.a", "ask")


async def test_what_cannot_be_recorded_is_not_changed(tmp_path: Path) -> None:
    office = Office(tmp_path, FILE, tool("code_exec"))
    sink = BrokenSink()
    service = build_tool_service(office.store, tools=[tool("code_exec")], audit=sink)
    for _ in range(2):
        with pytest.raises(ToolError):
            await service.configure("permissions.tools.code_exec", "ask")
        assert office.file.read_text("utf-8") == FILE
    sink.mended = True
    await service.configure("permissions.tools.code_exec", "deny")
    assert office.file.read_text("utf-8") == FILE.replace('"allow"', '"deny"')
    assert [record.outcome for record in sink.records] == ["ok", "denied", "ok"]


async def test_a_cancelled_edit_is_whole_and_on_record(tmp_path: Path) -> None:
    office = Office(tmp_path, FILE, tool("code_exec"))
    editing = asyncio.create_task(office.service.configure("permissions.tools.code_exec", "ask"))
    await asyncio.sleep(0)
    editing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await editing
    (record,) = office.sink.records or (None,)
    if record is not None:
        assert record.outcome == "cancelled"
    assert office.file.read_text("utf-8") in (FILE, FILE.replace('"allow"', '"ask"'))
