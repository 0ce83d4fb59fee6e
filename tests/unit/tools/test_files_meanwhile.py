"""Changes on the disk between the decision and the tool run, and while an approver thinks.

The changes are made at exactly those places: by a handler that comes before the tool's own, and by
the approver.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from policy import PolicyStore
from policy.approvals import ApprovalOutcome, ApprovalRequest, Approved
from policy.audit import MemorySink
from policy.catalog import ToolSpec
from policy.model import Execution, PermissionDenied
from policy.service import GovernedService, build_tool_service
from policy.tools import ExecutionContext, ToolDefinition, ToolHandler, builtin_handlers

RULES = """\
policy for every agent

default deny
read:   allow file_read, file_list when reads only workspace
write:  allow file_write, file_mkdir, file_chmod when writes only workspace
delete: allow file_delete when writes only workspace
careful: ask file_write when writes "asked/**"
keys:   deny * when reads "**/.env"
"""

Change = Callable[[], None]


class Meanwhile:
    """A tool before which something happens, once, after all has been decided."""

    def __init__(self, inner: ToolHandler, changes: list[Change]) -> None:
        self._inner = inner
        self._changes = changes

    @property
    def spec(self) -> ToolSpec:
        return self._inner.spec

    @property
    def definition(self) -> ToolDefinition:
        return self._inner.definition

    async def invoke(self, input: dict[str, Any], ctx: ExecutionContext) -> Any:
        while self._changes:
            self._changes.pop()()
        return await self._inner.invoke(input, ctx)


class Thinking:
    """An approver who agrees, and meanwhile something happens."""

    def __init__(self, changes: list[Change]) -> None:
        self._changes = changes

    async def ask(self, request: ApprovalRequest) -> ApprovalOutcome:
        while self._changes:
            self._changes.pop()()
        return Approved(by="ada")


class Disk:
    """A workspace with a file, and a secret outside of it."""

    def __init__(self, folder: Path) -> None:
        self.work = folder / "work"
        self.out = folder / "out"
        (self.work / "sub").mkdir(parents=True)
        (self.work / "asked").mkdir()
        self.out.mkdir()
        (self.work / "sub" / "a.txt").write_text("mine")
        (self.out / "a.txt").write_text("secret")
        (folder / "rules").mkdir()
        (folder / "rules" / "global.policy").write_text(RULES)
        self.store = PolicyStore(folder / "rules")
        assert self.store.current is not None, self.store.status
        self.before_tool: list[Change] = []
        self.while_asked: list[Change] = []

    def service(self) -> GovernedService:
        return build_tool_service(
            self.store,
            tools=[Meanwhile(handler, self.before_tool) for handler in builtin_handlers()],
            approver=Thinking(self.while_asked),
            audit=MemorySink(),
            workspace=self.work,
        )

    def leaf_becomes_a_link(self) -> None:
        (self.work / "sub" / "a.txt").unlink()
        (self.work / "sub" / "a.txt").symlink_to(self.out / "a.txt")

    def folder_becomes_a_link(self) -> None:
        (self.work / "sub").rename(self.work / "moved")
        (self.work / "sub").symlink_to(self.out)

    def workspace_becomes_a_link(self) -> None:
        self.work.rename(self.work.parent / "moved")
        self.work.symlink_to(self.out.parent / "other")
        (self.out.parent / "other").mkdir()
        self.out.rename(self.out.parent / "other" / "sub")
        self.out = self.out.parent / "other" / "sub"

    def leaf_becomes_a_hard_link(self) -> None:
        (self.work / "sub" / "a.txt").unlink()
        os.link(self.out / "a.txt", self.work / "sub" / "a.txt")

    def untouched(self) -> bool:
        secret = self.out / "a.txt"
        return (
            secret.read_text() == "secret"
            and secret.stat().st_mode & 0o777 == 0o644
            and [entry.name for entry in self.out.iterdir()] == ["a.txt"]
        )


@pytest.fixture
def disk(tmp_path: Path) -> Disk:
    return Disk(tmp_path)


_CALLS: dict[str, dict[str, Any]] = {
    "file_read": {"path": "sub/a.txt"},
    "file_write": {"path": "sub/a.txt", "content": "x"},
    "file_delete": {"path": "sub/a.txt"},
    "file_chmod": {"path": "sub/a.txt", "mode": "777"},
    "file_mkdir": {"path": "sub/a.txt/deeper"},
}
_FOLDER_CALLS = {**_CALLS, "file_list": {"path": "sub"}, "file_mkdir": {"path": "sub/new/er"}}


async def test_without_any_change_the_calls_work(disk: Disk) -> None:
    service = disk.service()
    assert (await service.execute("file_read", _CALLS["file_read"])).value == "mine"
    for tool in ("file_write", "file_chmod", "file_mkdir", "file_list"):
        await service.execute(tool, _FOLDER_CALLS[tool])
    assert (disk.work / "sub" / "a.txt").read_text() == "x"
    await service.execute("file_delete", {"path": "sub"})
    assert not (disk.work / "sub").exists()


@pytest.mark.parametrize("tool", sorted(_CALLS))
async def test_a_file_swapped_for_a_link_is_not_followed(disk: Disk, tool: str) -> None:
    disk.before_tool.append(disk.leaf_becomes_a_link)
    with pytest.raises(Execution):
        await disk.service().execute(tool, _CALLS[tool])
    assert disk.untouched()


@pytest.mark.parametrize("tool", sorted(_FOLDER_CALLS))
async def test_a_folder_swapped_for_a_link_is_not_entered(disk: Disk, tool: str) -> None:
    disk.before_tool.append(disk.folder_becomes_a_link)
    with pytest.raises(Execution, match="link or not a folder"):
        await disk.service().execute(tool, _FOLDER_CALLS[tool])
    assert disk.untouched()


@pytest.mark.parametrize("tool", sorted(_FOLDER_CALLS))
async def test_a_workspace_swapped_for_a_link_is_not_entered(disk: Disk, tool: str) -> None:
    disk.before_tool.append(disk.workspace_becomes_a_link)
    with pytest.raises(Execution, match="link or not a folder"):
        await disk.service().execute(tool, _FOLDER_CALLS[tool])
    assert disk.untouched()


@pytest.mark.parametrize("tool", ["file_read", "file_chmod"])
async def test_a_file_swapped_for_a_hard_link_is_not_used(disk: Disk, tool: str) -> None:
    disk.before_tool.append(disk.leaf_becomes_a_hard_link)
    with pytest.raises(Execution, match="another file than when it was judged"):
        await disk.service().execute(tool, _CALLS[tool])
    assert disk.untouched()


async def test_what_is_written_to_a_hard_link_stays_here(disk: Disk) -> None:
    disk.before_tool.append(disk.leaf_becomes_a_hard_link)
    await disk.service().execute("file_write", _CALLS["file_write"])
    assert (disk.work / "sub" / "a.txt").read_text() == "x"
    assert disk.untouched()


async def test_a_listing_goes_through_no_link_that_appears_below(disk: Disk) -> None:
    disk.before_tool.append(lambda: (disk.work / "sub" / "way").symlink_to(disk.out))
    listed = await disk.service().execute("file_list", {"path": "sub", "recursive": True})
    assert [(entry["path"], entry["kind"]) for entry in listed.value["entries"]] == [
        ("a.txt", "file"),
        ("way", "link"),
    ]


async def test_deleting_a_folder_leaves_what_its_links_lead_to(disk: Disk) -> None:
    disk.before_tool.append(lambda: (disk.work / "sub" / "way").symlink_to(disk.out))
    await disk.service().execute("file_delete", {"path": "sub"})
    assert disk.untouched()


async def test_a_link_made_while_an_approver_thinks_is_refused(disk: Disk) -> None:
    def change() -> None:
        (disk.work / "asked" / "a.txt").symlink_to(disk.out / "a.txt")

    service, call = disk.service(), {"path": "asked/a.txt", "content": "x"}
    await service.execute("file_write", call)
    (disk.work / "asked" / "a.txt").unlink()
    disk.while_asked.append(change)
    with pytest.raises(PermissionDenied):
        await service.execute("file_write", call)
    assert disk.untouched()


async def test_a_file_with_other_names_cannot_be_judged_by_one(disk: Disk) -> None:
    disk.leaf_becomes_a_hard_link()
    for tool in ("file_write", "file_chmod"):
        with pytest.raises(PermissionDenied):
            await disk.service().execute(tool, _CALLS[tool])
    assert disk.untouched()
