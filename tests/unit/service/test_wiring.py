"""Rule files on disk govern real tools, from `build_tool_service` to the written file."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from policy import Caller, GuestScope, PolicyStore
from policy.approvals import ApprovalOutcome, ApprovalRequest, Approved, ScriptedApprover
from policy.audit import MemorySink
from policy.model import NotFound, PermissionDenied, ToolError, ValidationFailed
from policy.service import (
    Allow,
    Confirm,
    Deny,
    GovernedService,
    LayeredPermissionResolver,
    PolicyInReach,
    build_tool_service,
)
from tests.fakes import CountingHandler

RULES = """\
policy for every agent

default deny

paths out = "out/**"

read:   allow file_read, file_list when reads only workspace
write:  allow file_write, file_mkdir when writes only workspace
meta:   allow list_tools, get_tool_schema
delete: allow file_delete when writes only out with approval
run:    allow bash_exec when runs only "echo *"
hush:   deny * when reads "**/.env" because "secrets stay put"
cap:    rewrite bash_exec set input.timeout = at most 5
"""


@pytest.fixture
def rules(tmp_path: Path) -> Path:
    folder = tmp_path / "rules"
    folder.mkdir()
    (folder / "global.policy").write_text(RULES)
    (folder / "placet.toml").write_text('[sandbox]\ndriver = "off"\nrequired = false\n')
    return folder


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    (folder / "out").mkdir(parents=True)
    (folder / "a.txt").write_text("hello")
    (folder / ".env").write_text("KEY=1")
    return folder


class Wired:
    def __init__(self, rules: Path, workspace: Path, *outcomes: ApprovalOutcome) -> None:
        self.store = PolicyStore(rules)
        assert self.store.current is not None, self.store.status
        self.approver = ScriptedApprover(*outcomes)
        self.sink = MemorySink()
        self.service: GovernedService = build_tool_service(
            self.store, approver=self.approver, audit=self.sink, workspace=workspace
        )


@pytest.fixture
def wired(rules: Path, workspace: Path) -> Callable[..., Wired]:
    return lambda *outcomes: Wired(rules, workspace, *outcomes)


async def test_rules_on_disk_govern_real_files(
    wired: Callable[..., Wired], workspace: Path
) -> None:
    w = wired(Approved(by="ada"))
    assert (await w.service.execute("file_read", {"path": "a.txt"})).value == "hello"
    await w.service.execute("file_write", {"path": "out/new.txt", "content": "x"})
    assert (workspace / "out/new.txt").read_text() == "x"
    with pytest.raises(PermissionDenied, match="secrets stay put"):
        await w.service.execute("file_read", {"path": "out/../.env"})
    (workspace / "innocent").symlink_to(".env")
    with pytest.raises(PermissionDenied):
        await w.service.execute("file_read", {"path": "innocent"})
    await w.service.execute("file_delete", {"path": "out/new.txt"})
    assert not (workspace / "out/new.txt").exists()
    assert len(w.approver.requests) == 1
    with pytest.raises(PermissionDenied):
        await w.service.execute("file_delete", {"path": "a.txt"})
    assert len(w.approver.requests) == 1
    assert [r.outcome for r in w.sink.records] == ["ok", "ok", "denied", "denied", "ok", "denied"]


async def test_what_the_policy_rewrites_is_what_runs(wired: Callable[..., Wired]) -> None:
    w = wired()
    out = await w.service.execute("bash_exec", {"command": "echo hi", "timeout": 600})
    assert out.value["stdout"] == "hi\n"
    assert out.metadata.rewritten
    (record,) = w.sink.records
    assert record.final_input == {"command": "echo hi", "timeout": 5}


async def test_names_are_repaired_and_inputs_read_before_anything_is_decided(
    wired: Callable[..., Wired],
) -> None:
    w = wired()
    out = await w.service.execute("FileRead", '{"path": "a.txt"}')
    assert out.metadata.tool == "file_read"
    assert out.metadata.repairs
    with pytest.raises(NotFound):
        await w.service.execute("read_file", {"path": "a.txt"})
    for bad in ({"path": 5}, {"path": "a.txt", "more": 1}, {}, "[1", '{"path":"a","path":"b"}', 7):
        with pytest.raises(ValidationFailed):
            await w.service.execute("file_read", bad)
    assert [r.outcome for r in w.sink.records] == ["ok", "not-found"] + ["refused"] * 6


async def test_arguments_of_any_size_and_depth_are_answered_and_recorded(
    wired: Callable[..., Wired],
) -> None:
    w = wired()
    deep: Any = []
    for _ in range(100_000):
        deep = [deep]
    endless: list[Any] = []
    endless.append(endless)
    hostile: list[Any] = [
        {"path": "x" * 10_000_000},
        {"path": deep},
        {"path": endless},
        '{"path": ' + "[" * 100_000,
        {"path": float("nan")},
        {"path": object()},
        {1: 2},
        None,
        b"\xff\xfe",
        "\ud800",
    ]
    for given in hostile:
        with pytest.raises(ToolError):
            await w.service.execute("file_read", given)
    for name in ("x" * 1_000_000, "\x1b[2J", "", None, 5, ["file_read"]):
        with pytest.raises(ToolError):
            await w.service.execute(name, {})  # type: ignore[arg-type]
    assert len(w.sink.records) == len(hostile) + 6
    assert all(record.outcome in ("refused", "denied", "not-found") for record in w.sink.records)
    # Taken apart by hand: freeing it in one go would recurse too.
    while deep:
        deep = deep.pop()


async def test_list_describe_and_the_meta_tools_agree(wired: Callable[..., Wired]) -> None:
    w = wired()
    names = [tool.name for tool in w.service.list()]
    assert "file_read" in names
    assert "web_fetch" not in names
    assert w.service.describe("web_fetch") is None
    delete = w.service.describe("file_delete")
    assert delete is not None
    assert delete.may_ask
    listed = (await w.service.execute("list_tools", {})).value
    assert [tool["name"] for tool in listed] == names
    schema = (await w.service.execute("get_tool_schema", {"tool_name": "file_read"})).value
    read = w.service.describe("file_read")
    assert read is not None
    assert schema["parameters"]["required"] == list(read.parameters["required"]) == ["path"]
    with pytest.raises(ToolError):
        await w.service.execute("get_tool_schema", {"tool_name": "web_fetch"})
    with pytest.raises(PermissionDenied):
        await w.service.execute("web_fetch", {"url": "http://127.0.0.1:1/"})


async def test_each_caller_sees_and_may_do_what_is_theirs(wired: Callable[..., Wired]) -> None:
    w = wired()
    guest = Caller(role="guest", scope=GuestScope(allowed_tools=("list_tools",)))
    bound = w.service.bound_to(guest)
    assert [tool.name for tool in bound.list()] == ["list_tools"]
    listed = (await bound.execute("list_tools", {})).value
    assert [tool["name"] for tool in listed] == ["list_tools"]
    with pytest.raises(PermissionDenied):
        await bound.execute("file_read", {"path": "a.txt"})
    assert w.service.bound_to(Caller(role="anonymous")).list() == []
    assert w.sink.records[0].caller == guest


async def test_an_edit_changes_the_next_verdict_and_a_broken_one_changes_nothing(
    wired: Callable[..., Wired], rules: Path
) -> None:
    w = wired()
    await w.service.execute("file_read", {"path": "a.txt"})
    (rules / "global.policy").write_text("policy for every agent\n\ndefault deny\n")
    w.store.reload()
    with pytest.raises(PermissionDenied):
        await w.service.execute("file_read", {"path": "a.txt"})
    (rules / "global.policy").write_text("policy for every agent\n\ndefault alow\n")
    w.store.reload()
    with pytest.raises(PermissionDenied):
        await w.service.execute("file_read", {"path": "a.txt"})
    numbers = [r.generation.number for r in w.sink.records if r.generation is not None]
    assert numbers == [1, 2, 2]
    assert [r.stale for r in w.sink.records] == [False, False, True]


async def test_a_policy_edited_while_somebody_decides_has_its_say(
    wired: Callable[..., Wired], rules: Path, workspace: Path
) -> None:
    w = wired()

    class Edits:
        async def ask(self, request: ApprovalRequest) -> ApprovalOutcome:
            text = RULES + "\nno-more: deny file_delete when writes out\n"
            (rules / "global.policy").write_text(text)
            await asyncio.to_thread(w.store.reload)
            return Approved(by="ada")

    w.service.set_approver(Edits())
    (workspace / "out/x").write_text("x")
    with pytest.raises(PermissionDenied, match="a rule denies this") as refused:
        await w.service.execute("file_delete", {"path": "out/x"})
    assert refused.value.decision is not None
    assert refused.value.decision.deciding[0].rule == "no-more"
    assert (workspace / "out/x").exists()
    assert w.sink.records[0].approvals[0].by == "ada"


async def test_a_folder_without_any_policy_denies_everything(tmp_path: Path) -> None:
    (tmp_path / "rules").mkdir()
    service = build_tool_service(PolicyStore(tmp_path / "rules"), workspace=tmp_path)
    with pytest.raises(PermissionDenied):
        await service.execute("list_tools", {})
    assert service.list() == []


async def test_a_tool_registered_later_is_known_to_the_policy(
    wired: Callable[..., Wired], rules: Path
) -> None:
    w = wired()
    later = CountingHandler("later_tool")
    w.service.register(later)
    with pytest.raises(PermissionDenied):
        await w.service.execute("later_tool", {})
    (rules / "global.policy").write_text(RULES + "\nlater: allow later_tool\n")
    w.store.reload()
    await w.service.execute("later_tool", {"n": 1})
    assert later.inputs == [{"n": 1}]
    with pytest.raises(ToolError):
        w.service.register(CountingHandler("later_tool"))


async def test_no_tool_writes_the_rules_it_lives_under(tmp_path: Path) -> None:
    rules = tmp_path / "rules"
    rules.mkdir()
    (rules / "global.policy").write_text(RULES)
    service = build_tool_service(PolicyStore(rules), workspace=tmp_path, policy_in_workspace=True)
    (tmp_path / "alias").symlink_to("rules")
    for path in ("rules/global.policy", "alias/global.policy", "rules/placet.toml"):
        with pytest.raises(PermissionDenied):
            await service.execute("file_write", {"path": path, "content": "policy"})
    assert (rules / "global.policy").read_text() == RULES


def test_the_resolver_shows_a_store_as_a_filter(rules: Path, workspace: Path) -> None:
    store = PolicyStore(rules)
    resolver = LayeredPermissionResolver(lambda: store.current)
    assert resolver.classify("list_tools", {}) == Allow()
    said = resolver.classify("web_fetch", {"url": "https://a.example"})
    assert isinstance(said, Deny)
    assert isinstance(LayeredPermissionResolver(lambda: None).classify("list_tools", {}), Deny)
    assert not isinstance(resolver.classify("list_tools", {}), Confirm)


class _Late:
    """Does not let itself be cancelled, and agrees when nobody waits any more."""

    async def ask(self, request: ApprovalRequest) -> Approved:
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.Event().wait()
        return Approved(by="late")


async def test_an_answer_that_comes_too_late_is_none(tmp_path: Path) -> None:
    (tmp_path / "rules").mkdir()
    (tmp_path / "rules" / "global.policy").write_text("policy for every agent\n\ndefault ask\n")
    work = tmp_path / "work"
    work.mkdir()
    service = build_tool_service(
        PolicyStore(tmp_path / "rules"), workspace=work, approver=_Late(), approval_timeout=0.05
    )
    with pytest.raises(PermissionDenied, match="in time"):
        await service.execute("file_write", {"path": "a.txt", "content": "x"})
    assert not (work / "a.txt").exists()


@pytest.mark.parametrize("name", [None, 5, b"x", ["file_read"]])
@pytest.mark.parametrize("policy_text", [None, "nonsense\n"])
async def test_a_name_that_is_no_text_is_refused_and_recorded_without_a_policy_too(
    tmp_path: Path, name: Any, policy_text: str | None
) -> None:
    store = None
    if policy_text is not None:
        (tmp_path / "global.policy").write_text(policy_text)
        store = PolicyStore(tmp_path)
    sink = MemorySink()
    service = build_tool_service(store, workspace=tmp_path, audit=sink)
    with pytest.raises(ToolError):
        await service.execute(name, {})
    assert len(sink.records) == 1


@pytest.mark.parametrize("workspace", ["", "rules", "rules/data"])
def test_a_policy_in_reach_of_its_tools_is_told(
    tmp_path: Path, workspace: str, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "rules/data").mkdir(parents=True)
    (tmp_path / "rules/global.policy").write_text(RULES)
    store, folder = PolicyStore(tmp_path / "rules"), tmp_path / workspace
    build_tool_service(store, workspace=folder, policy_in_workspace=True)
    assert caplog.messages == []
    build_tool_service(store, workspace=folder)
    assert len(caplog.messages) == 1
    assert "keep them apart" in caplog.messages[0]
    with pytest.raises(
        PolicyInReach, match=r"the policy .*rules (is in|contains) (the )?workspace"
    ):
        build_tool_service(store, workspace=folder, policy_in_workspace=False)


def test_a_policy_beside_the_workspace_is_nothing_to_tell(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    for name in ("rules", "work"):
        (tmp_path / name).mkdir()
    (tmp_path / "rules/global.policy").write_text(RULES)
    for policy in ("rules", "rules/global.policy"):
        store = PolicyStore(tmp_path / policy)
        build_tool_service(store, workspace=tmp_path / "work", policy_in_workspace=False)
    assert caplog.messages == []
