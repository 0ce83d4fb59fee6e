"""Records the effects of a word, by its role."""

from __future__ import annotations

from policy.programs.effects import VERBS, CommandEffects
from policy.programs.profiles.roles import verbs_of_role
from policy.programs.words.approximate_paths import (
    APPROXIMATE,
    INSIDE,
    PARTS,
    note_inside,
    note_local_url,
    note_part,
)
from policy.programs.words.pathspecs import PATHSPECS, SOURCES, note_pathspec, note_sources
from policy.programs.words.readers import WORD_READERS
from policy.programs.words.repositories import REPOSITORIES, note_repository
from policy.programs.words.text_effects import (
    LANGUAGES,
    SHAPED,
    note_program,
    note_read,
    note_shaped,
)
from policy.shell import Word

_HERE = Word(".")
# Words that are no resource, some of which consist of parts.
_TEXTS = frozenset({"text", "refspec", "variable", "ports"})


def note_word(effects: CommandEffects, role: str, word: Word, *, option: str = "") -> bool:
    """Record the effects of a word in its role; return whether its text is harmful."""
    if role in _TEXTS:
        _text(effects, word)
        return False
    if role in VERBS:
        effects.note_access(role, word, option=option)
        if role == "host":
            note_local_url(effects, word)
        return False
    label = f"{effects.name} {option}".rstrip()
    if role in SHAPED:
        return note_shaped(effects, role, word, label)
    if role in WORD_READERS:
        return note_read(effects, role, word)
    if role in SOURCES:
        note_sources(effects, role, word)
        return False
    if role in REPOSITORIES:
        return note_repository(effects, role, word)
    if role in LANGUAGES or role == "awk-input":
        return note_program(effects, role, word)
    if role in PATHSPECS:
        note_pathspec(effects, role, word)
    elif role in INSIDE or role in APPROXIMATE:
        note_inside(effects, role, word, label, option=option)
    elif role in PARTS:
        note_part(effects, role, word, label, option=option)
    else:
        _other(effects, role, word, label)
    return False


def _text(effects: CommandEffects, word: Word) -> None:
    """Record the folder that the shell lists for a program that uses the names only as text."""
    if word.shape == "glob" and ("/" in word.text or effects.command.folders != ()):
        effects.note_access("list-file", word, option="")


def note_input(effects: CommandEffects, role: str, text: Word) -> None:
    """Record what is done with a text that is given as input."""
    if role == "command":
        effects.run(
            effects.nesting.script(text, label=effects.name, folder=effects.folder, fed=False)
        )
    else:
        note_word(effects, role, text)


def note_text(effects: CommandEffects, role: str, text: str) -> None:
    """Record an effect from a profile; `?` is an unknown resource."""
    if role == "redirect":
        effects.redirects.by_itself = True
        return
    if role == "list" and text == "?":
        # Without a file operand the names come from standard input.
        role = "listed-input"
    if text != "?":
        note_word(effects, role, Word(text, home=text.startswith("~")))
        return
    if role in ("unseen", "hides", "code", "unknown", "guarded", "listed-input"):
        note_word(effects, role, Word("", "opaque"))
        return
    for verb in verbs_of_role(role):
        if verb is None:
            effects.gap(f"`{effects.name}` may run commands that its words do not show")
        else:
            effects.unseen_access(verb, f"`{effects.name}` does not name what it {verb}")


def _other(effects: CommandEffects, role: str, word: Word, label: str) -> None:
    """Record a folder, an unknown word, or a command."""
    match role:
        case "listed-input":
            effects.unknown_access("reads", f"`{effects.name}` reads files that its input names")
        case "read-folder" | "project-folder":
            # Files there are used as configuration, or run.
            effects.note_access("read", word, option="")
            effects.folder = (*effects.folder, word)
        case "folder":
            effects.folder = (*effects.folder, word)
        case "revision":
            # The repository's files become those of another commit.
            effects.note_access("stored-tree", _HERE, option="")
        case "unknown":
            effects.may_do_anything(f"what `{label}` does with its words is not known")
        case "guarded":
            effects.may_do_anything(f"what `{label}` does is not known", runs=False)
        case (
            "placeholder"
            | "placeholder-of-all"
            | "added-words"
            | "added-lines"
            | "found-name"
            | "found-otherwise"
            | "respells-found"
            | "null-ended"
            | "otherwise-ended"
            | "link-target"
            | "only-files"
            | "only-type"
            | "leaves"
            | "leaves-after"
            | "leaves-files"
            | "leaves-folders"
            | "leaves-glob"
        ):
            pass
        case _:
            effects.note_command(role, word, label)
