"""Records the effects of words that name more or less than the accessed files."""

from __future__ import annotations

import re
from dataclasses import replace

from policy.programs.effects import CommandEffects
from policy.programs.invocation import CommandEffect, Verb
from policy.programs.words.file_forms import (
    split_certificate,
    split_folders,
    split_keyed,
    split_optioned,
    split_report,
)
from policy.programs.words.name_patterns import names_beginning_with, names_ending_with
from policy.programs.words.remotes import is_web_url
from policy.programs.words.sibling_files import sibling_files
from policy.shell import Word

# Roles of words that contain more than a file name: how to split them, and the access.
_PARTED = {
    "certificate": (split_certificate, "read"),
    "keyed-read": (split_keyed, "read"),
    "keyed-read-tree": (split_keyed, "read-tree"),
    "keyed-write": (split_keyed, "write"),
    "report-write": (split_report, "write-tree"),
    "optioned-write": (split_optioned, "write-tree"),
    "folder-list": (split_folders, "list-tree"),
}

# Roles of words that name a resource in part of them, or something else as well.
INSIDE = frozenset(
    {
        "address", "argument", "at-file", "at-host", "certificate", "fetched", "folder-list",
        "host-list", "keyed-read", "keyed-read-tree", "keyed-write", "list", "optioned-write",
        "report-write",
    }
)  # fmt: skip

# Roles of parts of names, of folders for some operands, and of tunnels.
PARTS = frozenset(
    {"members", "members-write", "piped-write", "prefix", "suffix", "target", "tunnel"}
)

# Roles of words whose files differ from the given name.
APPROXIMATE = frozenset(
    {
        "globbed-read", "numbered-write", "read-beside", "read-write-beside", "joined-read",
        "joined-write", "read-joined", "write-parents", "write-into-parents",
    }
)  # fmt: skip

# The query of a URL, and what follows it.
_AFTER_PATH = re.compile(r"[?#].*", re.DOTALL)
# Characters that some programs expand in a URL.
_URL_GLOB = frozenset("{}[]*?")
_URL_LISTS = frozenset("{}[]")

# A `..` after a folder that the path has named.
_UP_AGAIN = re.compile(r"(?<=[^/])/+\.\.(?=/|$)")
# Options of one letter, which a value may follow.
_LETTERS = re.compile(r"[A-Za-z0-9]+")
_MOST_LETTERS = 24
# Characters of a target that is a file.
_PATH_LIKE = frozenset("./~=")
_AT_FILE = re.compile(r"(?:^@|=[@<])(.*)", re.DOTALL)


def note_inside(effects: CommandEffects, role: str, word: Word, label: str, *, option: str) -> None:
    """Record what a part of a word names, or what a file lists."""
    match role:
        case "argument":
            _argument(effects, word, option=option)
        case "at-file":
            _at_file(effects, word)
        case "at-host":
            if not word.known or word.text.startswith("@"):
                effects.note_access("host", replace(word, text=word.text[1:]), option=option)
        case "address" | "fetched":
            effects.note_access("host", word, option=option)
            note_local_url(effects, word)
            note_file = _local_address if role == "address" else _fetched_file
            note_file(effects, word, option=option)
        case "list" | "host-list" if is_web_url(word.text):
            effects.note_access("host", word, option=option)
            effects.unknown_access("connects", f"`{label}` names hosts in a page")
        case "host-list":
            if word.text != "-":
                effects.note_access("read", word, option=option)
            effects.unknown_access("connects", f"`{label}` names hosts in a file")
        case "list":
            effects.note_access("read", word, option=option)
            effects.unknown_access("reads", f"`{label}` names files in a file")
        case _ if role in APPROXIMATE:
            note_approximate(effects, role, word, label, option=option)
        case _:
            split, kind = _PARTED[role]
            for part in split(word):
                effects.note_access(kind, part, option=option)


def _argument(effects: CommandEffects, word: Word, *, option: str) -> None:
    """Record the file that an argument of a script may name: `a`, `--option=a` or `-oa`."""
    if not word.known and word.text.startswith("-"):
        _, equals, text = word.text.partition("=")
        word = replace(word, text=text) if equals else word
    if word.known and word.text.startswith("-"):
        name, _, text = word.text.partition("=")
        if text:
            _given(effects, replace(word, text=text), option=option)
        if not name.startswith("--") and (not text or "/" in name):
            _glued(effects, word, option=option)
    elif word.shape != "opaque":
        # A value that only the shell knows is rarely a file: `build.py "$VERSION"`.
        _given(effects, word, option=option)
    elif "/" in word.text or "/" in word.tail:
        effects.hand(word)


def _given(effects: CommandEffects, word: Word, *, option: str) -> None:
    """Record a file that a script may be given: to read it, or to write it."""
    effects.note_access("read", word, option=option)
    effects.hand(word)


def _target(effects: CommandEffects, word: Word) -> None:
    """Record the file that a target of a build may be: `make src/a.o`, not `make test`."""
    if word.shape != "opaque" and (effects.command.folders or not _PATH_LIKE.isdisjoint(word.text)):
        effects.hand(word)


def _glued(effects: CommandEffects, word: Word, *, option: str) -> None:
    """Record the file that may be glued to the last of some options of one letter: `-vs../a`."""
    text = word.text
    letters = _LETTERS.match(text, 1)
    end = letters.end() if letters and ("/" in text or text.endswith("..")) else 2
    if end > _MOST_LETTERS:
        effects.unknown_access("reads", f"which file `{text}` names is not known")
        return
    for start in range(2, min(end, len(text) - 1) + 1):
        _given(effects, replace(word, text=text[start:]), option=option)


def _local_address(effects: CommandEffects, word: Word, *, option: str) -> None:
    """Record the file that a browser may take a word for that is no URL."""
    if not (word.known and "://" in word.text):
        effects.note_access("read", word, option=option)


def _fetched_file(effects: CommandEffects, word: Word, *, option: str) -> None:
    """Record the file that gets the last name in a URL; without one the program makes one up."""
    if not word.known or not _URL_LISTS.isdisjoint(word.text):
        effects.unknown_access("writes", f"what `{effects.name}` writes has a name of the URL")
        return
    place = word.text.partition("://")[2] or word.text
    _, slash, name = _AFTER_PATH.sub("", place).rpartition("/")
    if slash and name:
        effects.note_access("write", replace(word, text=name), option=option)


def note_part(effects: CommandEffects, role: str, word: Word, label: str, *, option: str) -> None:
    """Record a part of names, or the folder of the operands after it."""
    match role:
        case "members":
            effects.members = (*effects.members, word)
        case "members-write":
            effects.found.append(
                CommandEffect(
                    verb="writes", word=word, tree=True, folder=effects.members, new_names="any"
                )
            )
            effects.members = (*effects.members, word)
        case "target":
            _target(effects, word)
        case "suffix":
            effects.suffixes = (*effects.suffixes, word)
        case "tunnel":
            effects.unknown_access("connects", f"where `{label}` leads is not known")
        case "prefix":
            effects.note_access("write", names_beginning_with(word), option=option)
        case _:
            _piped_write(effects, word, label, option=option)


def note_approximate(
    effects: CommandEffects, role: str, word: Word, label: str, *, option: str
) -> None:
    """Record the file whose name a program derives from the given one."""
    match role:
        case "globbed-read" if not _URL_GLOB.isdisjoint(word.text):
            effects.unknown_access("reads", f"which files `{label}` reads is not known")
        case "numbered-write" if "#" in word.text:
            effects.unknown_access("writes", f"which file `{label}` writes is not known")
        case "globbed-read" | "numbered-write":
            effects.note_access(role.partition("-")[2], word, option=option)
        case "write-parents" | "write-into-parents":
            effects.note_access(role.removesuffix("-parents"), word, option=option)
            for place in _UP_AGAIN.finditer(word.text):
                if not effects.has_room(word.text):
                    return
                # The intermediate folder is created, though `..` leaves it again.
                way = replace(word, text=word.text[: place.start()])
                effects.note_access("write", way, option=option)
        case "joined-read":
            _joined(effects, "reads", word, label)
        case "joined-write":
            _joined(effects, "writes", word, label)
        case "read-joined":
            effects.note_access("read-tree", word, option=option)
            _joined(effects, "writes", word, label)
        case _:
            effects.note_access(role.removesuffix("-beside"), word, option=option)
            _beside(effects, word)


def note_local_url(effects: CommandEffects, word: Word) -> None:
    """Record the file that a URL names in place of a host."""
    before = word.text.lstrip().lower()
    local = before.startswith("file:")
    if local and word.known and _URL_GLOB.isdisjoint(before):
        effects.note_access("read", word, option="")
        return
    begun = bool(before) and not word.known and "file:".startswith(before)
    # A word that stands for several schemes may stand for this one too.
    several = before.startswith(("{", "[")) and "://" in before
    if local or begun or several:
        effects.unknown_access("reads", f"which file `{effects.name}` reads is not known")


def note_suffixes(effects: CommandEffects) -> None:
    """Record the files with suffixes that are written beside the others."""
    written = [
        effect
        for effect in effects.found
        if effect.verb == "writes" and effect.word is not None and not effect.tree
    ]
    for suffix in effects.suffixes:
        if not suffix.known or "/" in suffix.text:
            effects.unknown_access(
                "writes", f"what `{effects.name}` adds to names may lead elsewhere"
            )
            continue
        for effect in written:
            assert effect.word is not None
            if not effects.has_room(effect.word.text):
                return
            effects.found.append(replace(effect, word=names_ending_with(effect.word, suffix.text)))


def _piped_write(effects: CommandEffects, word: Word, label: str, *, option: str) -> None:
    """Record a file that is written, or the command that runs after a `|` or `!`."""
    piped = word.text.startswith(("|", "!"))
    if piped:
        effects.note_command("command", replace(word, text=word.text[1:]), label)
        return
    if not word.known and not word.text:
        effects.gap(f"what `{label}` writes to may be a command")
    effects.note_access("write", word, option=option)


def _joined(effects: CommandEffects, verb: Verb, word: Word, label: str) -> None:
    """Record the tree at a path below another path."""
    if word.home or word.text.startswith("/"):
        effects.found.append(CommandEffect(verb=verb, word=word, tree=True))
    if word.shape == "opaque" or ".." in word.text.split("/"):
        effects.unknown_access(verb, f"which file `{label}` leads to is not known")


def _beside(effects: CommandEffects, word: Word) -> None:
    """Record the file that is written under the name of another with a different ending."""
    if word.shape == "opaque":
        effects.unknown_access("writes", f"which file `{effects.name}` writes is not known")
    elif not (word.known and word.text == "-"):
        for name in sibling_files(effects.name, word.text):
            effects.note_access("write", replace(word, text=name), option="")


def _at_file(effects: CommandEffects, word: Word) -> None:
    found = _AT_FILE.search(word.text)
    if found and found[1] != "-":
        effects.note_access("read", replace(word, text=found[1]), option="")
    elif not found and not word.known:
        effects.unknown_access("reads", "a word that may name a file by `@` is not known")
