"""Words of a command in their roles in; what they touch, run and leave open out."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TypeAlias

from policy import later
from policy.commands.awk_program import read_awk
from policy.commands.invocation import Effect, Invocation, Verb
from policy.commands.jq_filter import read_jq
from policy.commands.name_parts import begun_with, ended_with
from policy.commands.nested import ANY_WORDS, NOT_SEARCHED, Found, Nesting, Run
from policy.commands.profiles import Profiles
from policy.commands.remote import is_web_url, read_place, read_remote
from policy.commands.roles import touches
from policy.commands.script import SimpleCommand
from policy.commands.sed_script import read_sed
from policy.commands.setting import is_harmless_setting
from policy.commands.small_language import NOTHING, Doings
from policy.commands.sql_text import read_sql
from policy.commands.word import Assignment, Word
from policy.commands.word_forms import (
    read_form,
    read_mount,
    read_output_format,
    read_pathspec,
    split_keyed,
)
from policy.commands.word_readers import WORD_READERS
from policy.commands.written_beside import written_beside
from policy.records import replace
from policy.values import quote

_ReadText: TypeAlias = Callable[[str], Doings]

_VERBS: dict[str, tuple[tuple[Verb, ...], bool]] = {
    "read": (("reads",), False),
    "read-tree": (("reads",), True),
    "write": (("writes",), False),
    "write-tree": (("writes",), True),
    "write-into": (("writes",), False),
    "read-write": (("reads", "writes"), False),
    "read-write-tree": (("reads", "writes"), True),
    "host": (("connects",), False),
    "connect": (("connects",), False),
    "recipient": (("sends",), False),
    "send": (("sends",), False),
}
_LANGUAGES: dict[str, tuple[_ReadText, str]] = {
    "sed": (read_sed, "a sed script that is not known"),
    "awk": (read_awk, "an awk program that is not known"),
    "jq": (read_jq, ""),
    "sql": (read_sql, "SQL that is not known"),
    "remote": (read_remote, "a remote that is not known"),
    "pathspec": (read_pathspec, ""),
    "form-file": (read_form, ""),
    "output-format": (read_output_format, "a format that is not known"),
    "mount": (read_mount, "a mount that is not known"),
}
# Roles of words that name something by a part of them, or something besides.
_INSIDE = frozenset(
    {
        "at-file", "at-host", "keyed-read", "keyed-write", "list",
    }
)  # fmt: skip
# Roles of parts of names, of folders that some operands are in, and of what leads elsewhere.
_PARTS = frozenset({"members", "members-write", "piped-write", "prefix", "suffix", "tunnel"})
_SHAPED = frozenset({"config", "assignment", "place-read", "place-write"})
# What some programs expand in a URL.
_URL_GLOB = frozenset("{}[]*?")
# Roles in which `-` is standard input or output.
_STREAMED = frozenset({"read", "read-tree", "list"})
_WHAT: dict[Verb, str] = {
    "reads": "files",
    "writes": "files",
    "connects": "hosts",
    "sends": "recipients",
}
# Roles of files that are named by less or more than they are in the end.
_NEARLY = frozenset(
    {
        "globbed-read", "numbered-write", "read-beside", "read-write-beside", "joined-read",
        "joined-write", "read-joined",
    }
)  # fmt: skip
# Languages whose words name whole trees.
_TREES = frozenset({"remote", "pathspec", "mount", "module"})
# What their programs are there for: to fetch images, to send mail.
_MEANT = frozenset({"image", "mailbox", "module", "user-at-host"})
_AT_FILE = later.pattern(r"(?:^@|=[@<])(.*)", re.DOTALL)


class Effects:
    """What has been found of one command so far; `name` is its program for people."""

    __slots__ = (
        "command", "folder", "found", "gaps", "inner", "members", "name", "nesting", "profiles",
        "settings", "suffixes", "unseen",
    )  # fmt: skip

    def __init__(self, command: SimpleCommand, profiles: Profiles, *, nesting: Nesting) -> None:
        self.command = command
        self.profiles = profiles
        self.nesting = nesting
        self.name = ""
        self.settings: tuple[str, ...] = ()
        self.found: list[Effect] = []
        self.inner: list[Invocation] = []
        self.gaps: list[str] = []
        self.unseen = False
        self.folder: tuple[Word, ...] = ()
        # The folders in turn that the operands after them are in, and nothing else is (`tar -C`).
        self.members: tuple[Word, ...] = ()
        # What is added to the names of files that are written.
        self.suffixes: tuple[Word, ...] = ()

    def add(self, role: str, word: Word, *, option: str = "") -> bool:
        """Note what a word does in its role; tell whether its text makes it do harm."""
        if role == "text":
            return False
        if role in _VERBS:
            self._touch(role, word, option=option)
            if role == "host":
                self._local_url(word)
            return False
        label = f"{self.name} {option}".rstrip()
        if role in _SHAPED:
            return self._by_shape(role, word, label)
        if role in WORD_READERS:
            return self._read_word(role, word)
        if role in _LANGUAGES:
            return self._small_language(role, word)
        if role in _INSIDE or role in _NEARLY:
            self._inside(role, word, label, option=option)
        elif role in _PARTS:
            self._part(role, word, label, option=option)
        else:
            self._other(role, word, label)
        return False

    def _other(self, role: str, word: Word, label: str) -> None:
        """Note a folder, what is not known, or what is run."""
        match role:
            case "folder":
                self.folder = (*self.folder, word)
            case "unknown":
                self.unclear(f"what `{label}` does with its words is not known")
            case "guarded":
                self.unclear(f"what `{label}` does is not known", runs=False)
            case (
                "placeholder"
                | "found-name"
                | "found-otherwise"
                | "null-ended"
                | "otherwise-ended"
                | "link-target"
            ):
                pass
            case _:
                self._runs(role, word, label)

    def _inside(self, role: str, word: Word, label: str, *, option: str) -> None:
        """Note what is named by a part of a word, or by what stands in a file."""
        match role:
            case "at-file":
                self._at_file(word)
            case "at-host":
                if not word.known or word.text.startswith("@"):
                    self._touch("host", replace(word, text=word.text[1:]), option=option)
            case "list" if is_web_url(word.text):
                self._touch("host", word, option=option)
            case "list":
                self._touch("read", word, option=option)
                self.not_known("reads", f"`{label}` names files in a file")
            case _ if role in _NEARLY:
                self._nearly(role, word, label, option=option)
            case _:
                for part in split_keyed(word):
                    self._touch(role.removeprefix("keyed-"), part, option=option)

    def _part(self, role: str, word: Word, label: str, *, option: str) -> None:
        """Note a word that is a part of names, or the folder of the operands after it."""
        match role:
            case "members":
                self.members = (*self.members, word)
            case "members-write":
                self.found.append(Effect(verb="writes", word=word, tree=True, folder=self.members))
                self.members = (*self.members, word)
            case "suffix":
                self.suffixes = (*self.suffixes, word)
            case "tunnel":
                self.not_known("connects", f"where `{label}` leads is not known")
            case "prefix":
                self._touch("write", begun_with(word), option=option)
            case _:
                self._piped_write(word, label, option=option)

    def _piped_write(self, word: Word, label: str, *, option: str) -> None:
        """Note a file that is written, or the command that is run behind a `|` or `!`."""
        piped = word.text.startswith(("|", "!"))
        if piped:
            self._runs("command", replace(word, text=word.text[1:]), label)
            return
        if not word.known and not word.text:
            self.gap(f"what `{label}` writes to may be a command")
        self._touch("write", word, option=option)

    def add_suffixes(self) -> None:
        """Note what is written beside the files that are, under names with something added."""
        written = [
            effect
            for effect in self.found
            if effect.verb == "writes" and effect.word is not None and not effect.tree
        ]
        for suffix in self.suffixes:
            if not suffix.known or "/" in suffix.text:
                self.not_known("writes", f"what `{self.name}` adds to names may lead elsewhere")
                continue
            for effect in written:
                assert effect.word is not None
                self.found.append(replace(effect, word=ended_with(effect.word, suffix.text)))

    def _nearly(self, role: str, word: Word, label: str, *, option: str) -> None:
        """Note the file that a program makes of the name that it is given."""
        match role:
            case "globbed-read" if not _URL_GLOB.isdisjoint(word.text):
                self.not_known("reads", f"which files `{label}` reads is not known")
            case "numbered-write" if "#" in word.text:
                self.not_known("writes", f"which file `{label}` writes is not known")
            case "globbed-read" | "numbered-write":
                self._touch(role.partition("-")[2], word, option=option)
            case "joined-read":
                self._joined("reads", word, label)
            case "joined-write":
                self._joined("writes", word, label)
            case "read-joined":
                self._touch("read-tree", word, option=option)
                self._joined("writes", word, label)
            case _:
                self._touch(role.removesuffix("-beside"), word, option=option)
                self._beside(word)

    def _joined(self, verb: Verb, word: Word, label: str) -> None:
        """Note what is named by a path below another, which is touched with all below it."""
        if word.home or word.text.startswith("/"):
            self.found.append(Effect(verb=verb, word=word, tree=True))
        if word.shape == "opaque" or ".." in word.text.split("/"):
            self.not_known(verb, f"which file `{label}` leads to is not known")

    def _beside(self, word: Word) -> None:
        """Note what is written under the name of a file with another end."""
        if word.shape == "opaque":
            self.not_known("writes", f"which file `{self.name}` writes is not known")
        elif not (word.known and word.text == "-"):
            for name in written_beside(self.name, word.text):
                self._touch("write", replace(word, text=name), option="")

    def _local_url(self, word: Word) -> None:
        """Note the file that a URL names in place of a host."""
        before = word.text.lstrip().lower()
        local = before.startswith("file:")
        if local and word.known and _URL_GLOB.isdisjoint(before):
            self._touch("read", word, option="")
            return
        begun = bool(before) and not word.known and "file:".startswith(before)
        # What stands for several schemes may stand for this one too.
        several = before.startswith(("{", "[")) and "://" in before
        if local or begun or several:
            self.not_known("reads", f"which file `{self.name}` reads is not known")

    def _runs(self, role: str, word: Word, label: str) -> None:
        """Note what a word in a role makes the program run."""
        match role:
            case "script":
                self._script(word, label)
            case "code":
                self.gap(f"`{label}` runs code of another language")
            case "command":
                self._run(self.nesting.script(word, label=label, folder=self.folder))
            case "program":
                self._run(self.nesting.program(word, label=label, folder=self.folder))
            case "unseen":
                self.unseen = True
            case _:
                self.gap(f"`{label}` may run commands that its words do not show")

    def add_input(self, role: str, text: Word) -> None:
        """Note what is done with a text that is given as input."""
        if role == "command":
            self._run(self.nesting.script(text, label=self.name, folder=self.folder, fed=False))
        else:
            self.add(role, text)

    def effect(self, role: str, text: str) -> None:
        """Note an effect that a profile spells out, `?` where it is not known on what."""
        if text != "?":
            self.add(role, Word(text))
            return
        if role in ("unseen", "hides", "code", "unknown", "guarded"):
            self.add(role, Word("", "opaque"))
            return
        for verb in touches(role):
            if verb is None:
                self.gap(f"`{self.name}` may run commands that its words do not show")
            else:
                self.untold(verb, f"`{self.name}` does not say in its words what it {verb}")

    def run_words(
        self, role: str, words: tuple[Word, ...], *, option: str, stand_in: str | None, found: Found
    ) -> None:
        """Note the command that words are, after the `--` that may stand before it."""
        if words and words[0].known and words[0].text == "--":
            words = words[1:]
        label = f"{self.name} {option}".rstrip()
        if role == "words-command...":
            self._run(self.nesting.joined(words, label=label, folder=self.folder))
            return
        if role == "argv-until":
            stand_in = "{}"
        more = role == "argv-more..."
        searched = found != NOT_SEARCHED
        added = (replace(found.word(), many=True) if searched else ANY_WORDS,)
        # Nothing may be found: then it is run without.
        ends: tuple[tuple[Word, ...], ...] = ((),)
        if more and stand_in is None:
            ends = ((), added) if searched else (added,)
        for end in ends:
            read = self.nesting.words(
                words,
                label=label,
                folder=self.folder,
                assigns=role == "env-argv...",
                fed=not more,
                more=end,
                stand_in=stand_in or ("{}" if more else None),
                found=found,
            )
            if read.command.words:
                self.inner.append(read)

    def variable(self, assignment: Assignment) -> None:
        """Note what a variable does to the command that it is set for."""
        role = self.profiles.variable(assignment.name)
        name, value = assignment.name, assignment.value
        if role is None or role == "harmless" or (value.known and not value.text):
            return
        if role == "code" or (role == "command" and assignment.appends):
            self.gap(f"the variable `{name}` may make programs run code")
        elif role == "command":
            self._run(self.nesting.script(value, label=name, folder=()))
        else:
            self._touch(role, value, option="")

    def not_known(self, verb: Verb, why: str) -> None:
        """Note that it touches something that cannot be told."""
        self.found.append(Effect(verb=verb, why=why))

    def untold(self, verb: Verb, why: str) -> None:
        """Note that it touches what stands elsewhere: in a configuration, or with a service."""
        self.found.append(Effect(verb=verb, why=why, unseen=True))

    def unclear(self, why: str, *, runs: bool = True) -> None:
        """Note that it may do all that there is."""
        verbs: tuple[Verb, ...] = ("reads", "writes", "connects")
        for verb in verbs:
            self.not_known(verb, why)
        if runs:
            self.gap(why)

    def gap(self, why: str) -> None:
        """Note why it may run commands that are not in sight."""
        if why not in self.gaps:
            self.gaps.append(why)

    def _touch(self, role: str, word: Word, *, option: str) -> None:
        verbs, tree = _VERBS[role]
        if word.text == "-" and word.known and (option or role in _STREAMED):
            return
        for verb in verbs:
            folder = self.folder if verb in ("reads", "writes") else ()
            self.found.append(Effect(verb=verb, word=word, tree=tree, folder=folder))

    def _run(self, run: Run) -> None:
        commands, gaps = run
        self.inner.extend(commands)
        for gap in gaps:
            self.gap(gap)

    def _script(self, word: Word, label: str) -> None:
        if word.known and word.text in ("-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"):
            self.gap(f"`{label}` runs what it is given as input")
            return
        self.unseen = True
        self._touch("read", word, option="")
        if is_web_url(word.text):
            self._touch("connect", word, option="")
        if not word.known:
            self.gap(f"which file `{label}` runs is not known")

    def _at_file(self, word: Word) -> None:
        found = _AT_FILE.search(word.text)
        if found and found[1] != "-":
            self._touch("read", replace(word, text=found[1]), option="")
        elif not found and not word.known:
            self.not_known("reads", "a word that may name a file by `@` is not known")

    def _by_shape(self, role: str, word: Word, label: str) -> bool:
        match role:
            case "config":
                known = word.known or "=" in word.text
                if known and is_harmless_setting(word.text, self.settings):
                    return False
                self.unclear(f"what the setting of `{label}` does is not known")
                return True
            case "assignment":
                return self._assignment(word, label)
            case "place-read":
                return self._place(word, "reads")
            case _:
                return self._place(word, "writes")

    def _assignment(self, word: Word, label: str) -> bool:
        name, equals, value = word.text.partition("=")
        if not equals and not word.known:
            self.gap(f"which variable `{label}` sets is not known")
            return True
        if equals:
            self.variable(Assignment(name, replace(word, text=value, home=False)))
        return self.profiles.variable(name) != "harmless"

    def _place(self, word: Word, verb: Verb) -> bool:
        named = read_place(word.text, "writes" if verb == "writes" else "reads")
        if not word.known and (not word.text or word.text[0] not in "/.~"):
            self.found.append(Effect(verb=verb, word=word, tree=True, folder=self.folder))
            self.not_known("connects", "a place that may be on another host is not known")
            return True
        for touched in named.touched:
            # The spelled word keeps its shape: what is not known of it stays so.
            tree = touched.verb == verb
            spelled = word if tree else replace(word, text=touched.name or "")
            folder = self.folder if tree else ()
            self.found.append(Effect(verb=touched.verb, word=spelled, tree=tree, folder=folder))
        return any(touched.verb != "reads" for touched in named.touched)

    def _small_language(self, role: str, word: Word) -> bool:
        read, unknown = _LANGUAGES[role]
        if not word.known:
            if role == "pathspec" and ":" not in word.text:
                self._touch("read-tree", word, option="")
                return False
            if role == "remote":
                self.not_known("connects", unknown)
            else:
                self.not_known("reads", unknown or "a filter that is not known may read files")
            if unknown:
                self.not_known("writes", unknown)
                self.gap(unknown)
            return bool(unknown)
        doings = read(word.text) if word.text else NOTHING
        self._do(role, word, doings)
        # That an operand is a remote is no more harm than that it is a host.
        return bool(doings.gap) if role == "remote" else doings.guarded

    def _read_word(self, role: str, word: Word) -> bool:
        """Note what a word does that has a reader of its own; tell whether that is harm."""
        doings = WORD_READERS[role](word)
        self._do(role, word, doings)
        plain = role in _MEANT and not doings.gap
        return doings.guarded and not (plain and all(one.name for one in doings.touched))

    def _do(self, role: str, word: Word, doings: Doings) -> None:
        """Note what a word does."""
        for touched in doings.touched:
            if touched.name is None and role == "remote" and not doings.gap:
                self.untold(
                    touched.verb, f"which host {quote(word.text)} stands for is not in the call"
                )
            elif touched.name is None:
                self.not_known(
                    touched.verb, f"which {_WHAT[touched.verb]} `{self.name}` names is not known"
                )
            else:
                tree = role in _TREES and touched.verb != "connects"
                named = replace(word, text=touched.name) if role in _TREES else Word(touched.name)
                folder = () if touched.verb == "connects" else self.folder
                self.found.append(Effect(verb=touched.verb, word=named, tree=tree, folder=folder))
        if doings.gap:
            self.gap(f"`{self.name}` is given {doings.gap}")
