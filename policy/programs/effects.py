"""The effects found so far of one command: what it accesses, runs and leaves open."""

from __future__ import annotations

from dataclasses import replace

from policy.programs.arguments.http_redirects import HttpRedirects
from policy.programs.found_paths import NOT_SEARCHED, FoundPaths
from policy.programs.invocation import CommandEffect, HandedWord, Invocation, NewNames, Verb
from policy.programs.nested_commands import ANY_WORDS, NestedCommands, Run
from policy.programs.placeholders import NO_PLACEHOLDERS, OF_FIND, USUAL, Placeholders
from policy.programs.profiles.profile import UNTIL_THE_END, Profile
from policy.programs.profiles.registry import Profiles
from policy.programs.profiles.variables import listed_folders
from policy.programs.words.remotes import is_web_url
from policy.shell import Assignment, SimpleCommand, Word

VERBS: dict[str, tuple[tuple[Verb, ...], bool]] = {
    "read": (("reads",), False),
    "read-tree": (("reads",), True),
    "list-file": (("reads",), False),
    "list-tree": (("reads",), True),
    "list-write-tree": (("reads", "writes"), True),
    "write": (("writes",), False),
    "write-tree": (("writes",), True),
    "copy-tree": (("writes",), True),
    "unpack-tree": (("writes",), True),
    "stored-tree": (("writes",), True),
    "patch-tree": (("writes",), True),
    "write-into": (("writes",), False),
    "read-write": (("reads", "writes"), False),
    "read-write-tree": (("reads", "writes"), True),
    "host": (("connects",), False),
    "connect": (("connects",), False),
    "recipient": (("sends",), False),
    "send": (("sends",), False),
}

# Roles in which `-` is standard input or output.
_STREAMED = frozenset({"read", "read-tree", "list"})
# Roles of trees in which files of other names than the program's own are created.
NEW_NAMES: dict[str, NewNames] = {
    "copy-tree": "copied", "unpack-tree": "any", "stored-tree": "stored", "patch-tree": "patched",
}  # fmt: skip
# Roles of which only names and attributes are read, and no contents.
LISTED = frozenset({"list-file", "list-tree", "list-write-tree"})


UNKNOWN_FOLDER = Word("", "opaque")
_HERE = Word(".")
_TOO_MANY = "the words name more files and hosts than are looked at"
_NO_PROFILE = Profile(name="")


class CommandEffects:
    """The effects of one command found so far; `name` is its program, for messages."""

    __slots__ = (
        "_told", "after_option", "command", "folder", "found", "gaps", "handed", "inline_code",
        "inner", "members", "name", "nesting", "other_gaps", "passes_on", "profile", "profiles",
        "redirects", "settings", "suffixes", "unseen",
    )  # fmt: skip

    def __init__(
        self, command: SimpleCommand, profiles: Profiles, *, nesting: NestedCommands
    ) -> None:
        self.command = command
        self.profiles = profiles
        self.nesting = nesting
        self.name = ""
        self.settings: tuple[str, ...] = ()
        self.found: list[CommandEffect] = []
        self._told: set[tuple[Verb, str, bool]] = set()
        self.inner: list[Invocation] = []
        # Words that are given to code, if the program runs code that is not in the call.
        self.handed: list[HandedWord] = []
        self.gaps: list[str] = []
        # Gaps by code that the command spells out, and all others; a reason may be both.
        self.inline_code: set[str] = set()
        self.other_gaps: set[str] = set()
        self.unseen = False
        self.folder: tuple[Word, ...] = ()
        # The folders that apply to the operands after them only (`tar -C`).
        self.members: tuple[Word, ...] = ()
        # Suffixes that are added to the names of files that are written.
        self.suffixes: tuple[Word, ...] = ()
        # The profile by which the words are understood at the moment.
        self.profile = _NO_PROFILE
        self.redirects = HttpRedirects()
        # Whether words are passed on to a program of which it is not known what it does with them.
        self.passes_on = False
        # Whether the word before is an option, of which this one may be the value.
        self.after_option = False

    def note_access(self, role: str, word: Word, *, option: str) -> None:
        """Record the resource that a word names."""
        verbs, tree = VERBS[role]
        if word.text == "-" and word.known and (option or role in _STREAMED):
            return
        if not self.has_room(word.text):
            return
        for verb in verbs:
            listed = (verb == "reads" and role in LISTED) or role == "stored-tree"
            folder = self.folder if verb in ("reads", "writes") else ()
            effect = CommandEffect(
                verb=verb,
                word=word,
                tree=tree,
                folder=folder,
                listed=listed,
                new_names=NEW_NAMES.get(role, "own"),
            )
            self.found.append(effect)

    def has_room(self, text: str) -> bool:
        """Count a resource of this name; beyond what is looked at, the command may do anything."""
        room = self.nesting.budget.name_resource(text)
        if not room and _TOO_MANY not in self.gaps:
            self.may_do_anything(_TOO_MANY)
        return room

    def hand(self, word: Word) -> None:
        """Record that the program's code is given a word, and may write the file that it names."""
        known = self.profile.only_reads and not (self.after_option or word.text.startswith("-"))
        if not known:
            only_reads = self.profile.only_reads
            self.handed.append(HandedWord(word=word, folder=self.folder, only_reads=only_reads))

    def note_working_folder(self) -> None:
        """Record that the program reads the folder that it runs in, though no word names it."""
        here = CommandEffect(verb="reads", word=_HERE, folder=self.folder, working_folder=True)
        if replace(here, working_folder=False) not in self.found:
            self.found.append(here)

    def note_command(self, role: str, word: Word, label: str) -> None:
        """Record the command that a word in a role makes the program run."""
        match role:
            case "script":
                self._script(word, label)
            case "code":
                self.gap(f"`{label}` runs code of another language", spelled=word.known)
            case "command":
                self.run(self.nesting.script(word, label=label, folder=self.folder))
            case "program":
                self.run(self.nesting.program(word, label=label, folder=self.folder))
            case "unseen":
                self.unseen = True
            case _:
                self.gap(f"`{label}` may run commands that its words do not show")

    def run_words(
        self,
        role: str,
        words: tuple[Word, ...],
        *,
        option: str,
        placeholders: Placeholders | None,
        found: FoundPaths,
    ) -> None:
        """Record the command that words form, after an optional `--`.

        `placeholders` are those that options name.
        """
        if words and words[0].known and words[0].text == "--":
            words = words[1:]
        label = f"{self.name} {option}".rstrip()
        if role == "words-command...":
            self.run(self.nesting.joined(words, label=label, folder=self.folder))
            return
        folder = self.folder
        if role == "argv-until-there":
            # It runs in the folder of each file that is found, and is given its name: that of BSD
            # without `./`, so that it may be an option.
            folder = (*folder, UNKNOWN_FOLDER)
            found = NOT_SEARCHED
        more = role == "argv-more..."
        if role in UNTIL_THE_END:
            placeholders = OF_FIND
        elif placeholders is None:
            placeholders = USUAL if more else NO_PLACEHOLDERS
        if not placeholders.spelled:
            self.gap(f"which words of `{label}` stand for others is not known")
        searched = found != NOT_SEARCHED
        added = (replace(found.word(), many=True) if searched else ANY_WORDS,)
        # If nothing is found, the command runs without it.
        ends: tuple[tuple[Word, ...], ...] = ((),)
        if more and placeholders.added:
            ends = ((), added) if searched or placeholders is not USUAL else (added,)
        for end in ends:
            read = self.nesting.words(
                words,
                label=label,
                folder=folder,
                assigns=role == "env-argv...",
                fed=not more,
                more=end,
                placeholders=placeholders,
                found=found,
            )
            if read.command.words:
                self.inner.append(read)

    def variable(self, assignment: Assignment) -> None:
        """Record how a variable affects the command that it is set for."""
        role = self.profiles.variable(assignment.name)
        if role != "command":
            role = self.profiles.variable_set(assignment)
        name, value = assignment.name, assignment.value
        if role is None or role == "harmless" or (value.known and not value.text):
            return
        if role == "code" or (role == "command" and assignment.appends):
            self.gap(f"the variable `{name}` may make programs run code")
        elif role == "command":
            self.run(self.nesting.script(value, label=name, folder=()))
        elif role == "folders":
            start = value.below_start is not None
            for folder in listed_folders(value) or ():
                word = value if start else Word(folder)
                self.note_access("list-tree", word, option="")
                self.note_access("read", word, option="")
            if listed_folders(value) is None:
                self.note_access("read", value, option="")
        elif role == "searched":
            self.unknown_access("reads", f"which file the variable `{name}` names is not known")
        else:
            self.note_access(role, value, option="")

    def unknown_access(self, verb: Verb, why: str) -> None:
        """Record an access to an unknown resource."""
        self._note_once(CommandEffect(verb=verb, why=why))

    def unseen_access(self, verb: Verb, why: str) -> None:
        """Record an access to a resource that a configuration or a service determines."""
        self._note_once(CommandEffect(verb=verb, why=why, unseen=True))

    def _note_once(self, effect: CommandEffect) -> None:
        """Record what is not known of a command, of which each word may be a reason."""
        told = (effect.verb, effect.why, effect.unseen)
        if told not in self._told:
            self._told.add(told)
            self.found.append(effect)

    def may_do_anything(self, why: str, *, runs: bool = True) -> None:
        """Record that the command may do anything."""
        verbs: tuple[Verb, ...] = ("reads", "writes", "connects")
        for verb in verbs:
            self.unknown_access(verb, why)
        if runs:
            self.gap(why)

    def gap(self, why: str, *, spelled: bool = False) -> None:
        """Record why the command may run further commands that are not known.

        `spelled`: the command spells out the code that may run them.
        """
        (self.inline_code if spelled else self.other_gaps).add(why)
        if why not in self.gaps:
            self.gaps.append(why)

    def run(self, run: Run) -> None:
        """Record nested commands, and why there may be others."""
        commands, gaps = run
        self.inner.extend(commands)
        for gap in gaps:
            self.gap(gap)

    def _input_is_spelled(self) -> bool:
        """Return whether the script gives the command its whole input, as a text."""
        command = self.command
        given = command.stdin is not None and command.stdin.known and not command.piped
        return given and not any(one.op.startswith("<") for one in command.redirections)

    def _script(self, word: Word, label: str) -> None:
        if word.known and word.text == "-" and self._input_is_spelled():
            self.gap(f"`{self.name}` runs code of another language", spelled=True)
            return
        if word.known and word.text in ("-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"):
            self.gap(f"what `{label}` runs from its input is not known")
            return
        self.unseen = True
        self.note_access("read", word, option="")
        if is_web_url(word.text):
            self.note_access("connect", word, option="")
        if not word.known:
            self.gap(f"which file `{label}` runs is not known")
