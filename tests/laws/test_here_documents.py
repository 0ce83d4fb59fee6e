"""A here-document ends where bash ends it, or the script is refused."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings

from policy.shell import Script, SimpleCommand, read_script
from policy.values import Unreadable
from tests.examples import examples
from tests.laws.executed_commands import may_be, ran
from tests.laws.here_documents import here_documents

# Notes what it reads as one word more.
_CAT = """\
cat() { local text; IFS= read -rd '' text; printf '%s\\0' 2 = "$text" >&9; }
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("shell")


# Most of them are not read.
@settings(max_examples=examples(500), suppress_health_check=list(HealthCheck))
@given(script=here_documents())
@example(script="x=$(cat <<'E'\nhello\nE pwn )\nE\n)")
@example(script="x=$(cat << -E\n\tE\npwn\n-E\n)")
@example(script="x=$(cat <<E\nE\nE;pwn)")
@example(script="echo `cat <<'E'\n\\\nE\npwn\nE\n`")
def test_bash_runs_and_reads_what_is_found(script: str, folder: Path) -> None:
    read = read_script(script)
    if isinstance(read, Unreadable) or read.gaps:
        return
    for words in ran(script, folder, defining=_CAT):
        if words[0] == "=":
            assert any(_may_read(command, words[1]) for command in read.commands), words
        else:
            assert any(may_be(command, words) for command in read.commands if command.words), words


@pytest.mark.parametrize(
    "outside", ["x=$(S)", "cat <(S)", 'echo "$(a; S)"', "$(a $(S))", "`a $(S)`"]
)
@pytest.mark.parametrize(
    "inside",
    [
        "cat <<'E'\nE pwn )\nE\n",
        "cat <<-E\n\tE)\n\tE\n",
        "cat << -E\n-E\n",
        "cat <<''\n\n",
        "cat <<'E F'\nE F\n",
        "cat <<E\nE\na; b",
        "cat <<E\nE\nif a; then b; c; fi",
    ],
)
def test_a_here_document_with_an_uncertain_end_is_refused(outside: str, inside: str) -> None:
    assert isinstance(read_script(outside.replace("S", inside)), Unreadable)


@pytest.mark.parametrize(
    "script",
    [
        "x=$(cat <<'E'\nF (a)\n E)\nE\n)",
        "x=$(cat <<E\nE is the end\nE\n)",
        "x=$(cat <<E | a && b\nE\nc\nd)",
        "cat <<''\na\n\nb; c",
        "cat <<'E'\nE pwn )\nE\na; b",
        "git commit -m \"$(cat <<'EOF'\nA title (with these)\n\nEOF-like lines; and more\nEOF\n)\"",
    ],
)
def test_a_here_document_with_a_certain_end_is_read(script: str) -> None:
    assert isinstance(read_script(script), Script)


def _may_read(command: SimpleCommand, text: str) -> bool:
    if not command.words or command.words[0].text != "cat":
        return False
    return command.stdin is None or not command.stdin.known or command.stdin.text == text
