"""`PATH` inside a sandbox: folders that can be read there."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from policy.generation import Reach
from policy.sandbox import Bubblewrap, SandboxDriver
from policy.sandbox.landlock import Landlock
from policy.sandbox.readable_path import readable_path
from tests.unit.sandbox.confining import needs_bubblewrap, needs_landlock, plan_in, run


def path_in(plan_folder: Path, path: str, reach: Reach | None = None) -> str:
    return readable_path(plan_in(plan_folder, reach), {"PATH": path})["PATH"]


def test_folders_that_cannot_be_read_are_left_out(tmp_path: Path) -> None:
    work, tools, private = (tmp_path / name for name in ("work", "tools", "private"))
    for folder in (work, tools, private):
        folder.mkdir()
    (work / "bin").symlink_to(private)
    (work / "own").mkdir()
    given = f"{private}:{work}/bin:{work}/own:{tools}/bin:/usr/bin:/opt/x/bin:/usr/../root:bin"
    assert path_in(work, given) == f"{work}/own:/usr/bin:/opt/x/bin:bin"
    more = path_in(work, given, Reach(reads=(str(tools),)))
    assert more == f"{work}/own:{tools}/bin:/usr/bin:/opt/x/bin:bin"


def test_where_none_is_left_programs_of_the_system_are_found(tmp_path: Path) -> None:
    assert path_in(tmp_path, "/root/bin") == "/usr/local/bin:/usr/bin:/bin"
    assert readable_path(plan_in(tmp_path), {"HOME": "/x"}) == {"HOME": "/x"}


@pytest.mark.parametrize(
    "driver",
    [
        pytest.param(Bubblewrap(), marks=needs_bubblewrap),
        pytest.param(Landlock(), marks=needs_landlock),
    ],
)
def test_an_interpreter_that_cannot_be_read_is_not_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, driver: SandboxDriver
) -> None:
    if not os.access("/usr/bin/python3", os.X_OK):
        pytest.skip("the system has no interpreter")
    work, private = tmp_path / "work", tmp_path / "venv" / "bin"
    work.mkdir()
    private.mkdir(parents=True)
    (private / "python3").symlink_to(sys.executable)
    monkeypatch.setenv("PATH", f"{private}:/usr/bin:/bin")
    done = run(plan_in(work), "python3 -c 'import sys; print(sys.executable)'", driver)
    assert (done.stdout, done.stderr) == ("/usr/bin/python3\n", "")
