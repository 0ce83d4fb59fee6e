"""A word that only the shell knows has all the effects of what it may be.

`git branch "$x" --list foo` creates a branch if `$x` is `--`, or an option that takes `--list` as
its value; `composer install "$x"` installs in another folder if it is `-d/etc`.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policy.generation import shipped_profile_texts
from policy.programs import CommandEffect, Invocation, Profile, Profiles, ScriptAnalysis
from policy.programs import analyse_script as analysed

PROFILES = Profiles.of(shipped_profile_texts())
# Of words for a script, and of a module, those that only the shell knows are left out.
_SCRIPTED = frozenset({"argument...", "passed-on..."})


def _programs() -> Iterator[tuple[tuple[str, ...], Profile]]:
    for file in PROFILES.files():
        if file.program == "time":
            continue  # a word of bash itself, with options of its own
        top = PROFILES.profile(file.program)
        open_: list[tuple[tuple[str, ...], Profile]] = [((file.program,), top)] if top else []
        while open_:
            path, profile = open_.pop()
            if profile.options and not _SCRIPTED & set(profile.operands):
                yield path, profile
            subs = {id(one): (name, one) for name, one in profile.subcommands.items()}
            open_ += [((*path, name), one) for name, one in subs.values()]


PROGRAMS = list(_programs())


def _analysed(words: list[str]) -> ScriptAnalysis:
    read = analysed(" ".join(words), PROFILES)
    assert isinstance(read, ScriptAnalysis)
    return read


def _all_of(commands: tuple[Invocation, ...]) -> Iterator[Invocation]:
    for one in commands:
        yield one
        yield from _all_of(one.inner)


def _includes(wider: CommandEffect, one: CommandEffect) -> bool:
    if wider.verb != one.verb:
        return False
    if wider.word is None:
        return True
    if one.word is None:
        return False
    if wider.word.shape == "glob":
        return wider.word.text == "*" and "/" not in one.word.text
    if any(not folder.known for folder in wider.folder):
        return True
    if not wider.word.known:
        return one.word.text.startswith(wider.word.text)
    same = (wider.word, wider.folder) == (one.word, one.folder)
    return same and wider.tree >= one.tree


def left_out(unknown: ScriptAnalysis, known: ScriptAnalysis) -> list[str]:
    """Return what a command does that the analysis of one with an unknown word leaves out."""
    commands = list(_all_of(unknown.commands))
    if any(one.gaps for one in commands):
        return []  # it may run anything
    wider = [effect for one in commands for effect in one.effects]
    found = []
    for one in _all_of(known.commands):
        if any(given.unknown for given in one.options) or _ends_in_error(one):
            continue
        found += [
            f"{effect.verb} {effect.word}"
            for effect in one.effects
            if not any(_includes(other, effect) for other in wider)
        ]
        found += one.gaps
    if known.commands[0].unseen and not unknown.commands[0].unseen:
        found.append("unseen code")
    return found


def _ends_in_error(one: Invocation) -> bool:
    """Return whether a command has more operands than its program takes."""
    return any("does with its words is not known" in gap for gap in one.gaps)


def _spelled(profile: Profile, spelling: str, value: str) -> list[str]:
    option = profile.options[spelling]
    if spelling == "-NUM":
        return ["-3"]
    if option.takes == "value":
        return [spelling, *[value] * (1 + len(option.more))]
    return [spelling]


def _glued(profile: Profile, spelling: str, value: str) -> str:
    if spelling == "-NUM":
        return "-3"
    if profile.options[spelling].takes not in ("value", "glued"):
        return spelling
    return f"{spelling}{'=' if spelling.startswith('--') else ''}{value}"


@given(data=st.data())
def test_an_unknown_word_does_what_each_word_in_its_place_does(data: st.DataObject) -> None:
    path, profile = data.draw(st.sampled_from(PROGRAMS))
    values = st.sampled_from(["a", "../o", "1"])
    options = st.sampled_from(sorted(profile.options))
    tail: list[str] = []
    for spelling in data.draw(st.lists(options, min_size=1, max_size=2)):
        tail += _spelled(profile, spelling, data.draw(values))
    tail += data.draw(st.lists(st.sampled_from(["foo", "./bar"]), max_size=2))
    quoted = [shlex.quote(word) for word in tail]
    spelling = data.draw(options)
    given = data.draw(st.sampled_from(["--", spelling, _glued(profile, spelling, "../o")]))
    name = [shlex.quote(word) for word in path]

    known = _analysed([*name, shlex.quote(given), *quoted])
    for word in ('"$x"', "$x"):
        assert left_out(_analysed([*name, word, *quoted]), known) == []


@pytest.mark.parametrize(
    ("command", "given"),
    [
        ("git branch {} --list foo", "--"),
        ("git branch {} --list foo", "--sort"),
        ("git branch --list foo {}", "-D"),
        ("git reset --recurse-submodules {}", "--hard"),
        ("fdisk {} -l bar", "--"),
        ("isort {} -c foo", "--"),
        ("rmmod {} --dry-run foo", "--"),
        ("unlz4 {} -c foo", "-r"),
        ("composer install {}", "-d../o"),
        ("composer install {} --locked", "-d"),
        ("lwp-download {} -v", "a"),
        ("pipenv check {}", "-e../o"),
        ("git log -n {} --oneline foo", "1 --"),
    ],
)
def test_what_was_left_out_once(command: str, given: str) -> None:
    known = _analysed([command.format(given)])
    assert left_out(_analysed([command.format("$x")]), known) == []
    if " " not in given:
        assert left_out(_analysed([command.format('"$x"')]), known) == []


def test_the_law_sees_an_effect_that_is_left_out() -> None:
    found = left_out(_analysed(["git branch --list foo"]), _analysed(["git branch foo"]))
    assert len(found) == 1
    assert found[0].startswith("writes")
    assert left_out(_analysed(["cat a"]), _analysed(["python3 a"]))[-1] == "unseen code"
