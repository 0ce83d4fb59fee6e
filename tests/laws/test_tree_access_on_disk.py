"""What is allowed on trees and wildcards never touches forbidden files, as real programs show.

Each workspace holds files of names that a rule forbids, and links that lead out of it, at places
drawn anew. A script that is allowed is run, and what it printed and changed is looked at.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import policy
from tests.examples import examples
from tests.laws.real_shells import run
from tests.laws.workspaces import allows

_OUTSIDE = "OUTSIDE-4711"
_KEY = "KEY-0815"
_POLICY = """\
policy for every agent

default deny
act: allow bash_exec when runs only anything and reads only workspace and writes only workspace
keys: deny bash_exec when reads ["**/.env", "**/id_rsa", "**/keys/**"]
kept: deny bash_exec when writes "**/.git/**"
"""
_FOLDERS = ("a", "a/b", "c", "c/d", "ee", ".h")
_LINKS = ("l", "a/l", "a/b/l", "c/d/l", ".h/l")
_TARGETS = ("outside", "outside/o.txt", "ws/c", "ws/a", "ws", "outside/sub")
_SECRET = (".env", "id_rsa", "keys/k.txt")


@st.composite
def layouts(draw: st.DrawFn) -> tuple[tuple[str, str], ...]:
    """Draw what stands in a workspace: secret files, folders of git, and links."""
    secrets = st.tuples(
        st.just("key"),
        st.builds("{}/{}".format, st.sampled_from(_FOLDERS), st.sampled_from(_SECRET)),
    )
    git = st.tuples(st.just("git"), st.sampled_from(("", *_FOLDERS)))
    links = st.tuples(
        st.just("link"),
        st.builds("{}>{}".format, st.sampled_from(_LINKS), st.sampled_from(_TARGETS)),
    )
    return tuple(draw(st.lists(st.one_of(secrets, git, links), max_size=4)))


_PLACES = st.sampled_from(
    (
        ".", "a", "a/b", "c", "c/d", "*", "*/", "./*", "a/*", "*/*", "*/l", "*/l/", "*/l/o.txt",
        "?/l/*", "[ac]/*", "[!x]/l/o.txt", "*/../a/*", "*/../*/l/o.txt", ".*", "*/.*", ".h/*",
        "**/l/o.txt", "**/*", "**", "c/../*/b/*", "*/id_*", "*/.e*", "*/../.h/.e*", "{a,c}/*",
        "a/{b,x*}/l/o.txt", "[[:alpha:]]/*", "\\a/*", '"a"/*/o.txt', "a/../c/*/", "*/b/../l/*",
    )
)  # fmt: skip
_READS = (
    "cat -- @", "head -n9 -- @", "grep -r '' -- @", "grep -R '' -- @", "grep -rh -e '' -- @",
    "cp -r -- @ /tmp/none || cp -r -- @ out; cat -- out/*", "tar -cf - -- @", "tar -chf - -- @",
    "diff -r -- @ ee", "for f in @; do cat -- \"$f\"; done",
    "for d in @; do cat -- \"$d\"/*; done",
    "find @ -type f -exec cat -- '{}' +", "find -L @ -type f -exec cat -- '{}' ';'",
    "find @ -print0 | xargs -0 cat --", "cat < @", "bash -c 'cat -- @'", "( cat -- @ )",
    "mkdir -p zz && cat -- @", "find @ -name '*.txt' -exec cat -- '{}' +",
    "cp -rL -- @ out && grep -r '' out", "find @ -name .env -exec cat -- '{}' +",
    "shopt -s dotglob; cat -- @", "shopt -s globstar; cat -- @", "cp a/f.txt id_rsa; cat -- @",
    "mv -- @ out; grep -r '' -- out", "wc -l -- @; sort -- @", "cat -- @ | tee out.txt",
)  # fmt: skip
_CHANGES = (
    "rm -rf -- @", "rm -- @", "echo x > @", "echo x >> @", "chmod -R 700 -- @", "touch -- @",
    "cp a/f.txt @", "mv -- @ out", "find @ -delete", "find @ -name 'c*' -delete",
    "find @ -name config -exec rm -- '{}' +", "tee -- @ < a/f.txt", "sed -i s/./x/ -- @",
    "for f in @; do echo x > \"$f\"; done", "truncate -s 0 -- @", "cp -r -- a @",
)  # fmt: skip


@st.composite
def scripts(draw: st.DrawFn) -> str:
    """Draw a command that reads or changes what a wildcard names, or a tree."""
    shape: str = draw(st.sampled_from(_READS + _CHANGES))
    place: str = draw(_PLACES)
    return shape.replace("@", place)


@pytest.fixture(scope="module")
def generation(tmp_path_factory: pytest.TempPathFactory) -> policy.Generation:
    file: Path = tmp_path_factory.mktemp("trees") / "global.policy"
    file.write_text(_POLICY)
    return policy.load(file)


@contextmanager
def workspace(layout: tuple[tuple[str, str], ...]) -> Iterator[Path]:
    """Make a workspace with what was drawn in it, beside a folder that nobody may reach."""
    with TemporaryDirectory() as folder:
        top = Path(os.path.realpath(folder))
        here = top / "ws"
        for name in _FOLDERS:
            (here / name).mkdir(parents=True)
            (here / name / "f.txt").write_text("plain\n")
        (top / "outside/sub").mkdir(parents=True)
        (top / "outside/o.txt").write_text(_OUTSIDE)
        (top / "outside/sub/o.txt").write_text(_OUTSIDE)
        for kind, name in layout:
            if kind == "key":
                (here / name).parent.mkdir(exist_ok=True)
                (here / name).write_text(_KEY)
            elif kind == "git":
                (here / name / ".git").mkdir(exist_ok=True)
                (here / name / ".git/config").write_text("kept\n")
            else:
                link, target = name.split(">")
                if not (here / link).is_symlink():
                    (here / link).symlink_to(os.path.relpath(top / target, (here / link).parent))
        yield here


def state(folder: Path) -> dict[str, tuple[int, bytes]]:
    """Return what stands in a folder, with modes and contents."""
    return {
        str(each.relative_to(folder)): (
            each.stat().st_mode,
            each.read_bytes() if each.is_file() else b"",
        )
        for each in sorted(folder.rglob("*"))
    }


def kept(here: Path) -> dict[str, tuple[int, bytes]]:
    """Return what stands in all folders of git."""
    return {
        f"{each.relative_to(here)}/{name}": found
        for each in sorted(here.rglob(".git"))
        for name, found in state(each).items()
    }


@pytest.mark.parametrize("shell", [each for each in ("bash", "dash") if shutil.which(each)])
@settings(max_examples=examples(400), suppress_health_check=list(HealthCheck), deadline=None)
@given(layout=layouts(), script=scripts())
def test_an_allowed_command_accesses_nothing_forbidden(
    layout: tuple[tuple[str, str], ...], script: str, generation: policy.Generation, shell: str
) -> None:
    with workspace(layout) as here:
        if not allows(generation, script, here):
            return
        before, git = state(here.parent / "outside"), kept(here)
        env = {"PATH": os.environ["PATH"], "HOME": str(here.parent), "LC_ALL": "C.UTF-8"}
        said = run(shell, script, folder=here, env=env, only=here.parent)
        assert _OUTSIDE not in said
        assert _KEY not in said
        assert state(here.parent / "outside") == before
        assert {name: found for name, found in kept(here).items() if name in git} == git
