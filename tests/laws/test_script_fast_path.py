"""The fast paths for simple scripts give what the full parser gives."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from policy.generation import shipped_profiles
from policy.programs import analyse_script, read_command_pattern
from policy.shell import Script, SimpleCommand, full_reader
from policy.shell.fast_reader import read_literal_command, read_simple_script
from policy.shell.full_reader import _read_whole, _rejection
from policy.values import Unreadable
from tests.examples import examples
from tests.laws.shell_scripts import scripts

_PIECES = [
    "ls", "git", "cd", "echo", "a.txt", "-rf", "--x=y", "A=1", "=", "/usr/bin/env", "if", "done",
    "time", "!", "~", "%1", "@", "^a^b", "*.py", "{a,b}", "é", "\u200b", "#", "export", "eval",
    "'q r'", '"d"', "$x", "\\", "&&", "||", "|", ";", "&", "\n", ">", "> out", "2>&1", "< in",
    "x" * 201, "[", "test", "alias", "command", ".", ":", ",", "+e", "a+=1",
]  # fmt: skip
_TEXTS = st.lists(
    st.tuples(st.sampled_from(_PIECES), st.sampled_from([" ", " ", " ", "", "  ", "\t"])),
    max_size=7,
).map(lambda pieces: "".join(piece + blank for piece, blank in pieces))


def _told(commands: tuple[SimpleCommand, ...]) -> list[Any]:
    return [(one, one.text, one.number, one.inside) for one in commands]


@settings(max_examples=examples(800))
@given(_TEXTS | scripts())
@example("git log --oneline -n 3")
@example("cd /a")
@example(" ".join("a" * 101))
@example("ls ")
def test_the_fast_path_reads_a_script_as_the_full_parser(text: str) -> None:
    words, plain = read_literal_command(text), read_simple_script(text)
    if words is not None:
        assert plain is not None
        assert _told((words,)) == _told(plain.commands)
        assert not plain.concurrent
        assert _rejection(text) is None
    if plain is not None and _rejection(text) is None:
        whole = _read_whole(text)
        assert isinstance(whole, Script)
        assert not whole.gaps
        assert plain == whole
        assert _told(plain.commands) == _told(whole.commands)


def test_most_single_commands_take_the_fast_path() -> None:
    for text in ("git log --oneline -n 3", "ls -la /srv/a", "find src -name notes", "head -n 5 a"):
        assert read_literal_command(text) is not None


@given(scripts())
@example("ls a")
@example("sh -c 'ls a; git status'")
@example("xargs git diff < a")
def test_a_script_is_analysed_alike_by_both_parsers(text: str) -> None:
    profiles = shipped_profiles()
    quick, slow = (
        analyse_script(text, profiles),
        analyse_script(text, replace(profiles, whole=True)),
    )
    assert repr(quick) == repr(slow)


def test_the_fast_path_can_be_switched_off(monkeypatch: pytest.MonkeyPatch) -> None:
    def never(text: str) -> None:
        pytest.fail(f"{text} took the fast path")

    monkeypatch.setattr(full_reader, "read_literal_command", never)
    monkeypatch.setattr(full_reader, "read_simple_script", never)
    profiles = replace(shipped_profiles(), whole=True)
    understood = analyse_script("sh -c 'git status' && ls a > b", profiles)
    pattern = read_command_pattern("git status --short", profiles)
    assert not isinstance(understood, Unreadable)
    assert len(understood.commands) == 2
    assert not isinstance(pattern, Unreadable)
