"""Pathspecs and ranges of git: what each reads or writes.

git expands wildcards itself, and they match names with a dot and cross folders: `src/*` matches
`src/sub/.env`. Pathspecs that only exclude files mean all others. Of
a tree git shows the files that changed, which only the repository knows: the tree itself counts as
listed, and spelled files as read.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from policy.model import Exclusions
from policy.programs.effects import CommandEffects
from policy.programs.invocation import CommandEffect, Verb
from policy.programs.words.file_forms import PathspecPart, is_exclusion, read_pathspec
from policy.programs.words.go_packages import package_folder
from policy.shell import Word

_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
# Words that name a folder and no file.
_FOLDERS = frozenset({".", "..", "./", "../"})
SOURCES = frozenset(
    {"source-tree", "source-write-tree", "package-tree", "package-write-tree", "output-tree"}
)
_PACKAGES = frozenset({"package-tree", "package-write-tree"})
# A range is a pattern or two, and a colon.
_MOST_COLONS = 16
_OUTPUTS = "output-tree"
COMPARED = "compared-pathspec"
# Files that git reads, and writes: what is done in the two.
_MOVED = {"moved-pathspec": ("changed-pathspec", "stored-pathspec")}
_STORED = "stored-pathspec"
_WRITTEN = frozenset({_STORED, "written-pathspec"})
HISTORY = "history-pathspec"
# Roles in which git follows no link of the work tree.
_LINKLESS = frozenset({HISTORY, _STORED})
_CHANGED = frozenset({"changed-pathspec", HISTORY, _STORED, COMPARED})
PATHSPECS = _CHANGED | _WRITTEN | {"pathspec", "line-range", *_MOVED}
# Roles of operands that may be revisions instead.
_REVISIONS = frozenset({HISTORY, COMPARED, "changed-pathspec"})


def note_pathspec(effects: CommandEffects, role: str, word: Word) -> None:
    """Record what a word in one of these roles reads or writes."""
    if role in _MOVED:
        for each in _MOVED[role]:
            note_pathspec(effects, each, word)
    elif role == "line-range":
        _line_range(effects, word)
    elif not word.known:
        _unclear(effects, role, word)
    else:
        part = read_pathspec(word.text)
        if part is None:
            _not_known(effects, role)
        elif part.path:
            _note_part(effects, role, word, part)


def excluded_from_all(words: Sequence[Word], roles: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    """Return the roles in which the operands exclude files from all that there are.

    They do so if none of them names a path; some may be revisions.
    """
    pairs = [(word, role) for word, each in zip(words, roles, strict=True) for role in each]
    found = {role for word, role in pairs if word.known and is_exclusion(word.text)}
    return tuple(
        role
        for role in sorted(found & PATHSPECS)
        if not any(
            other == role and not is_exclusion(word.text)
            for word, other in pairs
            if role not in _REVISIONS or is_surely_path(word)
        )
    )


def is_surely_path(word: Word) -> bool:
    """Return whether a word names a path to git, and not a revision."""
    text = word.text
    if word.shape == "glob" and not text.startswith(":"):
        return True
    if word.home or text in _FOLDERS or text.startswith(("./", "../", "/")):
        return True
    return not text.startswith(":") and (text.endswith("/") or "*" in text)


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


def _note_part(effects: CommandEffects, role: str, word: Word, part: PathspecPart) -> None:
    """Record the tree that a pathspec is below, and which files in it are spelled."""
    changed = role in _CHANGED
    everything = not (part.names or part.start) or (part.start == "*" and not changed)
    folder = replace(word, text=part.path)
    _tree(effects, role, folder, listed=changed or not everything)
    if part.start is None and not part.names:
        _spelled(effects, role, folder)
    elif not everything:
        below = "".join(map(_as_literal, part.path.rstrip("/")))
        if part.start is not None:
            start = Word(f"{below}/{part.start}", "glob", many=True, home=word.home)
            _spelled(effects, role, start, tree=not changed)
        for name in part.names:
            # As a search finds them: in any folder, and names with a dot too.
            named = f"{below}/*/{name}"
            wild = Word(named, "glob", many=True, home=word.home, recursive=True)
            _spelled(effects, role, wild)


def _as_literal(char: str) -> str:
    return f"\\{char}" if char in "*?[\\" else char


def _spelled(effects: CommandEffects, role: str, word: Word, *, tree: bool = False) -> None:
    """Record the spelled file, or all those that a wildcard may stand for."""
    effects.found.append(
        CommandEffect(
            verb=_verb(role),
            word=word,
            tree=tree or role == "written-pathspec",
            folder=effects.folder,
            stored=role in _LINKLESS,
        )
    )


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
    part = read_pathspec(_ESCAPED.sub(r"\1", word.text)) if word.shape == "glob" else None
    if part is not None and part.path:
        # What the shell finds no names for, git gets as it is.
        _note_part(effects, role, replace(word, text="", shape="known", many=False), part)


def _line_range(effects: CommandEffects, word: Word) -> None:
    """Record the file of `1,10:a.py` and `:name:a.py`; the range may contain colons too."""
    if not word.known:
        effects.unknown_access("reads", f"which file `{effects.name}` reads is not known")
        return
    if word.text.count(":") > _MOST_COLONS:
        effects.unknown_access("reads", f"which file `{effects.name}` reads is not known")
        return
    start = word.text.find(":")
    while start >= 0:
        if start + 1 < len(word.text):
            effects.note_access("read", Word(word.text[start + 1 :]), option="-L")
        start = word.text.find(":", start + 1)
