"""Which interpreter runs and installs for code, and what of its folders is shown to it."""

from __future__ import annotations

from pathlib import Path

import pytest

from policy.tools.handlers.interpreter_paths import InterpreterPath, find_interpreter


class Machine:
    """A machine whose system is the folder `usr`."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.work, self.home = root / "home" / "work", root / "home"
        self.work.mkdir(parents=True)
        self.system = self.program("usr/bin/python3")

    def program(self, place: str) -> Path:
        path = self.root / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("#!/bin/sh\n")
        path.chmod(0o755)
        return path

    def link(self, place: str, to: Path) -> Path:
        path = self.root / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.symlink_to(to)
        return path

    def find(self, name: str | Path, *path: str) -> InterpreterPath | str:
        env = {"PATH": ":".join(str(self.root / each) for each in path)}
        return find_interpreter(str(name), env, workspace=str(self.work), home=str(self.home))


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    monkeypatch.setattr("policy.tools.handlers.interpreter_paths.SYSTEM", (str(tmp_path / "usr"),))
    return Machine(tmp_path)


def test_a_name_is_one_of_the_system(machine: Machine) -> None:
    machine.program("home/bin/python3")
    machine.link("usr/local/python3", machine.root / "home/bin/python3")
    found = machine.find("python3", "home/bin", "usr/local", "usr/bin")
    assert found == InterpreterPath(path=str(machine.system))
    assert "not installed in a folder of the system" in str(machine.find("python3", "home/bin"))


def test_a_name_is_none_of_a_workspace_in_the_system(machine: Machine) -> None:
    machine.work = machine.root / "usr/src/app"
    own = machine.program("usr/src/app/.venv/bin/python3")
    machine.link("usr/local/python3", own)
    found = machine.find("python3", "usr/src/app/.venv/bin", "usr/local", "usr/bin")
    assert found == InterpreterPath(path=str(machine.system))
    assert machine.find(own) == f"`{own}` is in the workspace"


def test_the_folders_of_a_path_are_shown(machine: Machine) -> None:
    assert machine.find(machine.system) == InterpreterPath(path=str(machine.system))
    built = machine.program("srv/python-3.13/bin/python3.13")
    shown = (str(machine.root / "srv/python-3.13"),)
    expected = InterpreterPath(path=str(built), libraries=shown)
    assert machine.find(built) == expected
    # Nothing of the folder of a link.
    assert machine.find(machine.link("home/bin/python3", built)) == expected
    assert "not installed" in str(machine.find(machine.root / "gone"))


def test_a_virtual_environment_runs_as_one(machine: Machine) -> None:
    python = machine.link("srv/env/bin/python3", machine.system)
    (machine.root / "srv/env/pyvenv.cfg").touch()
    assert machine.find(python) == InterpreterPath(
        path=str(python), libraries=(str(machine.root / "srv/env"),)
    )


def test_none_is_taken_from_the_workspace(machine: Machine) -> None:
    inside = machine.program("home/work/bin/python3")
    around = machine.program("srv/bin/python3.13")
    for each in (inside, machine.link("srv/bin/python3", inside)):
        assert "is in the workspace" in str(machine.find(each))
    machine.work = machine.root / "srv" / "work"
    assert "is in the workspace" in str(machine.find(around))


def test_a_home_folder_is_not_shown_for_it(machine: Machine) -> None:
    machine.work = machine.root / "elsewhere"
    machine.work.mkdir()
    for place in ("home/bin/python3", "bin/python3"):
        assert "cannot be shown without all of" in str(machine.find(machine.program(place)))
