"""The emergency stop: frozen tools are denied, whatever the policy says, until people lift it."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path
from typing import Any

import pytest

from policy import Caller, PermissionDenied, PolicyStore, ToolError, build_tool_service
from policy.approvals import ApprovalOutcome, ApprovalRequest, Approved, ScriptedApprover
from policy.audit import AuditRecord, MemorySink
from policy.catalog import Origin, ToolSpec
from policy.generation import state_folder
from policy.service import GovernedService
from policy.store import Freezer, FreezeRefused
from policy.tools import ToolDefinition, ToolOutput, tool
from tests.waiting import until

RULES = """\
policy for every agent

default deny

free: allow look, wait, freeze_it
asks: allow pay with approval
"""


@tool
def look() -> str:
    """Look at something."""
    return "seen"


@tool
def pay() -> str:
    """Pay."""
    return "paid"


class Desk:
    """A policy, its service and a sink; `waiting` is set once the tool `wait` runs."""

    def __init__(self, folder: Path, approver: Any = None) -> None:
        self.rules = folder / "rules"
        if not self.rules.exists():
            self.rules.mkdir()
            (self.rules / "global.policy").write_text(RULES)
            (folder / "work").mkdir()
        self.sink = MemorySink()
        self.begun = asyncio.Event()
        begun = self.begun

        @tool
        async def wait() -> str:
            """Wait for ever."""
            begun.set()
            await asyncio.Event().wait()
            return "never"

        self.tried: list[str] = []

        @tool
        async def freeze_it() -> str:
            """Try to freeze and to lift."""
            for attempt in (self.service.unfreeze, lambda: self.service.freeze(because="all")):
                try:
                    await attempt()
                except PermissionDenied as error:
                    self.tried.append(error.kind)
            return "tried"

        self.store = PolicyStore(self.rules, settle=0.0)
        self.freezer = self.store.freezer
        self.service: GovernedService = build_tool_service(
            self.store,
            tools=[look, pay, wait, freeze_it],
            audit=self.sink,
            workspace=folder / "work",
            approver=approver or ScriptedApprover(otherwise=Approved(by="ann")),
        )

    @property
    def last(self) -> AuditRecord:
        return self.sink.records[-1]

    async def refused(self, name: str) -> ToolError:
        with pytest.raises(ToolError) as found:
            await self.service.execute(name, {})
        return found.value


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


async def test_a_frozen_tool_is_denied_with_the_reason_and_others_are_not(desk: Desk) -> None:
    await desk.service.freeze(["look"], because="it sees too much")
    error = await desk.refused("look")
    assert isinstance(error, PermissionDenied)
    assert (error.code, error.message) == ("frozen", "it sees too much")
    assert (desk.last.verdict.value, desk.last.reasons[0].rule) == ("deny", "frozen")
    assert (await desk.service.execute("pay", {})).value == "paid"
    await desk.service.unfreeze()
    assert (await desk.service.execute("look", {})).value == "seen"


@pytest.mark.parametrize("tools", [[], ["*"], ["l*k", "pay"], ["pay", "look"]])
async def test_patterns_and_no_name_at_all_freeze_too(desk: Desk, tools: list[str]) -> None:
    await desk.service.freeze(tools, because="stop")
    for name in ("look", "pay"):
        assert (await desk.refused(name)).code == "frozen"


async def test_each_freeze_adds_to_the_others(desk: Desk) -> None:
    await desk.service.freeze(["look"], because="one")
    found = await desk.service.freeze(["pay"], because="two")
    assert [one.tools for one in found.freezes] == [("look",), ("pay",)]
    assert (await desk.refused("look")).message == "one"
    assert (await desk.refused("pay")).message == "two"
    assert len((await desk.service.unfreeze()).freezes) == 2


async def test_a_freeze_outlives_the_process_and_reaches_others(desk: Desk, tmp_path: Path) -> None:
    Freezer.of(desk.rules).freeze(["look"], because="by another process")
    assert (await desk.refused("look")).code == "frozen"
    again = Desk(tmp_path)
    assert (await again.refused("look")).message == "by another process"


@pytest.mark.parametrize(
    "text",
    ["nonsense\n", RULES + '\ntest "fails"\n  look {} -> deny by default\n', ""],
)
async def test_a_policy_that_does_not_load_keeps_no_freeze_from_its_effect(
    desk: Desk, text: str
) -> None:
    (desk.rules / "global.policy").write_text(text)
    desk.store.reload()
    assert desk.store.status.stale
    await desk.service.freeze(because="at once")
    assert (await desk.refused("look")).code == "frozen"


async def test_a_question_that_waits_is_refused(tmp_path: Path) -> None:
    class Nobody:
        def __init__(self) -> None:
            self.asked = asyncio.Event()

        async def ask(self, request: ApprovalRequest) -> ApprovalOutcome:
            self.asked.set()
            await asyncio.Event().wait()
            return Approved(by="never")

    nobody = Nobody()
    desk = Desk(tmp_path, nobody)
    call = asyncio.create_task(desk.refused("pay"))
    await nobody.asked.wait()
    Freezer.of(desk.rules).freeze(["pay"], because="no more payments")
    async with asyncio.timeout(30):
        error = await call
    assert error.code == "frozen"
    assert "no more payments" in error.message
    assert desk.last.outcome == "denied"


async def test_an_approved_call_that_has_not_begun_does_not_run(tmp_path: Path) -> None:
    class Freezing:
        async def ask(self, request: ApprovalRequest) -> ApprovalOutcome:
            Freezer.of(tmp_path / "rules").freeze(["pay"], because="wait")
            return Approved(by="ann")

    desk = Desk(tmp_path, Freezing())
    assert (await desk.refused("pay")).code == "frozen"
    assert desk.last.outcome == "denied"


async def test_calls_that_run_go_on_unless_they_are_to_be_cancelled(desk: Desk) -> None:
    call = asyncio.create_task(desk.refused("wait"))
    await desk.begun.wait()
    await desk.service.freeze(["wait"], because="first look")
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.05):
            await asyncio.shield(call)
    await desk.service.freeze(["wait"], because="now end it", cancel=True)
    async with asyncio.timeout(30):
        error = await call
    assert (error.kind, error.code) == ("execution", "frozen")
    assert "now end it" in error.message
    record = next(one for one in desk.sink.records if one.tool == "wait")
    assert (record.outcome, record.code) == ("cancelled", "frozen")


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"\xff",
        b"[]",
        b"{}",
        b'{"version": 1, "freezes": []}',
        b'{"version": 2, "freezes": [{"tools": ["x"], "because": "", "by": "", "at": null, '
        b'"cancel": false}]}',
        b'{"version": 1, "freezes": [{"tools": "x", "because": "", "by": "", "at": null, '
        b'"cancel": false}]}',
        b'{"version": 1, "freezes": [{"tools": []}]}',
        b"[" * 100_000,
    ],
)
async def test_a_state_that_cannot_be_read_freezes_everything(desk: Desk, content: bytes) -> None:
    path = state_folder(desk.rules) / "freeze.json"
    path.parent.mkdir(parents=True)
    path.write_bytes(content)
    error = await desk.refused("look")
    assert error.code == "frozen"
    assert "the state of the emergency stop is unknown" in error.message
    found = desk.freezer.freeze(["pay"], because="this too")
    assert [one.tools for one in found.freezes] == [("*",), ("pay",)]
    await desk.service.unfreeze()
    assert (await desk.service.execute("look", {})).value == "seen"


async def test_a_folder_in_place_of_the_state_freezes_everything(desk: Desk) -> None:
    path = state_folder(desk.rules) / "freeze.json"
    path.mkdir(parents=True)
    assert (await desk.refused("look")).code == "frozen"


@pytest.mark.parametrize(
    "caller",
    [
        Caller(role="guest"),
        Caller(agent="sub", parent=Caller()),
        Caller(role="clerk"),
    ],
)
async def test_nobody_but_an_owner_freezes_or_lifts(desk: Desk, caller: Caller) -> None:
    await desk.service.freeze(["look"], because="stop")
    theirs = desk.service.bound_to(caller)
    with pytest.raises(PermissionDenied):
        await theirs.unfreeze()
    with pytest.raises(PermissionDenied):
        await theirs.freeze(because="everything")
    assert [one.tools for one in desk.freezer.current().freezes] == [("look",)]
    assert desk.last.outcome == "denied"


async def test_no_tool_freezes_or_lifts_in_the_middle_of_its_call(desk: Desk) -> None:
    await desk.service.freeze(["pay"], because="stop")
    await desk.service.execute("freeze_it", {})
    assert desk.tried == ["permission-denied"] * 2
    assert (await desk.refused("pay")).code == "frozen"


async def test_both_are_on_record(desk: Desk) -> None:
    await desk.service.freeze(["look"], because="stop", cancel=True)
    assert desk.last.tool == "placet:freeze"
    assert desk.last.final_input == {"tools": ("look",), "because": "stop", "cancel": True}
    await desk.service.unfreeze()
    assert (desk.last.tool, desk.last.outcome) == ("placet:unfreeze", "ok")


async def test_stopping_goes_before_recording_and_lifting_does_not(tmp_path: Path) -> None:
    class Broken:
        def write(self, record: AuditRecord) -> None:
            raise OSError("the disk is full")

    desk = Desk(tmp_path)
    service = build_tool_service(
        desk.store, tools=[look], audit=Broken(), workspace=tmp_path / "work"
    )
    for _ in range(2):  # the record of the first is owed when the second comes
        await service.freeze(["look"], because="stop")
        assert desk.freezer.current().on(["look"]) is not None
        with pytest.raises(ToolError):
            await service.unfreeze()
        assert desk.freezer.current().on(["look"]) is not None


@pytest.mark.parametrize(
    ("tools", "because"), [([""], "x"), (["a\nb"], "x"), (["look"], " "), (["t"] * 3 + [""], "x")]
)
async def test_what_says_no_tool_or_no_reason_is_refused(
    desk: Desk, tools: list[str], because: str
) -> None:
    with pytest.raises(FreezeRefused):
        await desk.service.freeze(tools, because=because)
    assert not desk.freezer.current()


@pytest.mark.parametrize(
    ("pattern", "origin", "frozen"),
    [
        ("mcp *", "mcp", True),
        ("mcp hub/*", "mcp", True),
        ("mcp h*/l*", "mcp", True),
        ("mcp hub/look", "mcp", True),
        ("hub__*", "mcp", True),
        ("*look", "mcp", True),
        ("mcp other/*", "mcp", False),
        ("ext *", "mcp", False),
        ("mcp *", "ext", False),
        ("ext *", "ext", True),
        ("ext hub/look", "ext", True),
        ("mcp *", "host", False),
        ("ext *", "host", False),
    ],
)
@pytest.mark.parametrize("with_approval", [False, True])
async def test_tools_are_frozen_by_the_names_that_rules_call_them_by(
    tmp_path: Path, pattern: str, origin: Any, frozen: bool, with_approval: bool
) -> None:
    at = Origin(kind=origin, server="" if origin == "host" else "hub", tool="look")
    name = at.flat_name()

    class Elsewhere:
        spec = ToolSpec(name=name, description="Look.", schema={"type": "object"}, origin=at)
        definition = ToolDefinition(name=name, description="Look.", parameters=spec.schema)

        async def invoke(self, input: Any, ctx: Any) -> Any:
            return ToolOutput(value="seen")

    rules = tmp_path / "rules"
    rules.mkdir()
    asking = "ask *" if with_approval else ""
    (rules / "global.policy").write_text(f"policy for every agent\n\ndefault allow\n\n{asking}\n")
    asked: list[ApprovalRequest] = []

    class Approver:
        async def ask(self, request: ApprovalRequest) -> ApprovalOutcome:
            asked.append(request)
            return Approved(by="ada")

    store = PolicyStore(rules)
    service = build_tool_service(
        store, tools=[Elsewhere()], approver=Approver(), workspace=tmp_path
    )
    assert (await service.execute(name, {})).value == "seen"
    await service.freeze([pattern], because="stop")
    before = len(asked)
    if frozen:
        with pytest.raises(PermissionDenied) as error:
            await service.execute(name, {})
        assert error.value.code == "frozen"
        assert len(asked) == before
    else:
        assert (await service.execute(name, {})).value == "seen"


async def test_a_freeze_holds_where_a_link_puts_another_version_in_place(tmp_path: Path) -> None:
    for version in ("v1", "v2"):
        (tmp_path / version).mkdir()
        (tmp_path / version / "global.policy").write_text(f"# {version}\n{RULES}")
    rules = tmp_path / "rules"
    rules.symlink_to("v1")
    running = Freezer.of(rules)

    def switch(version: str) -> None:
        (tmp_path / "fresh").symlink_to(version)
        (tmp_path / "fresh").replace(rules)

    assert not running.current()
    switch("v2")
    Freezer.of(rules).freeze(because="after the switch, by the same name")
    assert running.current()
    Freezer.of(rules).unfreeze()
    assert not running.current()
    Freezer.of(tmp_path / "v2").freeze(because="by its real name")
    assert running.current()
    Freezer.of(tmp_path / "v2").unfreeze()
    assert not running.current()
    Freezer.of(rules).freeze(because="before the switch")
    switch("v1")
    assert running.current()
    assert Freezer.of(rules).current(), "also after a restart"


async def test_a_single_file_that_is_gone_is_frozen_all_the_same(tmp_path: Path) -> None:
    file = tmp_path / "one.policy"
    file.write_text(RULES)
    running = Freezer.of(file)
    assert not running.current()
    file.unlink()
    Freezer.of(file).freeze(because="while it is being saved")
    assert running.current()
    file.write_text(RULES)
    assert running.current()
    assert Freezer.of(file).current()


async def test_no_tool_can_write_the_state(desk: Desk, tmp_path: Path) -> None:
    (desk.rules / "global.policy").write_text("policy for every agent\n\ndefault allow\n")
    service = build_tool_service(PolicyStore(desk.rules), workspace=tmp_path / "work")
    path = state_folder(desk.rules) / "freeze.json"
    await desk.service.freeze(["look"], because="stop")
    (tmp_path / "work/link").symlink_to(path)
    for name in (path, path.parent, path.parent.parent, tmp_path / "state", "link", f"{path}x"):
        for command in ("rm -rf {}", "echo > {}", "mv {} elsewhere", "chmod -R 0 {}"):
            with pytest.raises(PermissionDenied) as refused:
                await service.execute("bash_exec", {"command": command.format(name)})
            assert refused.value.code == "out-of-bounds", (name, command)


class Queue:
    """A service whose tool blocks until it is told to end, with more calls than threads."""

    def __init__(self, folder: Path) -> None:
        self.rules = folder / "rules"
        self.rules.mkdir()
        (folder / "work").mkdir()
        self.begun = 0
        self.going_on = threading.Event()

        @tool
        def block(number: int) -> str:
            """Wait."""
            self.begun += 1
            self.going_on.wait()
            return "done"

        self.write("allow block")
        self.store = PolicyStore(self.rules, settle=0.0)
        self.service = build_tool_service(self.store, tools=[block], workspace=folder / "work")
        self.calls = [
            asyncio.create_task(self.service.execute("block", {"number": number}))
            for number in range(20)
        ]

    def write(self, rule: str) -> None:
        (self.rules / "global.policy").write_text(
            f"policy for every agent\n\ndefault deny\n{rule}\n"
        )

    async def ended(self) -> list[ToolOutput | BaseException]:
        self.going_on.set()
        return await asyncio.gather(*self.calls, return_exceptions=True)


@pytest.mark.parametrize(
    ("change", "code"), [("freeze", "frozen"), ("deny block", "changed-meanwhile"), ("", "")]
)
async def test_a_call_that_waits_begins_only_if_it_may_then(
    tmp_path: Path, change: str, code: str
) -> None:
    queue = Queue(tmp_path)
    await until(lambda: queue.begun == 16)
    if change == "freeze":
        await queue.service.freeze(["block"], because="stop")
    else:
        queue.write(change or "allow block when input.number >= 0")
        queue.store.reload()
    outcomes = await queue.ended()
    denied = [one for one in outcomes if isinstance(one, PermissionDenied)]
    assert {one.code for one in denied} == ({code} if code else set())
    assert queue.begun == (16 if code else 20) == len(outcomes) - len(denied)
