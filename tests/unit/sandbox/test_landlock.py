"""Confinement by Landlock: what programs reach is tried from the inside."""

from __future__ import annotations

import os
import stat
from dataclasses import replace
from pathlib import Path

import pytest

from policy.generation import ProcessLimits, Reach
from policy.sandbox import SandboxMissing, escapes
from policy.sandbox.landlock import Landlock
from policy.sandbox.landlock_rights import READ, WRITE, restrictions, rights_on
from tests.unit.sandbox.confining import escapes_of_nobody, meanwhile, needs_landlock, plan_in, run

pytestmark = needs_landlock

# Documented as not stopped: Landlock has no right for them, and the file system is in sight.
NOT_STOPPED = {
    "change permissions of a file outside",
    "learn which files exist outside",
    "watch files outside",
}


def reached(outcomes: dict[str, bool]) -> set[str]:
    return {name for name, got_out in outcomes.items() if got_out}


def test_nothing_else_gets_out_than_is_documented(tmp_path: Path) -> None:
    assert reached(escapes(Landlock(), plan_in(tmp_path))) == NOT_STOPPED


def test_the_network_is_all_or_none_and_never_unix_sockets(tmp_path: Path) -> None:
    outcomes = escapes(Landlock(), plan_in(tmp_path, Reach(network="all")))
    network = {"connect to this machine", "send datagrams (UDP, DNS)"}
    assert reached(outcomes) - {"find a way to the metadata of a cloud"} == NOT_STOPPED | network


def test_folders_are_read_or_written_as_configured(tmp_path: Path) -> None:
    work, data, cache = (tmp_path / name for name in ("work", "data", "cache"))
    for folder in (work, data, cache):
        folder.mkdir()
        (folder / "file").write_text(folder.name)
    (tmp_path / "secret").write_text("hush")
    plan = plan_in(work, Reach(reads=(str(data),), writes=(str(cache),)))
    done = run(
        plan,
        f"cat {data}/file {cache}/file; echo x > {data}/x; echo y > {cache}/y; rm {data}/file; "
        f"echo z > here; mv {cache}/file here; ln here there; cat {tmp_path}/secret; ls {tmp_path}",
        Landlock(),
    )
    assert done.stdout == "datacache"
    assert not (data / "x").exists()
    assert (data / "file").exists()
    assert (cache / "y").exists()
    assert (work / "here").read_text() == "cache"
    assert (work / "there").exists()
    assert done.stderr.count("Permission denied") == 4


def test_what_stands_beside_hooks_is_written_and_nothing_new_is_made_there(tmp_path: Path) -> None:
    hooks = tmp_path / ".git" / "hooks"
    hooks.mkdir(parents=True)
    (tmp_path / "src").mkdir()
    (tmp_path / "file").write_text("old")
    (tmp_path / "link").symlink_to(hooks)
    plan = plan_in(tmp_path)
    done = run(
        plan,
        "echo a > src/new; echo b > file; echo x > .git/hooks/x; echo x > link/x; echo x > .git/x; "
        "echo x > new; mv .git aside; mv src/new .git/hooks/new; ln -s x .git/config; rm file",
        Landlock(),
    )
    assert (tmp_path / "src" / "new").read_text() == "a\n"
    assert (tmp_path / "file").read_text() == "b\n"
    assert [*hooks.iterdir()] == []
    assert {each.name for each in tmp_path.iterdir()} == {".git", "src", "file", "link"}
    assert {each.name for each in (tmp_path / ".git").iterdir()} == {"hooks"}
    assert done.returncode != 0
    assert Landlock().narrowed(plan) == (str(tmp_path), str(tmp_path / ".git"))


def test_what_somebody_makes_under_a_protected_name_is_protected_as_well(tmp_path: Path) -> None:
    for folder in (".git/hooks", "sub", "out"):
        (tmp_path / folder).mkdir(parents=True)
    for file in (".git/config", "sub/.env"):
        (tmp_path / file).write_text("old")
    plan = plan_in(tmp_path)
    plan = replace(
        plan,
        masked=(f"{tmp_path}/sub/.env",),
        immovable=(*plan.immovable, f"{tmp_path}/sub"),
    )

    def replace_them() -> None:
        for file in (".git/config", "sub/.env"):
            (tmp_path / "saved").write_text("new")
            os.replace(tmp_path / "saved", tmp_path / file)
        (tmp_path / ".git" / "hooks").rename(tmp_path / ".git" / "old-hooks")
        (tmp_path / ".git" / "hooks").mkdir()

    script = (
        "touch out/ready; until [ -e go ]; do sleep 0.01; done; "
        "cat sub/.env; echo x >> .git/config; echo x > sub/.env; echo x > .git/hooks/pre-commit"
    )
    done = meanwhile(plan, replace_them, script, Landlock())
    assert done.stdout == ""
    assert done.stderr.count("Permission denied") == 4
    assert (tmp_path / ".git" / "config").read_text() == "new"


def test_a_workspace_with_nothing_to_keep_is_not_narrowed(tmp_path: Path) -> None:
    assert Landlock().narrowed(plan_in(tmp_path)) == ()


def test_temporary_files_have_a_folder_that_is_gone_afterwards(tmp_path: Path) -> None:
    done = run(
        plan_in(tmp_path), 'echo x > "$TMPDIR/x" && cat "$TMPDIR/x"; echo "$TMPDIR"', Landlock()
    )
    content, folder = done.stdout.splitlines()
    assert content == "x"
    assert not os.path.exists(folder)


def test_limits_apply_to_each_process(tmp_path: Path) -> None:
    limits = ProcessLimits(file_size=1_024, open_files=16, memory=2_000_000_000, cpu=7)
    done = run(
        plan_in(tmp_path, Reach(limits=limits)), "ulimit -f -n -v -t -c; ulimit -Ht", Landlock()
    )
    units = [line.split()[-1] for line in done.stdout.splitlines()]
    assert units == ["1", "16", "1953125", "7", "0", "8"]


def test_a_folder_that_a_link_has_replaced_is_not_granted(tmp_path: Path) -> None:
    work = tmp_path / "work"
    work.mkdir()
    plan = plan_in(work)
    work.rename(tmp_path / "aside")
    work.symlink_to("/etc")
    with pytest.raises(SandboxMissing, match="by now"):
        run(plan, "true", Landlock())


def test_a_program_that_does_not_exist_is_reported(tmp_path: Path) -> None:
    done = run(plan_in(tmp_path), "exec nonsuch-program", Landlock())
    assert "not found" in done.stderr


@pytest.mark.parametrize("network", [True, False])
def test_older_versions_restrict_less_and_never_what_they_do_not_know(network: bool) -> None:
    oldest, newest = (restrictions(version, network=network) for version in (3, 7))
    assert oldest.files == newest.files & ~(1 << 15)
    assert (oldest.tcp, oldest.scopes) == (0, 0)
    assert (newest.tcp, newest.scopes) == (0 if network else 3, 3)
    assert restrictions(5, network=False).scopes == 0


def test_rights_on_files_are_those_that_files_have() -> None:
    assert rights_on(READ, folder=True) == READ
    assert rights_on(READ, folder=False) == 0b101
    assert rights_on(WRITE, folder=False) == 0b101 | 1 << 1 | 1 << 14
    # Devices and sockets are not made: MAKE_CHAR, MAKE_SOCK, MAKE_BLOCK.
    assert not WRITE & (1 << 6 | 1 << 9 | 1 << 11)


def test_without_landlock_it_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    for version, said in ((0, "none that is switched on"), (2, "version 2")):
        monkeypatch.setattr("policy.sandbox.landlock.version", lambda found=version: found)
        assert said in (Landlock().problem() or "")


def test_a_file_has_no_setuid_bit_from_inside(tmp_path: Path) -> None:
    run(plan_in(tmp_path), "cp /bin/true mine; chmod 4755 mine; chmod 755 mine", Landlock())
    assert stat.S_IMODE((tmp_path / "mine").stat().st_mode) == 0o755


def test_priorities_of_a_group_or_a_user_stay(tmp_path: Path) -> None:
    # Each of them to what it is.
    done = run(
        plan_in(tmp_path),
        """/usr/bin/python3 -c '
import os
os.setpriority(os.PRIO_PROCESS, 0, os.getpriority(os.PRIO_PROCESS, 0))
for kind in (os.PRIO_PGRP, os.PRIO_USER):
    try:
        os.setpriority(kind, 0, os.getpriority(kind, 0))
    except PermissionError:
        print("refused")
'""",
        Landlock(),
    )
    assert (done.stdout.split(), done.stderr) == (["refused", "refused"], "")


def test_another_user_than_root_gets_out_no_further() -> None:
    assert reached(escapes_of_nobody(Landlock())) == NOT_STOPPED
