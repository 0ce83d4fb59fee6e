"""Files and trees that commands of git read, write and delete."""

from __future__ import annotations

import pytest

from policy.generation import shipped_profile_texts
from policy.programs import CommandEffect, Profiles, analyse_script
from policy.values import Unreadable

_PROFILES = Profiles.of(shipped_profile_texts())


def _effects(script: str) -> list[CommandEffect]:
    understood = analyse_script(script, _PROFILES)
    assert not isinstance(understood, Unreadable)
    return [effect for one in understood.walk() for effect in one.effects]


@pytest.mark.parametrize("all_of_it", ["-a", "--all", "-ua", "-qa", "--al"])
@pytest.mark.parametrize("command", ["git stash", "git stash push", "git stash save"])
def test_a_stash_of_ignored_files_reads_the_tree(command: str, all_of_it: str) -> None:
    read = [one for one in _effects(f"{command} {all_of_it}") if one.verb == "reads"]

    assert [one.word.text for one in read if one.word and one.tree and not one.listed] == ["."]


@pytest.mark.parametrize("command", ["git stash", "git stash push", "git stash save"])
def test_a_stash_of_other_files_reads_no_tree(command: str) -> None:
    read = [one for one in _effects(f"{command} -u") if one.verb == "reads"]

    assert not [one for one in read if one.tree]


@pytest.mark.parametrize("start", ["git checkout --", "git restore", "git rm", "git clean -f"])
def test_wildcards_of_git_write_what_they_may_stand_for(start: str) -> None:
    written = {one.word.text for one in _effects(f"{start} 'vic*'") if one.word}

    assert "./vic*" in written


@pytest.mark.parametrize("start", ["git checkout --", "git restore", "git rm", "git clean -f"])
def test_what_is_written_by_the_magic_of_git_is_not_known(start: str) -> None:
    assert any(one.verb == "writes" and one.word is None for one in _effects(f"{start} ':/a'"))
