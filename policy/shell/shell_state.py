"""What a script has changed about its shell so far, and what has been found in it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from policy.shell.not_readable import NotReadable
from policy.shell.script import SimpleCommand
from policy.shell.word import Assignment, Word
from policy.shell.working_directories import (
    NOWHERE,
    START,
    UNKNOWN,
    Folders,
    Places,
    after_change,
    after_popd,
    after_pushd,
    either_directory,
    possible_directories,
)

# Names that are no environment variables by custom, so that no program sees them unless exported.
_PRIVATE_NAME = re.compile(r"[a-z_][a-z0-9_]*")
_PUBLIC_IN_SMALL = re.compile(r"[a-z]+_proxy|histchars|auto_resume|_")
# Variables that the shell sets, refuses to set or reads in a way of its own.
_OWN = re.compile(
    r"BASH.*|COMP_.*|EPOCH.*|HIST.*|OPT.*|READLINE.*|[EP]?UID|PPID|S?RANDOM|SECONDS|LINENO|PWD"
    r"|OLDPWD|GROUPS|FUNCNAME|DIRSTACK|SHELLOPTS|HOME|IFS|REPLY|MAPFILE|PIPESTATUS|COPROC.*|LINES"
    r"|COLUMNS|_"
)
# Every later command may see each of them.
_MOST_CARRIED = 256
_NUMBER = re.compile(r"[+-]?[0-9]+")
_NOTHING: Mapping[str, str] = MappingProxyType({})
_NO_VALUES: Mapping[str, str | Word] = MappingProxyType({})
_UNKNOWN = Word("", "opaque")
_DEEPEST = 32
# Each word is looked at by every rule that speaks of resources; no command of an agent has more.
_MOST_WORDS = 2_000
# Quotes, expansions and other signs: each costs as much as a word.
_MOST_PARTS = 20_000
# Letters that variables are replaced by: `x=$x$x` doubles a text each time.
_MOST_REPLACED = 1_000_000
_FIXED = frozenset({"BASHOPTS", "BASH_VERSINFO", "EUID", "PPID", "SHELLOPTS", "UID"})


@dataclass(slots=True)
class Findings:
    """The commands of a script with what else is found, and what bounds the reading."""

    commands: list[SimpleCommand] = field(default_factory=list)
    gaps: dict[str, None] = field(default_factory=dict)
    # Every variable that programs may see set by the script itself.
    carried: dict[Assignment, None] = field(default_factory=dict)
    # Commands of function bodies, which run whenever they are called.
    bodies: list[int] = field(default_factory=list)
    moved: bool = False
    # Functions by how many definitions there are; whether a body changes the folder.
    defined: dict[str, int] = field(default_factory=dict)
    wandering: bool = False
    # Programs and functions that traps run.
    handlers: set[str] = field(default_factory=set)
    # Programs that print for the next one of a pipeline.
    feeding: set[str] = field(default_factory=set)
    # What may leave a function before its end.
    jumps: int = 0
    # Whether a failure may not end the shell though it was told so, and whether functions may be
    # gone or stand for others.
    forgiving: bool = False
    # Variables that cannot be set (`*`: any), the shells at what may fail so that the rest of the
    # line is dropped, and whether any command may.
    fixed: set[str] = field(default_factory=lambda: set(_FIXED))
    drops: list[ShellState] = field(default_factory=list)
    failing: bool = False
    # Programs of which it matters that they print numbers.
    counting: set[str] = field(default_factory=set)
    replaced_functions: bool = False
    # Whether a command stands where the shell may put an alias.
    aliased: bool = False
    words: int = 0
    parts: int = 0
    replaced: int = 0
    depth: int = 0
    # How many times what stands here is read: once for each value of the loops around.
    passes: int = 1
    # How many loops may still be read once more, where a first reading did not hold.
    attempts: int = 32
    # Variables that arithmetic reads, and those that may hold any text.
    computed: set[str] = field(default_factory=set)
    texts: set[str] = field(default_factory=set)

    def copy(self) -> Findings:
        """Return what has been found up to here, to come back to it by `become`."""
        other = Findings()
        for name in self.__slots__:
            value = getattr(self, name)
            setattr(other, name, value.copy() if isinstance(value, list | dict | set) else value)
        return other

    def become(self, other: Findings) -> None:
        """Take over what a copy holds that is not used any more, but for the attempts made."""
        attempts = self.attempts
        for name in self.__slots__:
            setattr(self, name, getattr(other, name))
        self.attempts = attempts

    def gap(self, reason: str) -> None:
        """Say what else may run."""
        self.gaps[reason] = None

    def count_word(self) -> None:
        """Count one word more."""
        self.words += 1
        if self.words > _MOST_WORDS:
            raise NotReadable("a script with too many words")

    def count_part(self) -> None:
        """Count one part of a word, or of what stands in it."""
        self.parts += 1
        if self.parts > _MOST_PARTS:
            raise NotReadable("a script with too many quotes and signs")

    def count_replaced(self, value: str) -> None:
        """Count a text that stands for a variable."""
        self.replaced += len(value)
        if self.replaced > _MOST_REPLACED:
            raise NotReadable("a script whose variables grow too long")

    def enter(self) -> None:
        """Go one level deeper."""
        self.depth += 1
        if self.depth > _DEEPEST:
            raise NotReadable("a script that is nested too deeply")

    def leave(self) -> None:
        """Come back from `enter`."""
        self.depth -= 1


@dataclass(slots=True)
class ShellState:
    """The state of one shell. All its values are immutable, so that a copy is cheap.

    `values` are variables that surely hold a literal, or the name of a file that fits a glob; None
    once that cannot be told any more.
    `conditional` counts the constructs around, because of which what is read may not run. `places`
    is where the shell stands if the last command worked, `failed` if it did not; with `stops` it
    ends where a plain command fails. `ending` are functions that surely end the shell.
    """

    findings: Findings
    places: Places = START
    failed: Places = START
    moves: int = 0
    stops: bool = False
    values: Mapping[str, str | Word] | None = field(default_factory=lambda: _NO_VALUES)
    functions: frozenset[str] = frozenset()
    ending: frozenset[str] = frozenset()
    aliases: Mapping[str, str] = field(default_factory=lambda: _NOTHING)
    carried: tuple[Assignment, ...] = ()
    piped: bool = False
    stdin: Word | None = None
    fed_by: tuple[Word, ...] = ()
    conditional: int = 0

    def fork(self) -> ShellState:
        """Return a copy, to be what a subshell starts with."""
        return ShellState(
            findings=self.findings,
            places=self.places,
            failed=self.failed,
            moves=self.moves,
            stops=self.stops,
            values=self.values,
            functions=self.functions,
            ending=self.ending,
            aliases=self.aliases,
            carried=self.carried,
            piped=self.piped,
            stdin=self.stdin,
            conditional=self.conditional,
        )

    def become(self, other: ShellState) -> None:
        """Take over the state of a copy made before."""
        self.places = other.places
        self.failed = other.failed
        self.moves = other.moves
        self.stops = other.stops
        self.values = other.values
        self.functions = other.functions
        self.ending = other.ending
        self.aliases = other.aliases
        self.carried = other.carried
        self.piped = other.piped
        self.stdin = other.stdin
        self.conditional = other.conditional

    def note_text(self, given: Assignment) -> None:
        """Note that a variable may hold any text, unless it is given a number."""
        if not (given.value.known and _NUMBER.fullmatch(given.value.text)):
            self.findings.texts.add(given.name)

    def may_drop(self) -> None:
        """Note that bash may fail here and drop what follows, but for what begins in a later line.

        So it does after an expansion that it cannot compute, or where a variable cannot be set.
        """
        drops = self.findings.drops
        if not drops or drops[-1].values is not self.values or drops[-1].places != self.places:
            drops.append(self.fork())

    def end_line(self) -> None:
        """Be, from the next line on, also what the shell was where the rest was dropped."""
        for each in self.findings.drops:
            if self.values is not None and self.values != each.values:
                known = each.values or _NO_VALUES
                self.values = {
                    name: value for name, value in self.values.items() if known.get(name) == value
                }
            self.places = either_directory(self.places, either_directory(each.places, each.failed))
            self.failed = either_directory(self.failed, self.places)
            self.functions &= each.functions
            self.ending &= each.ending
            self.stops = self.stops and each.stops
            self.piped = self.piped or each.piped
        self.findings.drops.clear()

    def _is_fixed(self, name: str) -> bool:
        return not self.findings.fixed.isdisjoint((name, "*"))

    def assign(self, given: Assignment, *, exported: bool = False, number: bool = False) -> None:
        """Set a variable of the shell itself; to a number, whatever is known of the value."""
        name, value = given.name, given.value
        fixed = self._is_fixed(name)
        if fixed:
            self.may_drop()
        if name == "HOME":
            self.findings.gap("`HOME` is set by the script, so that `~` may be any folder")
        if name == "DIRSTACK":
            self.findings.gap("`DIRSTACK` is set, so that `popd` may go anywhere")
        if not number:
            self.note_text(given)
        if exported or _PUBLIC_IN_SMALL.fullmatch(name) or not _PRIVATE_NAME.fullmatch(name):
            seen = given if exported else replace(given, kept=True)
            self.findings.carried[seen] = None
            if len(self.findings.carried) > _MOST_CARRIED:
                raise NotReadable("a script that sets too many variables")
            if seen not in self.carried:
                self.carried = (*self.carried, seen)
        if self.values is None:
            return
        if name == "IFS":
            self.values = None
            return
        plain = value.known and not value.home and not given.appends and not self.conditional
        if plain and not fixed and not _OWN.fullmatch(name):
            self.values = {**self.values, name: value.text}
        else:
            self.forget(name)

    def set_unknown(self, name: str) -> None:
        """Set a variable to a text that is not known."""
        self.assign(Assignment(name, _UNKNOWN))

    def set_number(self, name: str) -> None:
        """Set a variable to a number that is not known."""
        self.assign(Assignment(name, _UNKNOWN), number=True)

    def set_file(self, name: str, glob: Word) -> None:
        """Set a variable to a file that fits a glob, as long as nothing else sets it."""
        self.set_unknown(name)
        self._hold(name, glob)

    def set_value(self, name: str, value: str | Word) -> None:
        """Let a variable of a loop be this value, until something else sets it."""
        self._hold(name, value)

    def _hold(self, name: str, value: str | Word) -> None:
        if self._is_fixed(name):
            self.may_drop()
            self.forget(name)
        elif self.values is not None and not _OWN.fullmatch(name):
            self.values = {**self.values, name: value}

    def forget(self, name: str) -> None:
        """Let the value of one variable be unknown."""
        if self.values and name in self.values:
            self.values = {each: text for each, text in self.values.items() if each != name}

    def forget_values(self) -> None:
        """Let the values of all variables be unknown, though new ones may be known."""
        if self.values:
            self.values = _NO_VALUES

    @property
    def folders(self) -> tuple[Folders, ...]:
        """The folders that a command may run in that stands here."""
        return possible_directories(self.places)

    def stay(self) -> None:
        """Stand in the same place whether the last command worked or not."""
        self.failed = self.places

    def settle(self) -> None:
        """Stand where the last command left the shell, whether it worked or not."""
        self.places = either_directory(self.failed, self.places)
        self.failed = self.places

    def end(self) -> None:
        """Let nothing that follows be reached."""
        self.places = self.failed = NOWHERE

    def lose_folder(self) -> None:
        """Let the folder be unknown from here on."""
        self.places = self.failed = UNKNOWN
        self._move()

    def move(self, target: Word | None) -> None:
        """Change to a folder that is spelled as a plain path, or to one that is not known."""
        self.failed, self.places = self.places, after_change(self.places, target)
        self._move()

    def push(self, target: Word | None) -> None:
        """Change to a folder from which `pop` comes back."""
        self.failed, self.places = self.places, after_pushd(self.places, target)
        self._move()

    def pop(self) -> None:
        """Change to the folder that was pushed last, if one was."""
        self.failed, self.places = self.places, after_popd(self.places)
        self._move()

    def _move(self) -> None:
        self.moves += 1
        self.findings.moved = True
