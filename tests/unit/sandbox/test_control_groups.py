"""Limits of all processes of a program together: of this machine's groups, and of made-up ones."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from policy.generation import ProcessLimits, Reach
from policy.sandbox import CannotConfine, SandboxMissing
from policy.sandbox.control_groups import counts_processes, groups_for
from tests.unit.sandbox.confining import (
    needs_bubblewrap,
    needs_landlock,
    plan_in,
    run,
)
from tests.waiting import wait_until, working_in

ROOT = Path(__file__).resolve().parents[3]

needs_groups = pytest.mark.skipif(
    not counts_processes(), reason="no control group can be made here"
)
MANY = "exec sh -c 'for i in $(seq 60); do sleep 0.2 & done'"


@needs_bubblewrap
@needs_groups
def test_processes_are_limited_for_root_too(tmp_path: Path) -> None:
    done = run(plan_in(tmp_path, Reach(limits=ProcessLimits(processes=20))), MANY)
    assert "Cannot fork" in done.stderr
    assert run(plan_in(tmp_path, Reach(limits=ProcessLimits(processes=100))), MANY).stderr == ""


@needs_bubblewrap
@needs_groups
def test_memory_is_limited_for_all_processes_together(tmp_path: Path) -> None:
    limits = ProcessLimits(total_memory=50_000_000, scratch=400_000_000)
    plan = plan_in(tmp_path, Reach(limits=limits))
    assert run(plan, "head -c 10M /dev/zero > /tmp/x; echo done").stdout == "done\n"
    # In many small processes, and in files.
    # In files, and in processes of which none is large.
    assert run(plan, "head -c 200M /dev/zero > /tmp/x; echo done").stdout != "done\n"
    many = "for i in 1 2 3 4 5 6; do (x=$(head -c 15M /dev/zero | tr '\\0' x); sleep 1) & done"
    assert "Killed" in run(plan, f"{many}; wait").stderr


@needs_bubblewrap
@needs_groups
def test_no_group_is_left(tmp_path: Path) -> None:
    limits = ProcessLimits(processes=20, total_memory=50_000_000)
    with groups_for(limits) as groups:
        parents = {os.path.dirname(group) for group in groups}
    for group in groups:
        assert Path(group, "cgroup.procs").read_text() == ""
        os.rmdir(group)
    run(plan_in(tmp_path, Reach(limits=limits)), "sleep 100 & true")
    mine = f"placet-{os.getpid()}-"
    assert not [name for folder in parents for name in os.listdir(folder) if mine in name]


@needs_groups
@pytest.mark.parametrize(
    "driver",
    [
        pytest.param("bubblewrap", marks=needs_bubblewrap),
        pytest.param("landlock", marks=needs_landlock),
    ],
)
def test_nothing_is_left_where_the_service_is_killed(tmp_path: Path, driver: str) -> None:
    limits = ProcessLimits(processes=20)
    code = (
        "from pathlib import Path\n"
        "from policy.generation import ProcessLimits, Reach\n"
        "from policy.sandbox import driver_named\n"
        "from tests.unit.sandbox.confining import plan_in, run\n"
        f"plan = plan_in(Path({str(tmp_path)!r}), Reach(limits={limits!r}))\n"
        "script = 'setsid sleep 300 & echo > started; sleep 300'\n"
        f"run(plan, script, driver_named({driver!r}))\n"
    )
    with subprocess.Popen([sys.executable, "-c", code], cwd=ROOT) as service:
        wait_until((tmp_path / "started").exists)
        folder = Path(groups_folder(), f"placet-{service.pid}-")
        assert [*folder.parent.glob(f"{folder.name}*")]
        service.kill()
    wait_until(lambda: not working_in(tmp_path))
    wait_until(lambda: not [*folder.parent.glob(f"{folder.name}*")])


def groups_folder() -> str:
    with groups_for(ProcessLimits(processes=20)) as (group,):
        os.rmdir(group)
    return os.path.dirname(group)


class Machine:
    """A hierarchy of version 2 that is made up: folders and the files that the kernel has."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.top = folder / "cgroup"
        self.group("", shares="cpu memory pids")
        memberships, mounts = folder / "memberships", folder / "mounts"
        memberships.write_text("1:name=systemd:/x\n0::/user.slice/app.slice/run.scope\n")
        mounts.write_text(
            "24 23 0:28 / /elsewhere rw,relatime - tmpfs tmpfs rw\n"
            f"30 24 0:26 / {self.top} rw,nosuid shared:9 - cgroup2 cgroup2 rw\n"
        )
        monkeypatch.setattr("policy.sandbox.control_groups.MEMBERSHIPS", memberships)
        monkeypatch.setattr("policy.sandbox.control_groups.MOUNTS", mounts)

    def group(self, path: str, *, shares: str = "") -> Path:
        folder = self.top / path
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "cgroup.subtree_control").write_text(shares)
        (folder / "cgroup.procs").touch()
        return folder


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    found = Machine(tmp_path, monkeypatch)
    found.group("user.slice", shares="pids")
    found.group("user.slice/app.slice/run.scope")
    return found


def test_a_group_stands_where_its_controllers_are_shared_out(machine: Machine) -> None:
    beside = machine.group("user.slice/app.slice", shares="memory pids")
    limits = ProcessLimits(processes=20, total_memory=50_000_000)
    with groups_for(limits) as (group,):
        assert Path(group).parent == beside
        assert Path(group, "pids.max").read_text() == "22"
        assert Path(group, "memory.max").read_text() == "50000000"


def test_each_controller_is_looked_for_further_up(machine: Machine) -> None:
    machine.group("user.slice/app.slice", shares="pids")
    with groups_for(ProcessLimits(processes=20, total_memory=50_000_000)) as groups:
        parents = {str(Path(group).parent.relative_to(machine.top)) for group in groups}
    assert parents == {"user.slice/app.slice", "."}


def test_memory_without_a_group_is_an_error_and_processes_are_not(machine: Machine) -> None:
    machine.group("", shares="cpu")
    machine.group("user.slice", shares="")
    machine.group("user.slice/app.slice", shares="")
    assert not counts_processes()
    with groups_for(ProcessLimits(processes=20)) as groups:
        assert groups == ()
    with (
        pytest.raises(CannotConfine, match="none can be made here"),
        groups_for(ProcessLimits(total_memory=50_000_000)),
    ):
        pass


def test_a_group_goes_with_a_program_that_was_not_started(machine: Machine) -> None:
    shared = machine.group("user.slice/app.slice", shares="pids")
    # A real group is empty for `rmdir`; in a made-up one its files stand in the way.
    removed: list[str] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("os.rmdir", removed.append)
        with pytest.raises(OSError, match="no program"), groups_for(ProcessLimits(processes=9)):
            raise OSError("no program")
    assert [Path(group).parent for group in removed] == [shared]


def test_what_a_killed_service_has_left_is_removed(machine: Machine) -> None:
    shared = machine.group("user.slice/app.slice", shares="pids")
    gone, here = shared / "placet-4194999-0a", shared / f"placet-{os.getpid()}-0a"
    gone.mkdir()
    here.mkdir()
    with groups_for(ProcessLimits(processes=20)):
        assert not gone.exists()
        assert here.exists()


@needs_bubblewrap
def test_without_a_group_nothing_starts_that_has_to_be_limited_by_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("policy.sandbox.control_groups.MEMBERSHIPS", tmp_path / "none")
    with pytest.raises(SandboxMissing, match="`total_memory` needs a control group"):
        run(plan_in(tmp_path, Reach(limits=ProcessLimits(total_memory=50_000_000))), "true")
