"""Confinement by bubblewrap: what programs reach is tried from the inside."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from policy.generation import ProcessLimits, Reach
from policy.processes import ProgramToStart
from policy.sandbox import (
    Bubblewrap,
    CannotConfine,
    ConfinedLauncher,
    SandboxMissing,
    denial_of,
    escapes,
)
from policy.sandbox.bubblewrap import masks
from tests.unit.sandbox.confining import (
    escapes_of_nobody,
    meanwhile,
    needs_bubblewrap,
    plan_in,
    run,
)
from tests.unit.sandbox.plans import PLAN
from tests.waiting import until, working_in

pytestmark = needs_bubblewrap


def reached(outcomes: dict[str, bool]) -> set[str]:
    return {name for name, got_out in outcomes.items() if got_out}


def test_nothing_gets_out(tmp_path: Path) -> None:
    outcomes = escapes(Bubblewrap(), plan_in(tmp_path))
    assert reached(outcomes) == set()
    assert len(outcomes) > 10


def test_nothing_gets_out_for_another_user_than_root() -> None:
    assert reached(escapes_of_nobody(Bubblewrap())) == set()


def test_the_attempts_succeed_without_a_sandbox(tmp_path: Path) -> None:
    outcomes = escapes(None, plan_in(tmp_path))
    # Whether the others succeed depends on the user, the terminal and the kernel.
    assert reached(outcomes) >= {
        "read a file outside",
        "watch files outside",
        "see other processes",
        "change priorities of other processes",
        "send signals to other processes",
        "connect to this machine",
        "send datagrams (UDP, DNS)",
        "connect to a Unix socket",
        "connect to an abstract Unix socket",
        "gain privileges by setuid programs",
    }


def test_the_network_is_reached_only_where_it_is_configured(tmp_path: Path) -> None:
    outcomes = escapes(Bubblewrap(), plan_in(tmp_path, Reach(network="all")))
    network = {"connect to this machine", "send datagrams (UDP, DNS)"}
    # Abstract sockets belong to the network.
    assert reached(outcomes) - {"find a way to the metadata of a cloud"} == network | {
        "connect to an abstract Unix socket"
    }


def test_the_workspace_is_written_and_its_hooks_are_not(tmp_path: Path) -> None:
    hooks = tmp_path / ".git" / "hooks"
    hooks.mkdir(parents=True)
    done = run(
        plan_in(tmp_path),
        "echo a > a; echo x > .git/hooks/pre-commit; mv .git aside; rm -rf .git; echo b > .git/b",
    )
    assert (tmp_path / "a").read_text() == "a\n"
    assert list(hooks.iterdir()) == []
    assert (tmp_path / ".git" / "b").exists()
    assert done.stderr.count("Read-only file system") == 1
    assert "cannot move '.git'" in done.stderr


def test_settings_that_somebody_replaces_meanwhile_stay_read_only(tmp_path: Path) -> None:
    settings = tmp_path / ".claude" / "settings.json"
    settings.parent.mkdir()
    settings.write_text("{}")
    (tmp_path / "out").mkdir()

    def replace_it() -> None:
        (tmp_path / "saved").write_text("replaced")
        os.replace(tmp_path / "saved", settings)

    script = (
        "touch out/ready; until [ -e go ]; do sleep 0.02; done; "
        "cat .claude/settings.json; echo x >> .claude/settings.json; echo x > .claude/other"
    )
    done = meanwhile(plan_in(tmp_path), replace_it, script)
    assert done.stdout == "replaced"
    assert done.stderr.count("Read-only file system") == 2
    assert settings.read_text() == "replaced"


@needs_bubblewrap
def test_folders_are_read_or_written_as_configured(tmp_path: Path) -> None:
    work, data, cache = (tmp_path / name for name in ("work", "data", "cache"))
    for folder in (work, data, cache):
        folder.mkdir()
        (folder / "file").write_text(folder.name)
    plan = plan_in(work, Reach(reads=(str(data),), writes=(str(cache),)))
    done = run(plan, f"cat {data}/file {cache}/file; echo x > {data}/x; echo y > {cache}/y")
    assert done.stdout == "datacache"
    assert not (data / "x").exists()
    assert (cache / "y").exists()


def test_a_folder_that_a_link_has_replaced_is_not_mounted(tmp_path: Path) -> None:
    outside, work = tmp_path / "outside", tmp_path / "work"
    (work / ".git" / "hooks").mkdir(parents=True)
    outside.mkdir()
    plan = plan_in(work)
    (work / ".git").rename(work / "aside")
    (work / ".git").symlink_to(outside)
    with pytest.raises(SandboxMissing, match="by now"):
        run(plan, "echo x > .git/x")
    assert list(outside.iterdir()) == []


def test_what_is_written_to_the_home_folder_is_gone_afterwards(tmp_path: Path) -> None:
    plan = plan_in(tmp_path)
    assert run(plan, "echo x > ~/x && cat ~/x").stdout == "x\n"
    assert run(plan, "cat ~/x").returncode != 0


def test_limits_apply_to_each_process(tmp_path: Path) -> None:
    limits = ProcessLimits(file_size=1_000, open_files=16, memory=2_000_000_000, cpu=7)
    done = run(plan_in(tmp_path, Reach(limits=limits)), "ulimit -f -n -v -t -c")
    assert [line.split()[-1] for line in done.stdout.splitlines()] == [
        # In the units of bash: blocks of 1,024 bytes, kilobytes, seconds.
        "0",
        "16",
        "1953125",
        "7",
        "0",
    ]
    assert run(plan_in(tmp_path, Reach(limits=limits)), "head -c 5000 /dev/zero > f").returncode
    assert (tmp_path / "f").stat().st_size == 1_000


def test_an_endless_loop_exceeds_the_limit_of_cpu_time_and_no_other(tmp_path: Path) -> None:
    plan = plan_in(tmp_path, Reach(limits=ProcessLimits(cpu=1)))
    done = run(plan, "while :; do :; done")
    plan = replace(plan, limits=ProcessLimits(cpu=1, total_memory=500_000_000))
    found = denial_of(plan, tier="bubblewrap", closed=(), status=done.returncode, errors="")
    assert found is not None
    assert [each.target for each in found.denied] == ["cpu"]


def test_memory_for_temporary_files_is_limited(tmp_path: Path) -> None:
    limits = ProcessLimits(scratch=1_000_000)
    done = run(plan_in(tmp_path, Reach(limits=limits)), "head -c 5000000 /dev/zero > /tmp/f")
    assert "No space left on device" in done.stderr


async def test_a_confined_program_ends_with_all_that_it_has_started(tmp_path: Path) -> None:
    launcher = ConfinedLauncher(Bubblewrap(), lambda program: plan_in(tmp_path))
    program = ProgramToStart(
        arguments=("bash", "-c", "setsid sleep 300 & echo on > started; sleep 300"),
        env={"PATH": os.environ["PATH"]},
        folder=str(tmp_path),
    )
    nothing = os.open(os.devnull, os.O_RDWR)
    try:
        started = await launcher.launch(program, stdin=nothing, stdout=nothing, stderr=nothing)
        await until((tmp_path / "started").exists)
        assert working_in(tmp_path)
        await started.end()
        assert not working_in(tmp_path)
    finally:
        os.close(nothing)


async def test_without_bubblewrap_nothing_is_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("policy.sandbox.bubblewrap.PROGRAMS", str(tmp_path))
    launcher = ConfinedLauncher(Bubblewrap(), lambda program: plan_in(tmp_path))
    program = ProgramToStart(arguments=("/bin/true",), env={})
    with pytest.raises(SandboxMissing, match="install the package `bubblewrap`"):
        await launcher.launch(program, stdin=0, stdout=1, stderr=2)


async def test_a_plan_that_cannot_be_made_starts_nothing(tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    launcher = ConfinedLauncher(Bubblewrap(), lambda program: plan_in(gone))
    program = ProgramToStart(arguments=("/bin/true",), env={})
    with pytest.raises(SandboxMissing, match="there is no"):
        await launcher.launch(program, stdin=0, stdout=1, stderr=2)


def test_no_program_of_the_workspace_takes_the_place_of_the_sandbox(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("bwrap", "prlimit"):
        (tmp_path / name).write_text("#!/bin/sh\ntouch ran\n")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    assert Bubblewrap().problem() is None
    assert run(plan_in(tmp_path), "ulimit -c; ls").stdout == "0\nbwrap\nprlimit\n"


def test_the_folders_around_a_nested_workspace_keep_their_names(tmp_path: Path) -> None:
    work = tmp_path / "a" / "work"
    (work / ".git" / "hooks").mkdir(parents=True)
    (work / ".git" / "config").write_text("[core]\n")
    plan = plan_in(work, Reach(writes=(str(tmp_path),)))
    done = run(plan, f"mv {tmp_path}/a {tmp_path}/b; echo x >> .git/config; echo x > .git/x")
    assert not (tmp_path / "b").exists()
    assert (work / ".git" / "config").read_text() == "[core]\n"
    assert (work / ".git" / "x").exists()
    assert "cannot move" in done.stderr


def test_memory_is_filled_up_to_the_limit_only(tmp_path: Path) -> None:
    plan = plan_in(tmp_path, Reach(limits=ProcessLimits(scratch=1_000_000)))
    done = run(
        plan, "echo x > /dev/x; for d in /dev/shm /tmp; do head -c 2M /dev/zero > $d/x; done"
    )
    assert done.stderr.count("No space left on device") == 2
    assert done.stderr.count("Read-only file system") == 1


def test_more_masks_than_bubblewrap_takes_are_an_error() -> None:
    plan = replace(PLAN, masked=tuple(f"/work/{number}" for number in range(10_000)))
    with pytest.raises(CannotConfine, match="10,000 of its files, and 1,000 can be hidden"):
        _ = [*masks(plan)]


def test_masks_are_no_part_of_the_command_line(tmp_path: Path) -> None:
    deep = tmp_path / ("d" * 200) / ("e" * 200)
    deep.mkdir(parents=True)
    for number in range(50):
        (deep / f"{number}.env").write_text("secret")
    plan = replace(plan_in(tmp_path), masked=tuple(map(str, sorted(deep.iterdir()))))
    done = run(plan, f"cat {deep}/*; echo x > {deep}/3.env; ls {deep} | wc -l")
    assert done.stdout == "50\n"
    assert done.stderr.count("Permission denied") == 51
