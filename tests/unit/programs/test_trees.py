"""How profiles describe trees: whether contents or only names are read, and links followed."""

from __future__ import annotations

from fnmatch import fnmatchcase

import pytest

from policy.generation import shipped_profiles
from policy.programs import CommandEffect, Profiles, analyse_script
from policy.values import Unreadable

PROFILES = shipped_profiles()


def effects(script: str, profiles: Profiles = PROFILES) -> tuple[CommandEffect, ...]:
    read = analyse_script(script, profiles)
    assert not isinstance(read, Unreadable)
    return tuple(each for command in read.walk() for each in command.effects)


@pytest.mark.parametrize(
    "script",
    ["ls", "ls -la a", "ls -R a", "find a -name x", "du -s a", "tree a", "find a -delete"],
)
def test_a_listing_reads_no_contents(script: str) -> None:
    assert [each.listed for each in effects(script) if each.verb == "reads"] == [True]


@pytest.mark.parametrize(
    "script",
    ["grep -r x a", "cat a", "cp -r a /b", "tar -cf - a", "rg x a", "diff -r a a", "mv a b"],
)
def test_what_prints_packs_or_copies_reads_contents(script: str) -> None:
    assert not any(each.listed for each in effects(script))


@pytest.mark.parametrize(
    "script",
    [
        "grep -R x a", "find -L a", "find a -follow", "cp -rL a b", "cp -aL a b", "diff -r a b",
        "tar chf - a", "tar --dereference -cf - a", "rsync -aL a b", "rsync -r --copy-links a b",
        "ls -RL a", "du -L a", "tree -l a", "rg -L x a", "zip -r a.zip a", "7z a a.7z a",
        "chmod -RL 7 a", "grep -rR x a", "grep -r x $options a",
    ],
)  # fmt: skip
def test_a_program_that_follows_links_does_so_in_its_trees(script: str) -> None:
    assert any(each.tree and each.follows for each in effects(script))


@pytest.mark.parametrize(
    "script",
    [
        "grep -r x a", "find a", "find -H a", "find -P a -delete", "diff -r --no-dereference a b",
        "rsync -a a b", "ls -R a", "du a", "tree a", "rg x a", "rm -rf a", "chmod -R 7 a",
        "mv a b/",
    ],
)  # fmt: skip
def test_a_program_that_does_not_follow_links_meets_them_as_files(script: str) -> None:
    assert not any(each.tree and each.follows for each in effects(script))


@pytest.mark.parametrize(
    "script",
    [
        "git diff --no-index a b", "git --no-pager diff --no-index -- a b",
        "git diff ../a b", "git diff b ../a", "git diff -- /a b", "git diff b/../../a b",
        "git diff ~/a b", "git diff ..", "git diff ../*",
    ],
)  # fmt: skip
def test_what_git_compares_on_the_disk_is_read(script: str) -> None:
    read = [each for each in effects(script) if each.verb == "reads" and each.tree]
    assert all(each.listed for each in read) == (script == "git diff ..")


@pytest.mark.parametrize(
    "script",
    ["git diff", "git diff a", "git diff HEAD a", "git diff x..y", "git diff x...y -- a b c"],
)
def test_what_git_compares_with_its_store_is_told_by_the_store(script: str) -> None:
    assert all(each.listed for each in effects(script) if each.verb == "reads" and each.tree)


def test_a_copy_keeps_links_and_writes_through_those_of_its_target() -> None:
    found = {each.verb: each.follows for each in effects("cp -r a b") if each.tree}
    assert found == {"reads": False, "writes": True}


def test_a_program_of_which_nothing_is_said_follows_links() -> None:
    profiles = Profiles.of({"scan.toml": 'operands = "read-tree..."'})
    assert [each.follows for each in effects("scan a", profiles)] == [True]


def test_a_subcommand_follows_links_as_its_program_does_unless_it_says_otherwise() -> None:
    text = (
        'follows_links = "never"\n[sub.a]\noperands = "read-tree"\n'
        '[sub.b]\noperands = "read-tree"\nfollows_links = "always"\n'
    )
    profiles = Profiles.of({"scan.toml": text})
    assert [each.follows for each in effects("scan a x", profiles)] == [False]
    assert [each.follows for each in effects("scan b x", profiles)] == [True]


def test_another_word_than_those_is_a_mistake() -> None:
    profiles = Profiles.of({"scan.toml": 'follows_links = "sometimes"'})
    assert ["follows_links" in each.message for each in profiles.faults()] == [True]


@pytest.mark.parametrize(
    ("script", "names"),
    [
        ("tar xf a.tar", "any"), ("tar xf a.tar -C b", "any"), ("tar --one-top-level -xf a", "any"),
        ("unzip a.zip", "any"), ("unzip a.zip -d b", "any"), ("patch -p1", "any"),
        ("bsdtar xf a.tar", "any"), ("7z x a.7z -ob", "any"), ("7zz x a.7z", "any"),
        ("python -m zipfile -e a.zip b", "any"), ("ar x a.a", "any"), ("cpio -i", "any"),
        ("cp -r a b", "copied"), ("cp -rt a b", "copied"),
        ("git apply a", "patched"), ("git am a", "patched"),
        ("git checkout x", "stored"), ("git checkout -- .", "stored"), ("git switch x", "stored"),
        ("git switch -c x y", "stored"), ("git checkout -b x y", "stored"), ("git pull", "stored"),
        ("git switch -c x -f", "stored"), ("git stash", "stored"), ("git stash pop", "stored"),
        ("git reset --hard", "stored"), ("git restore .", "stored"), ("git merge x", "stored"),
        ("rm -rf a", "own"), ("cargo build", "own"), ("ruff format", "own"), ("npm ci", "own"),
    ],
)  # fmt: skip
def test_whose_names_new_files_have(script: str, names: str) -> None:
    trees = [each for each in effects(script) if each.verb == "writes" and each.tree]
    assert {each.new_names for each in trees} == {names}


@pytest.mark.parametrize("script", ["git switch -c x", "git checkout -b x", "git switch -C x -q"])
def test_a_new_branch_at_the_same_commit_changes_no_file(script: str) -> None:
    assert not [each for each in effects(script) if each.verb == "writes" and each.tree]


@pytest.mark.parametrize(
    ("script", "source", "other"),
    [
        ("ruff format .", "a.py", "a.json"), ("black .", "a.pyi", "a.toml"),
        ("gofmt -w .", "a.go", "a.py"), ("go fmt ./...", "a.go", "go.mod"),
        ("cargo fmt", "a.rs", "Cargo.toml"), ("prettier --write .", ".prettierrc", "a.py"),
        ("eslint --fix .", "a.ts", "a.py"), ("npm ci", "node_modules/**", "src"),
    ],
)  # fmt: skip
def test_which_files_a_program_writes_below_a_folder(script: str, source: str, other: str) -> None:
    trees = [each for each in effects(script) if each.verb == "writes" and each.tree]
    assert len(trees) == 1
    assert any(source == glob or fnmatchcase(source, glob) for glob in trees[0].sources)
    assert not any(fnmatchcase(other, glob) for glob in trees[0].sources)
