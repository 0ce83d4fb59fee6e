"""Which revisions a git command takes files from, where its words and the rest of the script tell.

`git checkout main` moves to `main`, `git stash pop` to the latest stash. What `git pull` brings is
not in the repository yet.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator

from policy.evaluation.accesses import Access
from policy.evaluation.effects import CallEffects
from policy.model import GitMove
from policy.programs import Invocation
from policy.values import Path, tree_reaches

# Commands that write files of the commits that they name, and of no others; whether they merge.
_MOVES = {
    ("checkout",): False,
    ("switch",): False,
    ("restore",): False,
    ("reset",): False,
    ("stash",): False,
    ("stash", "push"): False,
    ("stash", "save"): False,
    ("stash", "pop"): True,
    ("stash", "apply"): True,
    ("merge",): True,
}
# Commands after which each revision still has the files that it had, or those of the work tree, and
# those that leave it so without operands.
_KEEPS = frozenset(
    "add blame cat-file commit describe diff grep log ls-files merge-base rev-list rev-parse"
    " shortlog show status".split()
)
_LISTS = frozenset({"branch", "remote", "tag"})
_NO_REVISIONS = frozenset({"-m", "--message", "-F", "--into-name", "-X", "-s", "--strategy"})
# Options with which git removes files, or takes them from elsewhere.
_OTHERWISE = frozenset(
    "-u --include-untracked -a --all --orphan --git-dir --work-tree --recurse-submodules".split()
)
# Options that name the repository or its work tree, and a setting that does.
_PLACES = frozenset({"--git-dir", "--work-tree", "--config-env"})
_PLACING = "worktree"
# The spelling of a revision that means the same to every command of git.
_SPELLED = re.compile(r"(?!FETCH_HEAD)[A-Za-z0-9@._/+^~{}-]+")
# The beginning of variables with which git works in another repository.
_OF_GIT = "GIT_"
_PATHLIKE = frozenset(" *?[\\=")
# Commands that make a repository, and their options with which its work tree is the folder itself.
_MAKES = (("git", "clone"), ("git", "init"))
_PLAIN = frozenset(
    "--depth --branch -b --single-branch --no-single-branch --no-tags --quiet -q --verbose -v"
    " --progress --filter --no-checkout -n --initial-branch --shallow-since --origin -o".split()
)
# What makes a folder a repository.
_LAYOUT = ("HEAD", ".git")
_REMOVES = (("rm",), ("rmdir",), ("find",))
_GIT = ("git",)
_STASHED = ("{}", "{}^1", "{}^2", "{}^3")


def git_move(access: Access | None, thing: Path, effects: CallEffects) -> GitMove:
    """Return a move of git that writes a tree; without revisions where these are not known."""
    command = None if access is None else access.by
    folder = thing.resolved or thing.lexical
    if access is None or command is None:
        return GitMove(folder=folder, revisions=())
    here = effects.folder(access.folders, command.command)
    folder = here.cwd or here.workspace or folder
    known = all(_keeps_revisions(one, command) for one in _commands(effects))
    made = tuple(_repositories(effects, folder))
    changed = _writes_store(effects, (command, *made))
    return GitMove(
        folder=folder,
        revisions=_revisions(command) if known and not changed else (),
        merges=_MOVES.get(command.program[1:], True),
        elsewhere=(
            changed
            or _is_elsewhere(command)
            or any(map(_names_variable, _commands(effects)))
            or _may_be_made(effects, folder, (command, *made))
        ),
        made=bool(made),
        may_appear=_may_appear(effects, folder, command),
    )


def _commands(effects: CallEffects) -> Iterator[Invocation]:
    for command in effects.commands:
        yield from command.walk()


def _revisions(command: Invocation) -> tuple[str, ...]:
    """Return all words of a command that may be revisions; empty where others may be."""
    action = command.program[1:]
    names = {option.name for option in command.options}
    if action not in _MOVES or not names.isdisjoint(_OTHERWISE):
        return ()
    words = [option.value for option in command.options if option.name not in _NO_REVISIONS]
    words += [operand.word for operand in command.operands]
    found = ["HEAD"]
    for word in words:
        if word is None or (word.known and _is_no_revision(word.text)):
            continue
        if not word.known or not _SPELLED.fullmatch(word.text) or "..." in word.text:
            return ()
        found.append(word.text)
    if any(option.unknown for option in command.options):
        return ()
    if action[0] == "stash":
        return (*found[:1], *_stashes(action, found[1:]))
    if action == ("merge",) and len(found) == 1:
        found.append("@{upstream}")
    return tuple("@{-1}" if each == "-" else each for each in found if each)


def _is_no_revision(text: str) -> bool:
    """Return whether no revision is spelled so: a pathspec, or the text of an option."""
    return not text.startswith(":") and "{" not in text and not _PATHLIKE.isdisjoint(text)


def _stashes(action: tuple[str, ...], named: list[str]) -> Iterator[str]:
    if action[1:] not in (("pop",), ("apply",)):
        return  # it puts the work tree back to `HEAD`
    for name in named or ["0"]:
        stash = f"stash@{{{name}}}" if name.isdecimal() else name
        yield from (form.format(stash) for form in _STASHED)


def _is_elsewhere(command: Invocation) -> bool:
    """Return whether options may name the repository, or its work tree."""
    return any(
        one.unknown
        or one.name in _PLACES
        or (one.name == "-c" and one.value and _PLACING in one.value.text.casefold())
        for one in command.options
    )


def _names_variable(command: Invocation) -> bool:
    """Return whether a command may set a variable of git, as `GIT_DIR`."""
    simple = command.command
    named = any(_OF_GIT in word.text for word in simple.words)
    return named or any(_OF_GIT in one.name for one in simple.assignments)


def _keeps_revisions(command: Invocation, move: Invocation) -> bool:
    """Return whether a command of the script leaves to each revision the files that it has."""
    if _names_variable(command):
        return False
    if command.program[:1] == _GIT and _is_elsewhere(command):
        return False  # `git --work-tree=x add` stores files of another folder under the same names
    if command.program[:1] != ("git",):
        return True
    action = command.program[1:]
    if action in _MOVES:
        return command is move or not any(each.name in ("-B", "-C") for each in command.options)
    if len(action) == 1 and action[0] in _LISTS:
        return not command.operands
    return bool(action) and action[0] in _KEEPS


def _repositories(effects: CallEffects, folder: str) -> Iterator[Invocation]:
    """Yield the commands of git that make the folder a repository, with nothing but its own."""
    for item in effects.of("writes"):
        by = None if item.access is None else item.access.by
        if by is None or by.program not in _MAKES or not isinstance(item.thing, Path):
            continue
        plain = all(option.name in _PLAIN for option in by.options)
        if plain and folder in (item.thing.lexical, item.thing.resolved):
            yield by


def _may_be_made(effects: CallEffects, folder: str, moves: tuple[Invocation, ...]) -> bool:
    """Return whether the script may make a repository of the folder, or of one above it."""
    places = [folder]
    while places[-1] != "/":
        places.append(posixpath.dirname(places[-1]))
    names = {posixpath.join(place, name) for place in places for name in _LAYOUT}
    for item in effects.of("writes"):
        thing = item.thing
        by = None if item.access is None else item.access.by
        if by in moves or not isinstance(thing, Path) or thing.new_names == "stored":
            continue
        own = by is not None and by.program[:1] == _GIT
        if not own and (thing.lexical in names or thing.resolved in names):
            return True
        if (
            thing.tree
            and not _only_removes(by)
            and any(tree_reaches(thing, name) for name in names)
        ):
            return True
    return False


def _may_appear(effects: CallEffects, folder: str, move: Invocation) -> bool:
    """Return whether other commands of the script may make a folder."""
    if any(one.unseen and one is not move for one in _commands(effects)):
        return True
    for item in effects.of("writes"):
        by = None if item.access is None else item.access.by
        if by is not move and not (
            isinstance(item.thing, Path) and not _is_above(item.thing, folder)
        ):
            return True
    return False


def _is_above(thing: Path, folder: str) -> bool:
    readings = (thing.lexical, thing.resolved or thing.lexical)
    return any(f"{folder}/".startswith(f"{reading.rstrip('/')}/") for reading in readings)


def _only_removes(command: Invocation | None) -> bool:
    return command is not None and command.program[:1] in _REMOVES


def _writes_store(effects: CallEffects, moves: tuple[Invocation, ...]) -> bool:
    """Return whether the script may write in a repository's `.git` itself, without git."""
    for item in effects.of("writes"):
        by = None if item.access is None else item.access.by
        if by in moves:
            continue
        if not isinstance(item.thing, Path):
            return True
        folders = 0 if by is None or by.program[:1] != ("git",) else -1
        for reading in (item.thing.lexical, item.thing.resolved or item.thing.lexical):
            if ".git" in reading.casefold().split("/")[: folders or None]:
                return True
    return False
