"""No script that may run programs of its workspace runs one of another folder."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

import policy
from tests.examples import examples
from tests.laws.real_shells import run
from tests.laws.workspaces import allows

_POLICY = """\
policy for every agent

default deny

commands making = "ln *", "cp *", "mv *", "mkdir *", "rm *", "set *"
inside: allow bash_exec when runs only ["./** *", making]
"""
_OUTSIDE = "ran outside"
_MOVES = ("cd sub", "cd ..", "cd ../sub", "cd beside", "cd {ws}", "cd nosuch", "pushd sub", "popd",
          "cd {ws}/beside", "cd -", "cd")  # fmt: skip
_PROGRAMS = ("./t", "sub/t", "../t", "../out/t", "beside/t", "./l", "sub/l", "{ws}/t", "t", "./n",
             "{ws}/../out/t", "./sub/../../out/t", "beside/../t", "~/out/t", "sub/n", ". ./t",
             "./t -x", "timeout 5 ./t", "n/t", "./beside/./t", "command ./l", "exec ./l",
             "./[tl]")  # fmt: skip
_MAKERS = ("ln -s ../out/t n", "ln -sfn ../out sub", "ln -sf ../out/t t", "cp -P l n", "mv l n",
           "mv sub n", "cp -r sub n", "ln -s {ws}/../out n", "rm t", "mkdir n", "cp t n",
           "PATH={ws}/../out", "mv beside n", "ln -sf t l")  # fmt: skip
_JOINED = ("{}; {}", "{} && {}", "{} || {}", "{}\n{}", "{} | {}", "for i in 1 2; do {}; {}; done",
           "({}); {}", "bash -c '{}'; {}", "f() {{ {}; }}; f; {}", "{} & wait; {}",
           "eval '{}'; {}", "if {}; then {}; fi", "x=$({}); {}", "set -e; {}; {}")  # fmt: skip


@st.composite
def scripts(draw: st.DrawFn, depth: int = 2) -> str:
    """Draw a script that changes folders and links, and runs programs by their paths."""
    if not depth or draw(st.integers(0, 3)) == 0:
        return draw(st.sampled_from(draw(st.sampled_from([_MOVES, _PROGRAMS, _PROGRAMS, _MAKERS]))))
    shape = draw(st.sampled_from(_JOINED))
    return shape.format(draw(scripts(depth - 1)), draw(scripts(depth - 1)))


@pytest.fixture(scope="module")
def generation(tmp_path_factory: pytest.TempPathFactory) -> policy.Generation:
    file: Path = tmp_path_factory.mktemp("programs") / "global.policy"
    file.write_text(_POLICY)
    return policy.load(file)


@contextmanager
def workspace() -> Iterator[Path]:
    """Make a workspace with programs, with links to one outside, and that one."""
    with TemporaryDirectory() as folder:
        here = Path(os.path.realpath(folder)) / "ws"
        outside = here.parent / "out"
        for program, printed in (
            (here / "t", "inside"), (here / "sub/t", "inside"), (outside / "t", _OUTSIDE),
        ):  # fmt: skip
            program.parent.mkdir(parents=True, exist_ok=True)
            program.write_text(f"#!/bin/sh\necho {printed}\n")
            program.chmod(0o755)
        (here / "l").symlink_to("../out/t")
        (here / "sub/l").symlink_to("../t")
        (here / "beside").symlink_to("../out")
        yield here


@pytest.mark.parametrize("shell", [each for each in ("bash", "dash") if shutil.which(each)])
@settings(max_examples=examples(150), suppress_health_check=list(HealthCheck), deadline=None)
@example(script="cd sub && ./t && ../t")
@example(script="cd sub; ../sub/t")
@example(script="ln -sfn ../out sub; sub/t")
@example(script="cd sub; ./l")
@example(script="mv l n; ./n")
@given(script=scripts())
def test_an_allowed_script_runs_only_programs_of_the_workspace(
    script: str, generation: policy.Generation, shell: str
) -> None:
    with workspace() as here:
        script = script.replace("{ws}", str(here))
        if not allows(generation, script, here):
            return
        env = {"PATH": os.environ["PATH"], "HOME": str(here.parent), "LC_ALL": "C.UTF-8"}
        assert _OUTSIDE not in run(shell, script, folder=here, env=env, only=here.parent)


@pytest.mark.parametrize(
    "script",
    [
        "./t",
        "cd sub && ./t && ../t",
        "./t -x | sub/l",
        "{ws}/t",
        "timeout 5 ./t; ./t",
        "mkdir n && ./t",
    ],
)
def test_its_own_programs_run(script: str, generation: policy.Generation) -> None:
    with workspace() as here:
        script = script.replace("{ws}", str(here))
        assert allows(generation, script, here)
        env = {"PATH": os.environ["PATH"], "HOME": str(here.parent), "LC_ALL": "C.UTF-8"}
        assert "inside" in run("/bin/bash", script, folder=here, env=env, only=here.parent)
