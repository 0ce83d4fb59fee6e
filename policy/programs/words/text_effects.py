"""Records the effects of words that are programs or settings in themselves."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypeAlias

from policy.programs.effects import CommandEffects
from policy.programs.embedded.awk import host_of, read_awk, reads_socket
from policy.programs.embedded.embedded_program import NOTHING, ProgramEffects, unknown_effects
from policy.programs.embedded.jq import read_jq
from policy.programs.embedded.sed import read_sed
from policy.programs.embedded.sql import read_sql
from policy.programs.invocation import CommandEffect, Verb
from policy.programs.profiles.variables import is_plain_setting, listed_folders
from policy.programs.words.file_forms import read_form, read_mount, read_output_format
from policy.programs.words.readers import WORD_READERS
from policy.programs.words.remotes import read_copy_place, read_remote
from policy.programs.words.settings import is_harmless_setting
from policy.shell import Assignment, Word
from policy.values import quote

_ReadText: TypeAlias = Callable[[str], ProgramEffects]

# A program of this many characters is read in a few hundredths of a second.
_LONGEST_PROGRAM = 64_000

LANGUAGES: dict[str, tuple[_ReadText, str]] = {
    "sed": (read_sed, "a sed script that is not known"),
    "awk": (read_awk, "an awk program that is not known"),
    "jq": (read_jq, ""),
    "sql": (read_sql, "SQL that is not known"),
    "remote": (read_remote, "a remote that is not known"),
    "source-remote": (read_remote, "a remote that is not known"),
    "form-file": (read_form, ""),
    "output-format": (read_output_format, "a format that is not known"),
    "mount": (read_mount, "a mount that is not known"),
}

SHAPED = frozenset({"config", "config-or-read", "assignment", "place-read", "place-write"})

_WHAT: dict[Verb, str] = {
    "reads": "files",
    "writes": "files",
    "connects": "hosts",
    "sends": "recipients",
}

# Languages whose words name whole trees.
_TREES = frozenset({"remote", "source-remote", "mount", "module", "ran-module"})
_REMOTES = frozenset({"remote", "source-remote"})
# Those that read only the source files of a tree.
_SOURCES = frozenset({"source-remote", "module", "ran-module"})

# Their programs are meant to connect: to fetch images, to send mail.
_MEANT = frozenset({"image", "mailbox", "module", "user-at-host"})


def note_shaped(effects: CommandEffects, role: str, word: Word, label: str) -> bool:
    """Record a setting, a variable or a place on some host; return whether it is harmful."""
    match role:
        case "config-or-read" if word.known and "=" not in word.text:
            effects.note_access("read", word, option="")
            return False
        case "config" | "config-or-read":
            effects.redirects.setting(word, label.rpartition(" ")[2])
            known = word.known or "=" in word.text
            if known and is_harmless_setting(word.text, effects.settings):
                return False
            effects.may_do_anything(f"what the setting of `{label}` does is not known")
            return True
        case "assignment":
            return _assignment(effects, word, label)
        case "place-read":
            return _place(effects, word, "reads")
        case _:
            return _place(effects, word, "writes")


def note_program(effects: CommandEffects, role: str, word: Word) -> bool:
    """Record the effects of an embedded program or its input; return whether it is harmful."""
    if role == "awk-input":
        return _awk_input(effects, word)
    read, unknown = LANGUAGES[role]
    if not word.known:
        if role in _REMOTES:
            effects.unknown_access("connects", unknown)
        else:
            effects.unknown_access("reads", unknown or "a filter that is not known may read files")
        if unknown:
            effects.unknown_access("writes", unknown)
            effects.gap(unknown)
        return bool(unknown)
    if len(word.text) > _LONGEST_PROGRAM:
        effects_of_text = unknown_effects("an argument that is too long to be read")
    else:
        effects_of_text = read(word.text) if word.text else NOTHING
    _do(effects, role, word, effects_of_text)
    # A remote as an operand is no more harmful than a host.
    return bool(effects_of_text.gap) if role in _REMOTES else effects_of_text.guarded


def _awk_input(effects: CommandEffects, word: Word) -> bool:
    """Record the file or the socket that an operand of awk names; return whether it connects."""
    if not reads_socket(word.text):
        effects.note_access("read", word, option="")
        return False
    host = host_of(word.text) if word.known else None
    if host is None:
        effects.unknown_access("connects", f"which host `{effects.name}` connects to is not known")
    else:
        effects.note_access("host", Word(host), option="")
    return True


def note_read(effects: CommandEffects, role: str, word: Word) -> bool:
    """Record the effects of a word with its own reader; return whether it is harmful."""
    effects_of_text = WORD_READERS[role](word)
    _do(effects, role, word, effects_of_text)
    plain = role in _MEANT and not effects_of_text.gap
    return effects_of_text.guarded and not (
        plain and all(one.name for one in effects_of_text.accesses)
    )


def _assignment(effects: CommandEffects, word: Word, label: str) -> bool:
    name, equals, value = word.text.partition("=")
    if not equals and not word.known:
        effects.gap(f"which variable `{label}` sets is not known")
        return True
    if not equals:
        return effects.profiles.variable(name) not in ("harmless", "searched")
    given = Assignment(name, replace(word, text=value, home=False))
    effects.variable(given)
    role = effects.profiles.variable_set(given)
    # Programs that are started later are judged with it.
    plain = role == "folders" and listed_folders(given.value) is not None
    plain = plain or (role is None and is_plain_setting(given))
    return not (plain or role == "harmless")


def _place(effects: CommandEffects, word: Word, verb: Verb) -> bool:
    named = read_copy_place(word.text, "writes" if verb == "writes" else "reads")
    if not word.known and (not word.text or word.text[0] not in "/.~"):
        effects.found.append(CommandEffect(verb=verb, word=word, tree=True, folder=effects.folder))
        effects.unknown_access("connects", "a place that may be on another host is not known")
        return True
    for access in named.accesses:
        # The spelled word keeps its shape: unknown parts stay unknown.
        tree = access.verb == verb
        spelled = word if tree else replace(word, text=access.name or "")
        folder = effects.folder if tree else ()
        effects.found.append(
            CommandEffect(verb=access.verb, word=spelled, tree=tree, folder=folder)
        )
    return any(access.verb != "reads" for access in named.accesses)


def _do(effects: CommandEffects, role: str, word: Word, effects_of_text: ProgramEffects) -> None:
    """Record the effects of a word."""
    for access in effects_of_text.accesses:
        if access.name is None and role in _REMOTES and not effects_of_text.gap:
            effects.unseen_access(
                access.verb, f"which host {quote(word.text)} stands for is not in the call"
            )
        elif access.name is None:
            effects.unknown_access(
                access.verb, f"which {_WHAT[access.verb]} `{effects.name}` names is not known"
            )
        else:
            tree = role in _TREES and access.verb != "connects"
            named = replace(word, text=access.name) if role in _TREES else Word(access.name)
            folder = () if access.verb == "connects" else effects.folder
            source = tree and role in _SOURCES
            if not effects.has_room(access.name):
                return
            effects.found.append(
                CommandEffect(verb=access.verb, word=named, tree=tree, folder=folder, listed=source)
            )
            if source:
                effects.found.append(CommandEffect(verb=access.verb, word=named, folder=folder))
    if effects_of_text.gap:
        effects.gap(f"`{effects.name}` is given {effects_of_text.gap}")
