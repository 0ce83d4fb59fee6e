"""Commands that only people may run are refused if a tool call started them."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.e2e.serving import ENV, place_in
from tests.preloaded import placet

pytestmark = pytest.mark.people

_LINUX = pytest.mark.skipif(
    not Path("/proc/self/environ").exists(), reason="needs /proc, by which ancestors are told"
)
_PLACET = f"{sys.executable} -m policy"
_COMMANDS = {
    "freeze": "freeze --because x --rules rules",
    "unfreeze": "unfreeze --rules rules",
    "acknowledge": "acknowledge sha256:0 --rules rules",
    "config": "config set permissions.tools.bash_exec deny rules",
    "approvals": "approvals approve q1 rules",
    "pin": "pin forget x rules",
}


def _ran(tmp_path: Path, script: str, **more: str) -> subprocess.CompletedProcess[str]:
    env = {"PATH": os.environ["PATH"], "XDG_STATE_HOME": str(tmp_path / "state"), **ENV, **more}
    return subprocess.run(
        ["bash", "-c", script],
        cwd=tmp_path,
        env=env,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


@_LINUX
@pytest.mark.parametrize(
    "name",
    ["freeze", *(pytest.param(name, marks=pytest.mark.long) for name in list(_COMMANDS)[1:])],
)
def test_a_script_of_a_call_does_not_get_rid_of_its_mark(tmp_path: Path, name: str) -> None:
    place_in(tmp_path)
    # The shell of the call waits for it: `; true` keeps it from becoming the command itself.
    script = f"env -u PLACET_CALL {_PLACET} {_COMMANDS[name]}; echo $?; true"
    done = _ran(tmp_path, script, PLACET_CALL="1")
    assert "is for people only, and this command was started by a tool call" in done.stderr
    assert done.stdout == "2\n"


def test_a_person_freezes_and_lifts(tmp_path: Path) -> None:
    place_in(tmp_path)
    unfreeze = shlex.join(placet(*_COMMANDS["unfreeze"].split()))
    script = f"{_PLACET} {_COMMANDS['freeze']} && {unfreeze}; echo $?; true"
    done = _ran(tmp_path, script)
    assert done.stderr == ""
    first, told, lifted, code = done.stdout.splitlines()
    assert first.endswith(": every tool, because x")
    assert (told, lifted, code) == ("unfrozen:", first, "0")


@_LINUX
def test_code_that_calls_a_command_is_refused_like_the_command(tmp_path: Path) -> None:
    place_in(tmp_path)
    code = "import runpy; runpy.run_module('policy', run_name='__main__')"
    script = f'env -u PLACET_CALL {sys.executable} -c "{code}" {_COMMANDS["freeze"]}; echo $?; true'
    done = _ran(tmp_path, script, PLACET_CALL="1")
    assert "is for people only, and this command was started by a tool call" in done.stderr
    assert done.stdout == "2\n"
