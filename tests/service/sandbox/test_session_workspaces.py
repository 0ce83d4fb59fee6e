"""`[service] workspaces`: no session reaches the folder of another one."""

from __future__ import annotations

import asyncio
import os
import tempfile
import threading
from pathlib import Path
from typing import Any

import pytest

from policy import PermissionDenied, PolicyStore, ToolError
from policy.environment import WorkspaceUnusable
from policy.model import Caller
from policy.service import GovernedService, build_tool_service
from tests.unit.sandbox.confining import needs_bubblewrap

POLICY = """\
policy for every agent

default deny

allow file_read, file_list when reads only workspace
allow file_write when writes only workspace
allow bash_exec when runs only "cat *" and reads only workspace
allow bash_exec when agent.name == "coder"
allow code_exec when call.unseen
"""
SETTINGS = '[service]\nworkspaces = "{}"\n[service.code]\nlanguages = ["python"]\n'
CONFINED = SETTINGS + '[sandbox]\ndriver = "bubblewrap"\n'
ANNA, BOB = Caller(user="anna"), Caller(user="bob")


def service_of(tmp_path: Path, settings: str = SETTINGS) -> GovernedService:
    rules = tmp_path / "rules"
    rules.mkdir()
    (rules / "global.policy").write_text(POLICY, "utf-8")
    (rules / "placet.toml").write_text(settings.format(tmp_path / "all"), "utf-8")
    return build_tool_service(PolicyStore(rules), home=tmp_path)


async def value_of(service: GovernedService, tool: str, **input: Any) -> Any:
    return (await service.execute(tool, input)).value


async def test_files_of_one_session_are_not_there_for_another(tmp_path: Path) -> None:
    service = service_of(tmp_path)
    anna, bob = service.bound_to(ANNA), service.bound_to(BOB)
    await value_of(anna, "file_write", path="note", content="hush")
    assert (await value_of(anna, "bash_exec", command="cat note"))["stdout"] == "hush"
    with pytest.raises(ToolError):
        await value_of(bob, "file_read", path="note")
    folder = str(anna.context.workspace)
    name = os.path.basename(folder)
    os.symlink(f"../{name}", f"{bob.context.workspace}/link")
    for path in (f"../{name}/note", f"~/all/{name}/note", f"{folder}/note", "link/note"):
        with pytest.raises(PermissionDenied):
            await value_of(bob, "file_read", path=path)
        with pytest.raises(PermissionDenied):
            await value_of(bob, "file_write", path=path, content="mine")
        with pytest.raises(PermissionDenied):
            await value_of(bob, "bash_exec", command=f"cat {path}")
    assert (await value_of(anna, "file_read", path="note")) == "hush"


async def test_sub_agents_work_in_the_workspace_of_their_session(tmp_path: Path) -> None:
    service = service_of(tmp_path)
    await value_of(service.bound_to(ANNA), "file_write", path="note", content="hush")
    helper = service.bound_to(Caller(agent="helper", session="own", parent=ANNA))
    assert (await value_of(helper, "bash_exec", command="cat note"))["stdout"] == "hush"


@needs_bubblewrap
async def test_code_in_a_sandbox_sees_the_folder_of_its_session_alone(tmp_path: Path) -> None:
    service = service_of(tmp_path, CONFINED)
    anna = service.bound_to(Caller(agent="coder", user="anna"))
    bob = service.bound_to(Caller(agent="coder", user="bob"))
    await value_of(anna, "bash_exec", command="echo hush > note")
    folder = str(anna.context.workspace)
    name = os.path.basename(folder)
    found = await value_of(
        bob, "bash_exec", command=f"ln -s {folder} link; cat ../{name}/note link/note; ls ..; pwd"
    )
    here = str(bob.context.workspace)
    assert found["stdout"] == f"{os.path.basename(here)}\n{here}\n"
    code = f"import os; print(os.environ['PWD'], os.getcwd(), os.path.exists({folder!r}))"
    found = await value_of(bob, "code_exec", language="python", code=code)
    assert found["stdout"] == f"{here} {here} False\n"
    assert (await value_of(anna, "file_read", path="note")) == "hush\n"


async def test_first_calls_at_the_same_time_work_in_one_folder(tmp_path: Path) -> None:
    service = service_of(tmp_path).bound_to(ANNA)
    writing = (value_of(service, "file_write", path=str(each), content="x") for each in range(5))
    await asyncio.gather(*writing)
    assert sorted(os.listdir(str(service.context.workspace))) == list("01234")


async def test_a_link_in_place_of_the_folder_denies_the_call(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    service = service_of(tmp_path).bound_to(ANNA)
    (tmp_path / "other").mkdir()
    os.symlink(tmp_path / "other", str(service.context.workspace))
    with pytest.raises(PermissionDenied, match="the workspace of this session cannot be used"):
        await value_of(service, "file_write", path="note", content="x")
    assert os.listdir(tmp_path / "other") == []
    assert "cannot be used: Not a directory" in caplog.text


async def test_unused_workspaces_are_removed_at_the_first_call(tmp_path: Path) -> None:
    keep = 'workspaces_keep = "2d"\n[service.code]'
    service = service_of(tmp_path, SETTINGS.replace("[service.code]", keep))
    old = tmp_path / "all" / ("0" * 32)
    old.mkdir()
    os.utime(old, (0, 0))
    await value_of(service, "file_write", path="note", content="x")
    for thread in threading.enumerate():
        if thread.name == "placet: workspaces":
            await asyncio.to_thread(thread.join)
    assert not old.exists()


def test_workspaces_in_the_policy_are_refused(tmp_path: Path) -> None:
    with pytest.raises(WorkspaceUnusable, match="keep them apart"):
        service_of(tmp_path, '[service]\nworkspaces = "below"\n')


async def test_tools_that_write_do_not_run_in_a_full_workspace(tmp_path: Path) -> None:
    few = "workspaces_files = 2\n[service.code]"
    service = service_of(tmp_path, SETTINGS.replace("[service.code]", few))
    anna = service.bound_to(Caller(agent="coder", user="anna"))
    await value_of(anna, "bash_exec", command="touch a b c")
    for tool, input in (
        ("file_write", {"path": "d", "content": "x"}),
        ("bash_exec", {"command": "touch d"}),
    ):
        with pytest.raises(ToolError, match="the workspace is full") as caught:
            await value_of(anna, tool, **input)
        assert caught.value.code == "workspace-full"
    assert (await value_of(anna, "file_read", path="a")) == ""
    os.unlink(f"{anna.context.workspace}/c")
    await value_of(anna, "file_write", path="d", content="x")
    # Each has room of its own.
    await value_of(service.bound_to(BOB), "file_write", path="d", content="x")


def test_workspaces_among_programs_of_the_system_are_an_error(tmp_path: Path) -> None:
    settings = '[service]\nworkspaces = "/usr/local/lib/of-sessions"\n'
    with pytest.raises(WorkspaceUnusable, match="programs of the system are there"):
        service_of(tmp_path, settings)
    assert not os.path.exists("/usr/local/lib/of-sessions")


@needs_bubblewrap
async def test_sessions_in_a_folder_of_the_system_do_not_see_each_other(tmp_path: Path) -> None:
    try:
        folder = tempfile.TemporaryDirectory(dir="/usr/src")
    except OSError:
        pytest.skip("nothing can be made in /usr/src")
    with folder as root:
        settings = CONFINED.replace("{}", f"{root}/all")
        service = service_of(tmp_path, settings)
        anna, bob = service.bound_to(ANNA), service.bound_to(BOB)
        await value_of(anna, "file_write", path="note", content="hush")
        code = (
            f"import os; print(os.path.isfile('{anna.context.workspace}/note'), os.listdir('..'))"
        )
        mine = os.path.basename(str(bob.context.workspace))
        for caller, said in ((bob, f"False ['{mine}']"), (anna, "True ")):
            found = await value_of(caller, "code_exec", language="python", code=code)
            assert found["stdout"].startswith(said)
