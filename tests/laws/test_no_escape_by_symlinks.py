"""No allowed script leaves its workspace by symbolic links that it makes."""

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

inside: allow bash_exec when runs only anything and reads only workspace
    and writes only workspace and connects only to nothing and sends only to nothing
"""
_SECRET = "what stands outside"

_PATHS = st.sampled_from(
    ["a", "a/s", "a/s/m", "b", "b/m", "b/s/m", "out", "out/m", "out/s/m", "out/a/s/m", "m", "f",
     "l", "l/f", "l/outside.txt", "b/outside.txt", "out/outside.txt", "l/../f", "out/", "a/.",
     "in", "in/m", "in/s/m", "b/in", "b/in/m", "far", "out/f"]
)  # fmt: skip
_MAKERS = (
    "ln -s {one} {two}", "ln -sfn {one} {two}", "ln {one} {two}", "ln -s .. {two}",
    "ln -s ../outside.txt {two}", "mv {one} {two}", "mv -t {two} {one}", "cp -r {one} {two}",
    "cp -a {one} {two}", "cp -P {one} {two}", "cp -dT {one} {two}", "cp -rt {two} {one}",
    "cp -s {one} {two}", "cp -l {one} {two}", "cp {one} {two}", "mkdir -p {two}", "rm -rf {two}",
    "tar cf x.tar {one}; tar xf x.tar -C {two}", "cd {two}", "touch {two}",
)  # fmt: skip
_USES = ("cat {one}", "cat < {one}", "cp {one} g; cat g", "echo evil > {one}",
         "head -c9 f | tee {one}", "head -n1 .?/{one}")  # fmt: skip
_JOINED = ("{}; {}", "{} && {}", "{}\n{}", "{} | {}", "for i in 1 2; do {}; {}; done", "({}); {}",
           "bash -c '{}'; {}", "f() {{ {}; }}; f; {}", "{} & wait; {}")  # fmt: skip


@st.composite
def scripts(draw: st.DrawFn) -> str:
    """Draw a script that makes links, or might, and then uses files."""

    def command(shapes: tuple[str, ...]) -> str:
        return draw(st.sampled_from(shapes)).format(one=draw(_PATHS), two=draw(_PATHS))

    made = "; ".join(command(_MAKERS) for _ in range(draw(st.integers(1, 3))))
    return draw(st.sampled_from(_JOINED)).format(made, command(_USES))


@pytest.fixture(scope="module")
def generation(tmp_path_factory: pytest.TempPathFactory) -> policy.Generation:
    file: Path = tmp_path_factory.mktemp("links") / "global.policy"
    file.write_text(_POLICY)
    return policy.load(file)


@contextmanager
def workspace() -> Iterator[Path]:
    """Make a workspace in which there are plain files, and links that lead out of it."""
    with TemporaryDirectory() as folder:
        here = Path(os.path.realpath(folder)) / "ws"
        for name in ("a/s", "b", "out"):
            (here / name).mkdir(parents=True)
        for name in ("f", "a/f", "a/s/f", "b/f"):
            (here / name).write_text("plain\n")
        (here / "a/m").symlink_to("../../outside.txt")
        (here / "a/s/m").symlink_to("../../../outside.txt")
        (here / "a/s/up").symlink_to("../../..")
        # Links within the workspace, to where others may be made.
        (here / "in").symlink_to("out")
        (here / "b/in").symlink_to("../out/s")
        (here / "far").symlink_to("in/f")
        (here.parent / "outside.txt").write_text(_SECRET)
        yield here


@pytest.mark.parametrize("shell", [each for each in ("bash", "dash") if shutil.which(each)])
@settings(max_examples=examples(150), suppress_health_check=list(HealthCheck), deadline=None)
@example(script="ln -s . l; ln -s ../outside.txt l/z; cat z")
@example(script="mv a/s b; cat b/s/m")
@example(script="cat .?/outside.txt")
@given(script=scripts())
def test_an_allowed_script_stays_in_the_workspace(
    script: str, generation: policy.Generation, shell: str
) -> None:
    with workspace() as here:
        if not allows(generation, script, here):
            return
        env = {"PATH": os.environ["PATH"], "HOME": str(here.parent), "LC_ALL": "C.UTF-8"}
        assert _SECRET not in run(shell, script, folder=here, env=env)
        beside = {each.name for each in here.parent.iterdir()}
        assert beside == {"ws", "outside.txt"}
        assert (here.parent / "outside.txt").read_text() == _SECRET


# What people write every day, of files that are none.
EVERYDAY = [
    "mkdir -p out && cp f out/ && cat out/f",
    "mv f g && cat g",
    "mv f out/ && cat out/f",
    "cp -r b c && cat c/f",
    "cp -a b/. out/ && cat out/f",
    "cp -r b out && ls out && cat out/b/f",
    "mv f f.bak && sed s/a/b/ f.bak > f && cat f",
    "mv b lib && ls lib && grep -r foo lib",
    "ln -s f l",
    "ln -sf ../f out/l",
    "tar czf x.tgz b && tar tzf x.tgz",
    "tar xzf x.tgz -C out && ls out",
    "rm -rf out && mkdir out && cp f out/x && cat out/x",
    "chmod -R u+w b && cat b/f",
    "cat f; tar xf x.tar",
    'for i in b/*.py; do cp "$i" out/; done; ls out',
    "sudo mv f g",
]


@pytest.mark.parametrize("script", EVERYDAY)
def test_ordinary_scripts_are_allowed(script: str, generation: policy.Generation) -> None:
    with workspace() as here:
        assert allows(generation, script, here)
