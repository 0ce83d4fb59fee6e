"""Pathspecs and ranges of git: what each reads or writes.

git expands wildcards itself, and they cross folders: `*.e*` matches `.env` in any folder below. Of
a tree git shows the files that changed, which only the repository knows: the tree itself counts as
listed, and spelled files as read.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from policy.model import Exclusions
from policy.programs.effects import CommandEffects
from policy.programs.invocation import CommandEffect, Verb
from policy.programs.words.file_forms import PathspecPart, read_pathspec
from policy.programs.words.go_packages import package_folder
from policy.shell import Word

_WILD = frozenset("*?[")
# Words that name a folder and no file.
_FOLDERS = frozenset({".", "..", "./", "../"})
SOURCES = frozenset(
    {"source-tree", "source-write-tree", "package-tree", "package-write-tree", "output-tree"}
)
_PACKAGES = frozenset({"package-tree", "package-write-tree"})
_OUTPUTS = "output-tree"
COMPARED = "compared-pathspec"
_STORED = "stored-pathspec"
_WRITTEN = frozenset({_STORED, "written-pathspec"})
HISTORY = "history-pathspec"
# Roles in which git follows no link of the work tree.
_LINKLESS = frozenset({HISTORY, _STORED})
_CHANGED = frozenset({"changed-pathspec", HISTORY, _STORED, COMPARED})
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
            _tree(effects, role, replace(word, text=part.path), listed=_lists(role, part))
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
    profile = effects.profile
    if role == _OUTPUTS:
        # It creates files of these names, so that the disk does not show which ones.
        made = CommandEffect(
            verb="writes",
            word=word,
            tree=True,
            folder=effects.folder,
            listed=True,
            follows=False,
            sources=profile.outputs,
        )
        effects.found.append(made)
        return
    verb: Verb = "writes" if role.endswith("-write-tree") else "reads"
    if role in _PACKAGES:
        word = package_folder(word)
    tree = CommandEffect(verb=verb, word=word, tree=True, folder=effects.folder, listed=True)
    if profile.sources and verb == "writes":
        # It rewrites the source files that are there.
        left = Exclusions(
            included=profile.sources,
            all_others=True,
            folders=profile.skipped,
            only_files=True,
        )
        tree = replace(tree, listed=False, exclusions=left, sources=profile.sources)
    effects.found.append(tree)
    if not (tree.sources and word.known and word.text in _FOLDERS):
        effects.found.append(CommandEffect(verb=verb, word=word, folder=effects.folder))


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
            CommandEffect(
                verb=_verb(role),
                word=each,
                tree=role == "written-pathspec",
                folder=effects.folder,
                stored=role in _LINKLESS,
            )
        )


def _named(text: str, word: Word) -> Word:
    wild = not _WILD.isdisjoint(text)
    return Word(text, "glob" if wild else "known", many=wild, home=word.home)


def _tree(effects: CommandEffects, role: str, word: Word, *, listed: bool) -> None:
    effects.found.append(
        CommandEffect(
            verb=_verb(role),
            word=word,
            tree=True,
            folder=effects.folder,
            listed=listed,
            new_names="stored" if role == _STORED else "own",
            stored=role in _LINKLESS,
        )
    )


def _unclear(effects: CommandEffects, role: str, word: Word) -> None:
    if ":" in word.text:
        _not_known(effects, role)
        return
    verb, listed = _verb(role), role in _CHANGED
    _tree(effects, role, word, listed=listed)
    if listed:
        effects.found.append(CommandEffect(verb=verb, word=word, folder=effects.folder))


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
