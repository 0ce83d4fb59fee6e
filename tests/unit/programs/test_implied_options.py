"""A rule about an option meets the options that do the same, and an `allow` covers none of them."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import policy
from policy.generation import shipped_profile_texts, shipped_profiles
from policy.model import Caller, Facts, ToolCall, Verdict
from policy.programs import covers, runs_any
from policy.programs.patterns.pattern import CommandPattern, option_of, read_command_pattern
from policy.programs.profiles.profile import Implication, OptionMention, Profile
from policy.programs.profiles.registry import Profiles
from policy.programs.script_analysis import analyse_command
from policy.shell import Script, read_script

_FACTS = Facts(cwd="/srv/work", workspace="/srv/work", home="/home/ada")
_TEXTS = shipped_profile_texts()
_PROFILES = shipped_profiles()


def _verdict(default: str, rule: str, command: str, folder: Path) -> Verdict:
    text = f"policy for every agent\n\ndefault {default}\n{rule}\n"
    (folder / "global.policy").write_text(text, encoding="utf-8")
    call = ToolCall(tool="bash_exec", input={"command": command})
    return policy.load(folder).decide(call, Caller(), facts=_FACTS).verdict


_ALIKE = [
    ("rsync --delete *", "rsync -a --del a/ b/"),
    ("rsync --delete *", "rsync -a --delete-excluded a/ b/"),
    ("rsync -o *", "rsync -av a b"),
    ("git branch -D *", "git branch -d -f x"),
    ("git branch -D *", "git branch -df x"),
    ("git branch -D *", "git branch --force --delete x"),
    ("git branch -d *", "git branch -D x"),
    ("git branch -f *", "git branch -M x"),
    ("git push --force *", "git push --mirror origin"),
    ("git push --delete *", "git push --prune origin"),
    ("git switch --discard-changes *", "git switch -f x"),
    ("git checkout -b main *", "git checkout -B main"),
    ("cp -R *", "cp -a a b"),
    ("cp --preserve=* *", "cp -p a b"),
    ("wget -r *", "wget -m https://a.example"),
    ("wget -l inf *", "wget -m https://a.example"),
    ("curl -L *", "curl --location-trusted https://a.example"),
    ("curl -X POST *", "curl --json x https://a.example"),
    ("gh api -X POST *", "gh api -f a=b repos/a/b/issues"),
    ("grep -r *", "grep -d recurse x ."),
    ("grep -r *", "grep --directories=rec x ."),
    ("grep -r *", 'grep -d "$how" x .'),
    ("grep --directories=recurse *", "grep -R x ."),
    ("rg --hidden *", "rg -uu x"),
    ("find * -depth", "find . -delete"),
    ("find * -exec *", "find . -execdir rm {} +"),
    ("git checkout -b *", "git checkout -t origin/x"),
    ("tail -f *", "tail -F log"),
    ("gpg --delete-keys *", "gpg --delete-secret-and-public-key x"),
    ("npm install -g *", "npm install --location=global x"),
    ("deno run --allow-run *", "deno run -A x.ts"),
    ("docker run --device * *", "docker run --privileged x"),
    ("kill -9 *", "kill -s kill 7"),
    ("node -e * *", "node -p 1"),
]
_APART = [
    ("rsync --delete *", "rsync -a a/ b/"),
    ("git branch -D *", "git branch -d x"),
    ("git branch -D *", "git branch -f x"),
    ("git branch -f *", "git -C sub branch x"),
    ("git push --force *", "git push --tags origin"),
    ("git push --force *", "git push --force-with-lease origin x"),
    ("git checkout -B main *", "git checkout -b main"),
    ("cp -R *", "cp -p a b"),
    ("wget -l inf *", "wget -l 2 -r https://a.example"),
    ("curl -L *", "curl -s https://a.example"),
    ("curl -X POST *", "curl -G -d x=1 https://a.example"),
    ("curl -X POST *", "curl -X PUT -d x=1 https://a.example"),
    ("grep -r *", "grep -d skip x a.txt"),
    ("rg --hidden *", "rg -u x"),
    ("npm install -g *", "npm install --location=project x"),
    ("kill -9 *", "kill -s TERM 7"),
]


@pytest.mark.parametrize(("pattern", "command"), _ALIKE)
def test_a_deny_meets_what_implies_its_option(pattern: str, command: str, tmp_path: Path) -> None:
    rule = f'no: deny bash_exec when runs "{pattern}"'
    assert _verdict("allow", rule, command, tmp_path) == "deny"


@pytest.mark.parametrize(("pattern", "command"), _APART)
def test_other_options_are_not_met(pattern: str, command: str, tmp_path: Path) -> None:
    rule = f'no: deny bash_exec when runs "{pattern}"'
    assert _verdict("allow", rule, command, tmp_path) == "allow"


@pytest.mark.parametrize(
    ("pattern", "command"),
    [
        ("git branch -d *", "git branch -D x"),
        ("git branch -d -f *", "git branch -D x"),
        ("git branch -D *", "git branch -d -f x"),
        ("git push --delete *", "git push --prune origin"),
        ("rsync -r *", "rsync -a a b"),
        ("cp -R *", "cp -a a b"),
    ],
)
def test_an_allow_covers_only_the_options_that_it_spells(
    pattern: str, command: str, tmp_path: Path
) -> None:
    rule = (
        f'some: allow bash_exec when runs only "{pattern}"'
        " and reads anything and writes anything and connects to anything"
    )
    assert _verdict("deny", rule, command, tmp_path) == "deny"


# ------------------------------------------------------------------ all shipped profiles


def _sections(
    program: tuple[str, ...], profile: Profile
) -> Iterator[tuple[tuple[str, ...], Profile]]:
    yield program, profile
    for name, sub in profile.subcommands.items():
        yield from _sections((*program, name), sub)


@cache
def _shipped() -> tuple[tuple[tuple[str, ...], Implication], ...]:
    named = (name for name in _PROFILES.programs if "implies]" in _TEXTS.get(f"{name}.toml", ""))
    found = []
    for name in named:
        profile = _PROFILES.profile(name)
        assert profile is not None
        for program, section in _sections((name,), profile):
            found += [(program, one) for one in section.implies]
    return tuple(found)


def _spelled(one: OptionMention, program: tuple[str, ...], profiles: Profiles) -> list[str]:
    option = option_of(one.name, program, profiles)
    assert option is not None, f"{' '.join(program)} has no option {one.name}"
    value = one.value.replace("[Kk][Ii][Ll][Ll]", "KILL").replace("*", "")
    if option.takes == "nothing":
        return [one.name] * one.times
    if option.takes == "value":
        return [one.name, value or "x"] * one.times
    return [f"{one.name}={value}" if value and one.name.startswith("--") else one.name] * one.times


def _command(program: tuple[str, ...], words: list[str]) -> str:
    return " ".join((*program, *(word if word != "-NUM" else "-5" for word in words)))


def test_every_implication_of_a_shipped_profile_holds_for_a_deny_and_not_for_an_allow() -> None:
    assert len(_shipped()) > 100
    for program, one in _shipped():
        words = [word for each in one.given for word in _spelled(each, program, _PROFILES)]
        text = _command(program, words)
        script = read_script(text)
        assert isinstance(script, Script)
        command = analyse_command(script.commands[0], _PROFILES)
        for implied in one.implied:
            wanted = _command(program, [*_spelled_freely(implied, program), "*"])
            pattern = read_command_pattern(wanted, _PROFILES)
            assert isinstance(pattern, CommandPattern)
            assert runs_any(command, [pattern]) is not False, (wanted, text)
            assert covers(command, [pattern], redirections_covered=True) is not True, (wanted, text)


def _spelled_freely(one: OptionMention, program: tuple[str, ...]) -> list[str]:
    option = option_of(one.name, program, _PROFILES)
    assert option is not None, f"{' '.join(program)} has no option {one.name}"
    return [one.name, "*"] if option.takes == "value" else [one.name]


# ------------------------------------------------------------------ the real program

_AS = {
    "GIT_AUTHOR_NAME": "a",
    "GIT_AUTHOR_EMAIL": "a@a.example",
    "GIT_COMMITTER_NAME": "a",
    "GIT_COMMITTER_EMAIL": "a@a.example",
    "GIT_CONFIG_GLOBAL": "/dev/null",
}


def _git(folder: Path, *words: str) -> str:
    done = subprocess.run(
        ["git", *words], cwd=folder, env={**os.environ, **_AS}, check=True, capture_output=True
    )
    return done.stdout.decode()


def _branches(folder: Path, command: str) -> str:
    """Return the branches of a new repository after a command; `work` is not merged."""
    folder.mkdir()
    _git(folder, "init", "-q", "-b", "main")
    _git(folder, "commit", "-q", "--allow-empty", "-m", "one")
    _git(folder, "switch", "-q", "-c", "work")
    _git(folder, "commit", "-q", "--allow-empty", "-m", "two")
    _git(folder, "switch", "-q", "main")
    _git(folder, "branch", "other")
    _git(folder, *command.split()[1:])
    return _git(folder, "for-each-ref", "--format=%(refname) %(subject)")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("git branch -D work", "git branch -d -f work"),
        ("git branch -M work other", "git branch -m -f work other"),
        ("git branch -C work other", "git branch -c -f work other"),
    ],
)
def test_git_does_the_same(one: str, other: str, tmp_path: Path) -> None:
    assert _branches(tmp_path / "a", one) == _branches(tmp_path / "b", other)
