"""Words that consist of parts: a wildcard of a pattern stays within one of them."""

from __future__ import annotations

import os
import subprocess
from fnmatch import fnmatchcase
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from policy.programs import CommandPattern, ScriptAnalysis, analyse_script, runs_any
from policy.programs import read_command_pattern as read
from tests.examples import examples
from tests.unit.programs.patterns.test_shipped_coverage import PROFILES, covered

_NOTHING = {
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_AUTHOR_NAME": "a",
    "GIT_AUTHOR_EMAIL": "a@b.example",
    "GIT_COMMITTER_NAME": "a",
    "GIT_COMMITTER_EMAIL": "a@b.example",
    "PATH": os.environ["PATH"],
}


@pytest.mark.parametrize(
    ("command", "item"),
    [
        ("git push origin bot/fix", "git push origin bot/*"),
        ("git push origin bot/c++", "git push origin bot/*"),
        ("git push origin HEAD:bot/fix", "git push origin HEAD:bot/*"),
        ("git push origin a:b", "git push origin *"),
        ("git push origin a:b", "git push *"),
        ("git fetch origin +a:b", "git fetch origin +*:*"),
        ("scp a/b:c x", "scp a/* x"),
        ("scp host:/srv/a:b .", "scp host:/srv/* ."),
        ('scp "host:/srv/$x" .', "scp host:/srv/* ."),
        ("rsync -a out host:/x", "rsync -a out* host:/*"),
        ("docker run -v ./src:/src img", "docker run -v ./src:/src img"),
        ("docker run -v ./src:/src img", "docker run -v ./*:/src img"),
        ("docker run -e A=b=c img", "docker run -e A=* img"),
        ("docker run -e A=b img", "docker run -e * img"),
        ("foo --output=a=b", "foo --output=*"),
        ("foo a=b", "foo *"),
        ("foo a/x=b", "foo a*"),
    ],
)
def test_a_wildcard_covers_characters_of_one_part(command: str, item: str) -> None:
    assert covered(command, item) is True


@pytest.mark.parametrize(
    ("command", "item"),
    [
        ("git push origin bot/fix:main", "git push origin bot/*"),
        ("git push origin bot/fix:", "git push origin bot/*"),
        ("git push origin bot/a:refs/heads/main", "git push origin bot/*"),
        ("git push origin HEAD:bot/x:main", "git push origin HEAD:bot/*"),
        ('git push origin "bot/$x"', "git push origin bot/*"),
        ("git fetch origin +x", "git fetch origin ?*"),
        ("git fetch origin a:b", "git fetch origin a*"),
        ("git pull origin a:b", "git pull origin a*"),
        ("scp a:b x", "scp a* x"),
        ("scp host::/srv .", "scp host:* ."),
        ("rsync -a src a.example:/x", "rsync -a src a*"),
        ("docker run -v ./src:/src img", "docker run -v ./s* img"),
        ("docker run -v ./src:/src:rw img", "docker run -v ./src:/* img"),
        ("docker run --mount type=bind,src=/a,dst=/b i", "docker run --mount type=* i"),
        ("docker run -p 80:80:80 img", "docker run -p 80:* img"),
        ("docker exec -e AB=c box ls", "docker exec -e A* box ls"),
        ("docker exec -e AB=C=c box ls", "docker exec -e A*=c box ls"),
        ("foo --output=a", "foo --out*"),
        ("foo AB=c", "foo A*"),
    ],
)
def test_a_wildcard_covers_no_separator(command: str, item: str) -> None:
    assert covered(command, item, "ls *") is None


def _may_run(command: str, item: str) -> bool:
    analysis, pattern = analyse_script(command, PROFILES), read(item, PROFILES)
    assert isinstance(analysis, ScriptAnalysis)
    assert isinstance(pattern, CommandPattern)
    return runs_any(analysis.commands[0], [pattern]) is not False


@pytest.mark.parametrize("word", ["x:main", "+main", "+x:main", "HEAD:refs/heads/main", ":main"])
def test_a_pattern_that_denies_a_branch_matches_all_that_writes_it(word: str) -> None:
    assert _may_run(f"git push origin {word}", "git push * main")


@pytest.mark.parametrize("word", ["main:bot/x", "bot/main", "main2", "bot/x:bot/main"])
def test_a_pattern_that_denies_a_branch_matches_no_other(word: str) -> None:
    assert not _may_run(f"git push origin {word}", "git push * main")


# Patterns of a refspec, and of the branches that it names.
_ITEMS = {"bot/*": "bot/*", "HEAD:bot/*": "bot/*", "*ot/a": "bot/a", "?*:bot/?": "bot/?"}
_PIECES = ("a", "a", "b", ":main", ":refs/heads/", "other", "bot/", "+", ":", "HEAD", "^")


@pytest.fixture(scope="module")
def origin(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a repository with branches, whose remote `origin` starts with the first commit."""
    folder = tmp_path_factory.mktemp("pushing")
    _git(folder, "init", "-q", "--bare", "there")
    _git(folder, "init", "-q", "-b", "main", "here")
    here = folder / "here"
    _git(here, "commit", "-q", "--allow-empty", "-m", "first")
    _git(here, "remote", "add", "origin", "../there")
    _git(here, "branch", "bot/a")
    _git(here, "push", "-q", "origin", "main:main", "main:bot/a", "main:other")
    _git(here, "commit", "-q", "--allow-empty", "-m", "second")
    for branch in ("bot/a", "other", "x"):
        _git(here, "branch", "-f", branch)
    return here


def _git(folder: Path, *words: str) -> str:
    done = subprocess.run(
        ["git", *words], cwd=folder, env=_NOTHING, capture_output=True, text=True, check=False
    )
    return done.stdout


@st.composite
def _pushes(draw: st.DrawFn) -> tuple[str, str]:
    """Draw a pattern, and a refspec that it matches as a text."""
    item = draw(st.sampled_from(sorted(_ITEMS)))
    pieces = st.lists(st.sampled_from(_PIECES), min_size=1, max_size=3).map("".join)
    return item, "".join(draw(pieces) if char in "*?" else char for char in item)


@settings(max_examples=examples(60), deadline=None)
@given(push=_pushes())
@example(push=("bot/*", "bot/a:main"))
def test_git_moves_only_branches_that_a_covering_pattern_names(
    origin: Path, push: tuple[str, str]
) -> None:
    item, word = push
    if not covered(f"git push origin '{word}'", f"git push origin {item}"):
        return
    shown = _git(origin, "push", "--dry-run", "--porcelain", "origin", word)

    moved = [line.split("\t")[1].rpartition(":")[2] for line in shown.splitlines() if "\t" in line]
    names = [name.removeprefix("refs/heads/") for name in moved]
    assert all(fnmatchcase(name, _ITEMS[item]) for name in names), (word, names)


@pytest.mark.parametrize(
    ("command", "item"),
    [
        ('docker run -e "A=$x" img', "docker run -e A* img"),
        ('scp "host:/srv/$x" .', "scp h* ."),
        ('foo "a=$x"', "foo a*"),
    ],
)
def test_nor_a_separator_beside_a_variable(command: str, item: str) -> None:
    assert covered(command, item) is None
