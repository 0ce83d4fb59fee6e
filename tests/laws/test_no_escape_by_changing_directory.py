"""No allowed script leaves its workspace by changing directories."""

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

inside: allow bash_exec when runs only anything and reads only workspace
    and writes only workspace and connects only to nothing and sends only to nothing
"""
_SECRET = "what stands outside"
_MOVES = ("cd sub", "cd sub", "cd deep", "cd ..", "cd ../sub", "cd nosuch", "pushd sub", "popd",
          "pushd nosuch", "cd sub/deep", "cd", "cd -", "pushd", "cd {ws}",
          "cd {ws}/sub")  # fmt: skip
_OTHERS = ("true", "false", "exit 1", "exit", "set -e", "set +e", "die", "go", "echo x > nosuch/y",
           "exit 1 2", "exit 1 > nosuch/y", "return 1", "break", "set -eu", "unset -f die",
           "eval cd ..", "X=1 exit 1", "command exit 1", "exit $?", "die x > nosuch/y",
           "trap die EXIT", "trap 'cat ../outside.txt' EXIT",
           "command trap 'cat ../outside.txt' EXIT", "trap 'cd ..' DEBUG", "trap go ERR",
           "time exit 1",
           "builtin set -e", "set -e > nosuch/y", "time cd sub",
           "trap - ERR", "kill -USR1 $$", "trap go USR1")  # fmt: skip
_READS = ("cat outside.txt", "cat ../outside.txt", "cat ../../outside.txt")
_JOINED = ("{}; {}", "{} && {}", "{} || {}", "{}\n{}", "{} | {}", "{} & wait; {}")
_AROUND = (
    "{{ {}; }}", "({})", "if {}; then {}; fi", "if ! {}; then {}; fi", "! {}",
    "if {}; then {}; else {}; fi", "for i in 1 2; do {}; done", "while {}; do {}; break; done",
    "die() {{ {}; }}", "go() {{ {}; }}", "go() {{ {}; }}; {}", "die() {{ exit 1; }}; {}",
    "case a in a) {};; b) {};; esac", "case a in a) {};& b) {};; esac", "x=$({})",
    "{{ {}; }} > nosuch/y", "{{ {}; exit 1; }}", "bash -c '{}'", "until {}; do {}; done",
)  # fmt: skip


@st.composite
def scripts(draw: st.DrawFn, depth: int = 3) -> str:
    """Draw a script that changes folders, and may end, and reads what may be outside."""
    kind = draw(st.integers(0, 9)) if depth else 0
    if kind < 3:
        return draw(st.sampled_from(draw(st.sampled_from([_MOVES, _OTHERS, _READS, _MOVES]))))
    shape = draw(st.sampled_from(_JOINED if kind < 8 else _AROUND))
    parts = [draw(scripts(depth - 1)) for _ in range(shape.count("{}"))]
    return shape.format(*parts)


@pytest.fixture(scope="module")
def generation(tmp_path_factory: pytest.TempPathFactory) -> policy.Generation:
    file: Path = tmp_path_factory.mktemp("folders") / "global.policy"
    file.write_text(_POLICY)
    return policy.load(file)


@pytest.fixture(scope="module")
def here() -> Iterator[Path]:
    with TemporaryDirectory() as folder:
        workspace = Path(os.path.realpath(folder)) / "ws"
        (workspace / "sub" / "deep").mkdir(parents=True)
        (workspace.parent / "outside.txt").write_text(_SECRET)
        yield workspace


@pytest.mark.parametrize("shell", [each for each in ("bash", "dash") if shutil.which(each)])
@settings(max_examples=examples(80), suppress_health_check=list(HealthCheck), deadline=None)
@example(script="cd sub && trap 'cat ../outside.txt' EXIT && cd ..")
@example(script="go() { cd ..; }; cd {ws} && go && cat outside.txt")
@example(script="cd sub && command trap 'cat ../outside.txt' EXIT && cd ..")
@example(script="cd sub && eval \"trap 'cat ../outside.txt' EXIT\" && cd {ws}")
@example(script="command trap 'cd ..' DEBUG; cd {ws} && cat outside.txt")
@example(script="trap 'cd ..' DEBUG; cd {ws} && cat outside.txt")
@example(script="cd nosuch || exit 1 | cat; cat ../outside.txt")
@example(script="set -e; { cd nosuch && true; }; cat ../outside.txt")
@given(script=scripts())
def test_an_allowed_script_reads_nothing_outside_the_workspace(
    script: str, generation: policy.Generation, here: Path, shell: str
) -> None:
    script = script.replace("{ws}", str(here))
    if not allows(generation, script, here):
        return
    env = {"PATH": os.environ["PATH"], "HOME": str(here.parent), "LC_ALL": "C.UTF-8"}
    assert _SECRET not in run(shell, script, folder=here, env=env, seconds=5.0)
