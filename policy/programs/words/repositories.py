"""Records what a word means to git: a URL, a folder, or the name of a configured remote."""

from __future__ import annotations

from policy.programs.effects import CommandEffects
from policy.programs.words.remotes import is_bare_name, is_local
from policy.programs.words.text_effects import note_program
from policy.shell import Word

REPOSITORIES = frozenset({"clone-source", "fetch-source"})

# Names that remotes have by convention: elsewhere below the repository no folder is meant.
_CONVENTIONAL = frozenset({"origin", "upstream"})


def note_repository(effects: CommandEffects, role: str, word: Word) -> bool:
    """Record the repository that is cloned, or fetched from; return whether it is harmful.

    A name that is not configured is a folder. Inside a repository, git looks for folders from the
    top of the working tree, wherever below it the command runs.
    """
    harmful = note_program(effects, "remote", word)
    if not word.known:
        return harmful
    bare = is_bare_name(word.text)
    if bare:
        effects.note_access("list-file", word, option="")
    if role == "fetch-source" and _may_be_elsewhere(effects, word, bare=bare):
        why = f"`{effects.name}` takes `{word.text}` from the top of the working tree"
        effects.unknown_access("reads", why)
        effects.unknown_access("writes", why)
    return harmful


def _may_be_elsewhere(effects: CommandEffects, word: Word, *, bare: bool) -> bool:
    """Return whether the folder may lie outside of the one that the command runs in."""
    if bare:
        started_here = effects.command.folders == () and not effects.folder
        return not started_here and word.text not in _CONVENTIONAL
    return is_local(word.text) and word.text[0] not in "/~" and word.text not in (".", "./")
