"""Shell completion: the scripts that the page names are printed, and what they offer."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.e2e.test_cli import ENV, ROOT
from tests.preloaded import placet

PAGE = (ROOT / "docs" / "commands.md").read_text(encoding="utf-8")


def completed(tmp_path: Path, **environment: str) -> str:
    done = subprocess.run(
        placet(),
        cwd=tmp_path,
        env={**ENV, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stderr == ""
    return done.stdout


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_page_says_how_to_print_a_script_for_each_shell(tmp_path: Path, shell: str) -> None:
    (variable,) = set(re.findall(rf"(\w+)={shell}_source placet", PAGE))
    script = completed(tmp_path, **{variable: f"{shell}_source"})
    assert "_placet_completion" in script
    assert f"{variable}={shell}_complete" in script


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        ("placet ch", {"check"}),
        ("placet fr", {"freeze"}),
        ("placet check --for", {"--format"}),
        ("placet check --format ", {"text", "json", "sarif"}),
        ("placet init --for ", {"coding-agent", "support", "research", "gateway", "data"}),
        ("placet config s", {"set", "show"}),
    ],
)
def test_commands_options_and_values_are_completed(
    tmp_path: Path, words: str, offered: set[str]
) -> None:
    found = completed(
        tmp_path,
        COMP_WORDS=words,
        COMP_CWORD=str(len(words.split(" ")) - 1),
        _PLACET_COMPLETE="bash_complete",
    )
    assert {line.partition(",")[2] for line in found.splitlines()} == offered


def test_all_commands_are_offered_with_their_summaries(tmp_path: Path) -> None:
    found = completed(
        tmp_path, COMP_WORDS="placet ", COMP_CWORD="", _PLACET_COMPLETE="fish_complete"
    )
    offered = dict(line.split("\t") for line in found.splitlines())
    assert offered["plain,check"] == "Check a policy and show every problem."
    assert len(offered) > 10


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")
def test_the_script_works_in_bash(tmp_path: Path) -> None:
    command = tmp_path / "placet"
    command.write_text(f"#!{sys.executable}\nfrom policy.cli import main\nmain()\n")
    command.chmod(0o755)
    script = """
        eval "$(_PLACET_COMPLETE=bash_source placet)"
        COMP_WORDS=(placet ex) COMP_CWORD=1
        _placet_completion placet
        echo "${COMPREPLY[@]}"
    """
    done = subprocess.run(
        ["bash", "-c", script],
        env={**ENV, "PATH": f"{tmp_path}:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "explain\n"
