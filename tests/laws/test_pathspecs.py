"""What is allowed with pathspecs of git touches no forbidden file, as the real git shows."""

from __future__ import annotations

import os
import shlex
import subprocess
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import policy
from tests.examples import examples
from tests.laws.workspaces import allows

_POLICY = """\
policy for every agent

default deny
act: allow bash_exec when runs only anything and reads only workspace and writes only workspace
keys: deny bash_exec when reads ["**/.env", "**/id_rsa", "**/sub/k.y"]
kept: deny bash_exec when writes ["**/.env", "**/id_rsa", "**/sub/k.y"]
"""
_FORBIDDEN = (".env", "src/.env", "src/sub/.env", "keys/id_rsa", ".h/id_rsa", "src/sub/k.y")
_OTHERS = ("a.py", "src/m.py", "src/sub/n.py", "keys/pub", "x/y")
_COMMANDS = (
    "git grep --no-index -l KEY -- {}",
    "git grep --untracked --no-exclude-standard -l -e KEY -- {}",
    "git add -fn -- {}",
    "git add --force --dry-run {}",
    "git clean -ffdx -- {}",
)
_PIECES = (
    "*", "*", "?", "[a-z]", "[!x]", "[^/]", "**", "/", "/", "src", "sub", "keys", "x", ".e",
    "nv", ".env", "id_rsa", "\\.", "\\k", "k", ".py", ".", "e", "y", "s",
)  # fmt: skip
_EXCLUDES = (":!x", ":^x", ":(exclude)x", ":(exclude,top)x", ":!*.py", ":(exclude,icase)X", ":!")


@st.composite
def _scripts(draw: st.DrawFn) -> str:
    """Draw a command of git with pathspecs, quoted or not, some of which only exclude files."""
    specs = draw(st.lists(st.lists(st.sampled_from(_PIECES), max_size=5).map("".join), max_size=2))
    specs = [spec for spec in specs if spec and not spec.startswith("/")]
    if draw(st.booleans()) or not specs:
        specs.append(draw(st.sampled_from(_EXCLUDES)))
    quoted = draw(st.booleans())
    words = [shlex.quote(one) if quoted or one.startswith(":") else one for one in specs]
    return draw(st.sampled_from(_COMMANDS)).format(" ".join(words))


@pytest.fixture(scope="module")
def generation(tmp_path_factory: pytest.TempPathFactory) -> policy.Generation:
    file: Path = tmp_path_factory.mktemp("pathspecs") / "global.policy"
    file.write_text(_POLICY)
    return policy.load(file)


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    here = Path(os.path.realpath(tmp_path_factory.mktemp("repository")))
    for name in (*_FORBIDDEN, *_OTHERS):
        (here / name).parent.mkdir(parents=True, exist_ok=True)
        (here / name).write_text("KEY\n")
    _shown("git init -q", here)
    return here


def _shown(script: str, folder: Path) -> str:
    settings = {"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull, "LC_ALL": "C"}
    done = subprocess.run(
        ["bash", "-c", script],
        cwd=folder,
        env={"PATH": os.environ["PATH"], **settings},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout


def _touched(shown: str) -> set[str]:
    """Return the forbidden files that git names, or removes with the folder above them."""
    named = {line.strip().split(" ")[-1].strip("'") for line in shown.splitlines()}
    return {
        name
        for name in _FORBIDDEN
        if name in named or any(one.endswith("/") and name.startswith(one) for one in named)
    }


@settings(max_examples=examples(150), deadline=None)
@given(script=_scripts())
@example(script="git grep --no-index -l KEY -- ':!x'")
@example(script="git grep --no-index -l KEY -- 'src/*'")
@example(script="git grep --no-index -l KEY -- '\\.env'")
@example(script="git grep --no-index -l KEY -- *nv")
@example(script="git grep --no-index -l KEY -- 'src?.env'")
@example(script="git add -fn -- 'k*'")
@example(script="git clean -ffdx -- 'key??'")
def test_an_allowed_command_touches_no_forbidden_file(
    generation: policy.Generation, repository: Path, script: str
) -> None:
    if allows(generation, script, repository):
        # Deleting is only told.
        shown = _shown(script.replace("clean -", "clean -n"), repository)
        assert not _touched(shown), shown


@pytest.mark.parametrize(
    "spec",
    ["'src/*.py'", "src/m.py", "'*.py'", "x ':!x/z'", "'[a-z].py'", "'x/*'", "'a.p?'", "keys/pub"],
)
def test_pathspecs_of_other_files_stay_allowed(
    generation: policy.Generation, repository: Path, spec: str
) -> None:
    for command in _COMMANDS:
        assert allows(generation, command.format(spec), repository), command
