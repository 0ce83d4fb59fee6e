"""No allowed script builds in a folder outside of its workspace."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
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

commands builds = "make *", "make -C * *", "sh *.sh *", "./** *", "env *", "env -C * *"
commands others = "pushd *", "popd", "ln *", "set *", "trap *", "command *", "eval *", "bash -c *"
build: allow bash_exec when runs only [builds, others]
fence: deny bash_exec when reads outside workspace
"""
_OUTSIDE = "built outside"
_MOVES = ("cd sub", "cd ..", "cd ../sub", "cd beside", "cd {ws}", "cd nosuch", "pushd sub", "popd",
          "cd {ws}/beside", "cd -", "cd", "cd sub/deep", "pushd ..", "cd ../..", "set -e",
          "ln -sfn ../out sub", "ln -s .. up", "cd up")  # fmt: skip
_BUILDS = ("make", "make -s all", "make -C sub", "make -C ..", "env -C sub make", "./t", "{ws}/t",
           "timeout 5 make", "env -C .. make", "sh {ws}/t.sh", "sh t.sh", "command make",
           "bash -c make", "make -C beside", "make -f Makefile")  # fmt: skip
_JOINED = ("{}; {}", "{} && {}", "{} || {}", "{}\n{}", "{} | {}", "for i in 1 2; do {}; {}; done",
           "({}); {}", "({} && {})", "bash -c '{}'; {}", "f() {{ {}; }}; f; {}", "{} & wait; {}",
           "eval '{}'; {}", "if {}; then {}; fi", "x=$({}); {}", "trap '{}' EXIT; {}",
           "while {}; do {}; break; done")  # fmt: skip


@st.composite
def scripts(draw: st.DrawFn, depth: int = 3) -> str:
    """Draw a script that changes folders, and builds there."""
    if not depth or draw(st.integers(0, 4)) == 0:
        return draw(st.sampled_from(draw(st.sampled_from([_MOVES, _MOVES, _BUILDS]))))
    shape = draw(st.sampled_from(_JOINED))
    return shape.format(draw(scripts(depth - 1)), draw(scripts(depth - 1)))


@pytest.fixture(scope="module")
def generation(tmp_path_factory: pytest.TempPathFactory) -> policy.Generation:
    file: Path = tmp_path_factory.mktemp("builds") / "global.policy"
    file.write_text(_POLICY)
    return policy.load(file)


@pytest.fixture
def here() -> Iterator[Path]:
    with TemporaryDirectory() as folder:
        workspace = Path(os.path.realpath(folder)) / "ws"
        make_files(workspace)
        yield workspace


def make_files(workspace: Path) -> None:
    """Put a makefile and scripts into the folders of a workspace, and into those outside."""
    outside = workspace.parent / "out"
    for place in (workspace / "sub/deep", outside):
        place.mkdir(parents=True)
    for place, printed in (
        (workspace, "inside"), (workspace / "sub", "inside"), (workspace / "sub/deep", "inside"),
        (outside, _OUTSIDE), (workspace.parent, _OUTSIDE),
    ):  # fmt: skip
        (place / "Makefile").write_text(f"all:\n\t@echo {printed}\n")
        # Scripts that act on the folder that they run in.
        for name in ("t", "t.sh"):
            (place / name).write_text("#!/bin/sh\ngrep -h echo Makefile\n")
            (place / name).chmod(0o755)
    (workspace / "beside").symlink_to("../out")


@pytest.mark.skipif(shutil.which("make") is None, reason="needs make")
@settings(
    max_examples=examples(150),
    suppress_health_check=list(HealthCheck),
    deadline=None,
)
@example(script="cd sub && make && cd .. && make")
@example(script="cd sub; make; cd ..; make")
@example(script="cd .. && make")
@example(script="cd .. && {ws}/t")
@example(script="env -C .. make")
@example(script="ln -sfn ../out sub; cd sub && make")
@given(script=scripts())
def test_an_allowed_script_builds_only_in_the_workspace(
    script: str, generation: policy.Generation
) -> None:
    with TemporaryDirectory() as folder:
        here = Path(os.path.realpath(folder)) / "ws"
        make_files(here)
        script = script.replace("{ws}", str(here))
        if not allows(generation, script, here):
            return
        env = {"PATH": os.environ["PATH"], "HOME": str(here.parent), "LC_ALL": "C.UTF-8"}
        printed = run("/bin/bash", script, folder=here, env=env, only=here.parent, seconds=5.0)
        assert _OUTSIDE not in printed


@pytest.mark.parametrize(
    "script",
    ["make", "cd sub && make", "cd sub && make && cd .. && make", "make -C sub", "cd {ws} && make",
     "cd sub; make", "(cd sub && ./t); ./t", "pushd sub && make && popd && sh t.sh"],
)  # fmt: skip
def test_it_builds_there(script: str, generation: policy.Generation, here: Path) -> None:
    script = script.replace("{ws}", str(here))
    assert allows(generation, script, here)
    env = {"PATH": os.environ["PATH"], "HOME": str(here.parent), "LC_ALL": "C.UTF-8"}
    assert "inside" in run("/bin/bash", script, folder=here, env=env, only=here.parent)
