"""Notes the effects of words that name more or less than what is accessed."""

from __future__ import annotations

import re
from dataclasses import replace

from policy.programs.effects import CommandEffects
from policy.programs.invocation import Effect, Verb
from policy.programs.words.file_forms import split_certificate, split_keyed, split_report
from policy.programs.words.name_patterns import names_beginning_with, names_ending_with
from policy.programs.words.remotes import is_web_url
from policy.programs.words.sibling_files import sibling_files
from policy.shell import Word

# Roles of words that are more than the name of a file: how they are split, and what of it is done.
_PARTED = {
    "certificate": (split_certificate, "read"),
    "keyed-read": (split_keyed, "read"),
    "keyed-read-tree": (split_keyed, "read-tree"),
    "keyed-write": (split_keyed, "write"),
    "report-write": (split_report, "write-tree"),
}

# Roles of words that name something by a part of them, or something besides.
INSIDE = frozenset(
    {
        "address", "argument", "at-file", "at-host", "certificate", "host-list", "keyed-read",
        "keyed-read-tree", "keyed-write", "list", "report-write",
    }
)  # fmt: skip

# Roles of parts of names, of folders that some operands are in, and of what leads elsewhere.
PARTS = frozenset({"members", "members-write", "piped-write", "prefix", "suffix", "tunnel"})

# Roles of files that are named by less or more than they are in the end.
NEARLY = frozenset(
    {
        "globbed-read", "numbered-write", "read-beside", "read-write-beside", "joined-read",
        "joined-write", "read-joined", "write-parents", "write-into-parents",
    }
)  # fmt: skip

# What some programs expand in a URL.
_URL_GLOB = frozenset("{}[]*?")

# Where a path goes up again from a folder that it has named.
_UP_AGAIN = re.compile(r"(?<=[^/])/+\.\.(?=/|$)")
_AT_FILE = re.compile(r"(?:^@|=[@<])(.*)", re.DOTALL)


def note_inside(effects: CommandEffects, role: str, word: Word, label: str, *, option: str) -> None:
    """Note what is named by a part of a word, or by what stands in a file."""
    match role:
        case "argument":
            _argument(effects, word, option=option)
        case "at-file":
            _at_file(effects, word)
        case "at-host":
            if not word.known or word.text.startswith("@"):
                effects.touch("host", replace(word, text=word.text[1:]), option=option)
        case "address":
            _address(effects, word, option=option)
        case "list" | "host-list" if is_web_url(word.text):
            effects.touch("host", word, option=option)
            effects.not_known("connects", f"`{label}` names hosts in a page")
        case "host-list":
            if word.text != "-":
                effects.touch("read", word, option=option)
            effects.not_known("connects", f"`{label}` names hosts in a file")
        case "list":
            effects.touch("read", word, option=option)
            effects.not_known("reads", f"`{label}` names files in a file")
        case _ if role in NEARLY:
            note_nearly(effects, role, word, label, option=option)
        case _:
            split, kind = _PARTED[role]
            for part in split(word):
                effects.touch(kind, part, option=option)


def _argument(effects: CommandEffects, word: Word, *, option: str) -> None:
    """Note the file that a word for a script may name, by itself or behind `--option=`."""
    if word.known and word.text.startswith("-"):
        _, _, text = word.text.partition("=")
        if text:
            effects.touch("read", replace(word, text=text), option=option)
    elif word.shape != "opaque":
        # What only the shell can know is most often no file: `build.py "$VERSION"`.
        effects.touch("read", word, option=option)


def _address(effects: CommandEffects, word: Word, *, option: str) -> None:
    """Note a URL, or the file or host that a browser takes any other word for."""
    effects.touch("host", word, option=option)
    note_local_url(effects, word)
    if not (word.known and "://" in word.text):
        effects.touch("read", word, option=option)


def note_part(effects: CommandEffects, role: str, word: Word, label: str, *, option: str) -> None:
    """Note a word that is a part of names, or the folder of the operands after it."""
    match role:
        case "members":
            effects.members = (*effects.members, word)
        case "members-write":
            effects.found.append(
                Effect(verb="writes", word=word, tree=True, folder=effects.members)
            )
            effects.members = (*effects.members, word)
        case "suffix":
            effects.suffixes = (*effects.suffixes, word)
        case "tunnel":
            effects.not_known("connects", f"where `{label}` leads is not known")
        case "prefix":
            effects.touch("write", names_beginning_with(word), option=option)
        case _:
            _piped_write(effects, word, label, option=option)


def note_nearly(effects: CommandEffects, role: str, word: Word, label: str, *, option: str) -> None:
    """Note the file that a program makes of the name that it is given."""
    match role:
        case "globbed-read" if not _URL_GLOB.isdisjoint(word.text):
            effects.not_known("reads", f"which files `{label}` reads is not known")
        case "numbered-write" if "#" in word.text:
            effects.not_known("writes", f"which file `{label}` writes is not known")
        case "globbed-read" | "numbered-write":
            effects.touch(role.partition("-")[2], word, option=option)
        case "write-parents" | "write-into-parents":
            effects.touch(role.removesuffix("-parents"), word, option=option)
            for place in _UP_AGAIN.finditer(word.text):
                # The folder on the way is made, though the way leads out of it again.
                way = replace(word, text=word.text[: place.start()])
                effects.touch("write", way, option=option)
        case "joined-read":
            _joined(effects, "reads", word, label)
        case "joined-write":
            _joined(effects, "writes", word, label)
        case "read-joined":
            effects.touch("read-tree", word, option=option)
            _joined(effects, "writes", word, label)
        case _:
            effects.touch(role.removesuffix("-beside"), word, option=option)
            _beside(effects, word)


def note_local_url(effects: CommandEffects, word: Word) -> None:
    """Note the file that a URL names in place of a host."""
    before = word.text.lstrip().lower()
    local = before.startswith("file:")
    if local and word.known and _URL_GLOB.isdisjoint(before):
        effects.touch("read", word, option="")
        return
    begun = bool(before) and not word.known and "file:".startswith(before)
    # What stands for several schemes may stand for this one too.
    several = before.startswith(("{", "[")) and "://" in before
    if local or begun or several:
        effects.not_known("reads", f"which file `{effects.name}` reads is not known")


def note_suffixes(effects: CommandEffects) -> None:
    """Note what is written beside the files that are, under names with something added."""
    written = [
        effect
        for effect in effects.found
        if effect.verb == "writes" and effect.word is not None and not effect.tree
    ]
    for suffix in effects.suffixes:
        if not suffix.known or "/" in suffix.text:
            effects.not_known("writes", f"what `{effects.name}` adds to names may lead elsewhere")
            continue
        for effect in written:
            assert effect.word is not None
            effects.found.append(replace(effect, word=names_ending_with(effect.word, suffix.text)))


def _piped_write(effects: CommandEffects, word: Word, label: str, *, option: str) -> None:
    """Note a file that is written, or the command that is run behind a `|` or `!`."""
    piped = word.text.startswith(("|", "!"))
    if piped:
        effects.runs("command", replace(word, text=word.text[1:]), label)
        return
    if not word.known and not word.text:
        effects.gap(f"what `{label}` writes to may be a command")
    effects.touch("write", word, option=option)


def _joined(effects: CommandEffects, verb: Verb, word: Word, label: str) -> None:
    """Note what is named by a path below another, which is touched with all below it."""
    if word.home or word.text.startswith("/"):
        effects.found.append(Effect(verb=verb, word=word, tree=True))
    if word.shape == "opaque" or ".." in word.text.split("/"):
        effects.not_known(verb, f"which file `{label}` leads to is not known")


def _beside(effects: CommandEffects, word: Word) -> None:
    """Note what is written under the name of a file with another end."""
    if word.shape == "opaque":
        effects.not_known("writes", f"which file `{effects.name}` writes is not known")
    elif not (word.known and word.text == "-"):
        for name in sibling_files(effects.name, word.text):
            effects.touch("write", replace(word, text=name), option="")


def _at_file(effects: CommandEffects, word: Word) -> None:
    found = _AT_FILE.search(word.text)
    if found and found[1] != "-":
        effects.touch("read", replace(word, text=found[1]), option="")
    elif not found and not word.known:
        effects.not_known("reads", "a word that may name a file by `@` is not known")
