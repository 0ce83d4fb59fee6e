"""Pathspecs and ranges of git: what each reads or writes.

git expands wildcards itself, and they cross folders: `*.e*` matches `.env` in any folder below. Of
a tree git shows the files that changed, which only the repository knows: the tree itself counts as
listed, and spelled files as read.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from policy.programs.effects import CommandEffects
from policy.programs.invocation import Effect, Verb
from policy.programs.words.file_forms import PathspecPart, read_pathspec
from policy.programs.words.go_packages import package_folder
from policy.shell import Word

_WILD = frozenset("*?[")
SOURCES = frozenset({"source-tree", "source-write-tree", "package-tree", "package-write-tree"})
_PACKAGES = frozenset({"package-tree", "package-write-tree"})
COMPARED = "compared-pathspec"
_WRITTEN = frozenset({"stored-pathspec", "written-pathspec"})
_CHANGED = frozenset({"changed-pathspec", "stored-pathspec", COMPARED})
PATHSPECS = _CHANGED | _WRITTEN | {"pathspec", "line-range"}


def note_pathspec(effects: CommandEffects, role: str, word: Word) -> None:
    """Record what a word in one of these roles reads or writes."""
    if role == "line-range":
        _line_range(effects, word)
    elif not word.known:
        _unclear(effects, role, word)
    else:
        part = read_pathspec(word.text)
        if part is None:
            _not_known(effects, role)
        elif part.path:
            _tree(effects, _verb(role), replace(word, text=part.path), listed=_lists(role, part))
            _spelled(effects, role, word, part)


def may_leave_repository(words: Sequence[Word]) -> bool:
    """Return whether git may compare two paths on the disk, as `--no-index` does.

    It does so if one of the two is outside the repository.
    """
    two = len(words) == 2 or any(word.many for word in words)
    return two and any(_may_be_outside(word) for word in words)


def _may_be_outside(word: Word) -> bool:
    return word.home or word.text[:1] in ("/", "~") or ".." in word.text.split("/")


def note_sources(effects: CommandEffects, role: str, word: Word) -> None:
    """Record a file, or a folder of which only the program's source files are accessed."""
    verb: Verb = "writes" if role.endswith("-write-tree") else "reads"
    folder = effects.folder
    if role in _PACKAGES:
        word = package_folder(word)
    effects.found.append(Effect(verb=verb, word=word, tree=True, folder=folder, listed=True))
    effects.found.append(Effect(verb=verb, word=word, folder=folder))


def _verb(role: str) -> Verb:
    return "writes" if role in _WRITTEN else "reads"


def _not_known(effects: CommandEffects, role: str) -> None:
    effects.unknown_access(_verb(role), f"which files `{effects.name}` names is not known")


def _lists(role: str, part: PathspecPart) -> bool:
    return role in _CHANGED or bool(part.names)


def _spelled(effects: CommandEffects, role: str, word: Word, part: PathspecPart) -> None:
    """Record the spelled file, or all those that a wildcard may stand for."""
    spelled = [replace(word, text=part.path)]
    if part.names:
        spelled = [_named(f"{part.path}/{name}", word) for name in part.names]
    for each in spelled:
        effects.found.append(
            Effect(
                verb=_verb(role),
                word=each,
                tree=role == "written-pathspec",
                folder=effects.folder,
            )
        )


def _named(text: str, word: Word) -> Word:
    wild = not _WILD.isdisjoint(text)
    return Word(text, "glob" if wild else "known", many=wild, home=word.home)


def _tree(effects: CommandEffects, verb: Verb, word: Word, *, listed: bool) -> None:
    effects.found.append(
        Effect(verb=verb, word=word, tree=True, folder=effects.folder, listed=listed)
    )


def _unclear(effects: CommandEffects, role: str, word: Word) -> None:
    if ":" in word.text:
        _not_known(effects, role)
        return
    verb, listed = _verb(role), role in _CHANGED
    _tree(effects, verb, word, listed=listed)
    if listed:
        effects.found.append(Effect(verb=verb, word=word, folder=effects.folder))


def _line_range(effects: CommandEffects, word: Word) -> None:
    """Record the file of `1,10:a.py` and `:name:a.py`; the range may contain colons too."""
    if not word.known:
        effects.unknown_access("reads", f"which file `{effects.name}` reads is not known")
        return
    start = word.text.find(":")
    while start >= 0:
        if start + 1 < len(word.text):
            effects.note_access("read", Word(word.text[start + 1 :]), option="-L")
        start = word.text.find(":", start + 1)
