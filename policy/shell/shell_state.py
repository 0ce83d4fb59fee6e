"""The state of a shell at one point of a script, and the findings of the parser so far."""

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
# Variables that the shell sets, refuses to set or treats specially.
# Neither blanks nor wildcards, which an unquoted variable would split and expand.
_BELOW_HOME = re.compile(r"~(?:/[A-Za-z0-9_.@%+-]+)+/?")
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
# Every rule with a resource condition examines each word; no command of an agent has more.
_MOST_WORDS = 2_000
# Quotes, expansions and operators: each costs as much as a word.
_MOST_PARTS = 8_000
# Total length of variable values substituted: `x=$x$x` doubles a text each time.
_MOST_REPLACED = 1_000_000
_FIXED = frozenset({"BASHOPTS", "BASH_VERSINFO", "EUID", "PPID", "SHELLOPTS", "UID"})


@dataclass(slots=True)
class Findings:
    """The commands of a script, other findings, and the counters that bound the parser's work."""

    commands: list[SimpleCommand] = field(default_factory=list)
    gaps: dict[str, None] = field(default_factory=dict)
    # Every variable set by the script that programs may see.
    carried: dict[Assignment, None] = field(default_factory=dict)
    # Commands of function bodies, which run whenever the functions are called.
    bodies: list[int] = field(default_factory=list)
    moved: bool = False
    # The number of definitions of each function; whether a body changes the folder.
    defined: dict[str, int] = field(default_factory=dict)
    wandering: bool = False
    # Programs and functions that traps run.
    handlers: set[str] = field(default_factory=set)
    # Programs that print for the next one of a pipeline.
    feeding: set[str] = field(default_factory=set)
    # The number of commands that may leave a function before its end.
    jumps: int = 0
    # Whether `set -e` may be ineffective, and whether functions may be removed or replaced.
    forgiving: bool = False
    # Variables that cannot be set (`*`: any), the shell states where an error may drop the rest of
    # the line, and whether any command may fail so.
    fixed: set[str] = field(default_factory=lambda: set(_FIXED))
    drops: list[ShellState] = field(default_factory=list)
    failing: bool = False
    # Programs that are relied on to print numbers.
    counting: set[str] = field(default_factory=set)
    # Programs that are relied on to print paths, and whether the script says how their output is
    # split, or what the current folder is called.
    printing: set[str] = field(default_factory=set)
    splitting: bool = False
    renaming: bool = False
    replaced_functions: bool = False
    # Whether a command is at a place where the shell may expand an alias.
    aliased: bool = False
    # Whether commands run beside others (pipes, `&`, substitutions), and whether some may run
    # repeatedly or later than their position (loops, functions, traps).
    concurrent: bool = False
    repeats: bool = False
    words: int = 0
    parts: int = 0
    replaced: int = 0
    depth: int = 0
    # How many times the current text is parsed: once for each value of the loops around.
    passes: int = 1
    # How many loops may still be parsed again, where the first attempt failed.
    attempts: int = 32
    # Variables that arithmetic reads, and those that may hold any text.
    computed: set[str] = field(default_factory=set)
    texts: set[str] = field(default_factory=set)

    def copy(self) -> Findings:
        """Return a copy, to be restored by `restore`."""
        other = Findings()
        for name in self.__slots__:
            value = getattr(self, name)
            setattr(other, name, value.copy() if isinstance(value, list | dict | set) else value)
        return other

    def restore(self, other: Findings) -> None:
        """Restore the state from a copy, which is not used again; the attempts are kept."""
        attempts = self.attempts
        for name in self.__slots__:
            setattr(self, name, getattr(other, name))
        self.attempts = attempts

    def gap(self, reason: str) -> None:
        """Record why further commands may run."""
        self.gaps[reason] = None

    def count_word(self) -> None:
        """Count one word."""
        self.words += 1
        if self.words > _MOST_WORDS:
            raise NotReadable("a script with too many words")

    def count_part(self) -> None:
        """Count one part of a word, or of its contents."""
        self.parts += 1
        if self.parts > _MOST_PARTS:
            raise NotReadable("a script with too many quotes and signs")

    def count_replaced(self, value: str) -> None:
        """Count the value of a substituted variable."""
        self.replaced += len(value)
        if self.replaced > _MOST_REPLACED:
            raise NotReadable("a script whose variables grow too long")

    def enter(self) -> None:
        """Go one level deeper."""
        self.depth += 1
        if self.depth > _DEEPEST:
            raise NotReadable("a script that is nested too deeply")

    def leave(self) -> None:
        """Undo `enter`."""
        self.depth -= 1


@dataclass(slots=True)
class ShellState:
    """The state of one shell. All its values are immutable, so that a copy is cheap.

    `values` are variables that surely hold a literal, or the name of a file that matches a glob;
    None once that is no longer certain. `conditional` counts the enclosing constructs because of
    which the current command may not run. `positions` are the possible folders if the last command
    succeeded, `failed` if it failed; with `stops` the shell ends where a plain command fails.
    `ending` are functions that surely end the shell.
    """

    findings: Findings
    positions: Places = START
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
    fed_before: tuple[tuple[Word, ...], ...] = ()
    conditional: int = 0

    def fork(self) -> ShellState:
        """Return a copy for a subshell."""
        return ShellState(
            findings=self.findings,
            positions=self.positions,
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

    def restore(self, other: ShellState) -> None:
        """Take over the state of a copy made before."""
        self.positions = other.positions
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
        """Record that a variable may hold any text, unless the value is a number."""
        if not (given.value.known and _NUMBER.fullmatch(given.value.text)):
            self.findings.texts.add(given.name)

    def may_drop(self) -> None:
        """Record that bash may fail here and drop the rest of the line.

        It does so after an expansion that it cannot evaluate, or where a variable cannot be set.
        """
        drops = self.findings.drops
        if (
            not drops
            or drops[-1].values is not self.values
            or drops[-1].positions != self.positions
        ):
            drops.append(self.fork())

    def end_line(self) -> None:
        """From the next line on, also allow for the states in which the rest was dropped."""
        for each in self.findings.drops:
            if self.values is not None and self.values != each.values:
                known = each.values or _NO_VALUES
                self.values = {
                    name: value for name, value in self.values.items() if known.get(name) == value
                }
            self.positions = either_directory(
                self.positions, either_directory(each.positions, each.failed)
            )
            self.failed = either_directory(self.failed, self.positions)
            self.functions &= each.functions
            self.ending &= each.ending
            self.stops = self.stops and each.stops
            self.piped = self.piped or each.piped
        self.findings.drops.clear()

    def _is_fixed(self, name: str) -> bool:
        return not self.findings.fixed.isdisjoint((name, "*"))

    def assign(self, given: Assignment, *, exported: bool = False, number: bool = False) -> None:
        """Set a variable of the shell itself; with `number`, to a number, known or not."""
        name, value = given.name, given.value
        fixed = self._is_fixed(name)
        if fixed:
            self.may_drop()
        if name == "HOME":
            self.findings.gap("`HOME` is set by the script, so that `~` may be any folder")
        self._note_special(name)
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
        # A path below the home folder is kept with its `~`, which the shell has expanded here.
        below_home = value.known and value.home and _BELOW_HOME.fullmatch(value.text) is not None
        plain = (value.known and not value.home) or value.number or below_home
        plain = plain or value.below_start is not None or bool(value.printed)
        plain = plain and not given.appends and not self.conditional
        if plain and not fixed and not _OWN.fullmatch(name):
            text = value.known and not value.home
            self.values = {**self.values, name: value.text if text else value}
        else:
            self.forget(name)

    def _note_special(self, name: str) -> None:
        self.findings.splitting = self.findings.splitting or name == "IFS"
        self.findings.renaming = self.findings.renaming or name == "PWD"

    def set_unknown(self, name: str) -> None:
        """Set a variable to an unknown text."""
        self.assign(Assignment(name, _UNKNOWN))

    def unset(self, name: str) -> None:
        """Remove a variable; another one of that name may be seen then."""
        self.assign(Assignment(name, Word("")))
        self.forget(name)

    def set_number(self, name: str) -> None:
        """Set a variable to an unknown number."""
        self.assign(Assignment(name, _UNKNOWN), number=True)

    def set_file(self, name: str, glob: Word) -> None:
        """Set a variable to a file that matches a glob, until it is set again."""
        self.set_unknown(name)
        self._hold(name, glob)

    def set_value(self, name: str, value: str | Word) -> None:
        """Set a loop's variable to this value, until it is set again."""
        self._hold(name, value)

    def _hold(self, name: str, value: str | Word) -> None:
        self._note_special(name)
        if self._is_fixed(name):
            self.may_drop()
            self.forget(name)
        elif self.values is not None and not _OWN.fullmatch(name):
            self.values = {**self.values, name: value}

    def forget(self, name: str) -> None:
        """Make the value of one variable unknown."""
        self._note_special(name)
        if self.values and name in self.values:
            self.values = {each: text for each, text in self.values.items() if each != name}

    def forget_values(self) -> None:
        """Make the values of all variables unknown; later assignments may be known."""
        if self.values:
            self.values = _NO_VALUES

    @property
    def is_at_start(self) -> bool:
        """Whether the shell is surely in the folder in which the script starts."""
        return self.values is not None and self.folders == ((),)

    @property
    def folders(self) -> tuple[Folders, ...]:
        """The possible folders of a command here."""
        return possible_directories(self.positions)

    def stay(self) -> None:
        """Assume the same folders whether the last command succeeded or not."""
        self.failed = self.positions

    def settle(self) -> None:
        """Merge the folders after success and after failure of the last command."""
        self.positions = either_directory(self.failed, self.positions)
        self.failed = self.positions

    def end(self) -> None:
        """Make everything that follows unreachable."""
        self.positions = self.failed = NOWHERE

    def lose_folder(self) -> None:
        """Make the folder unknown from here on."""
        self.positions = self.failed = UNKNOWN
        self._move()

    def move(self, target: Word | None) -> None:
        """Change to a folder that is spelled as a plain path, or to an unknown one."""
        self.failed, self.positions = self.positions, after_change(self.positions, target)
        self._move()

    def push(self, target: Word | None) -> None:
        """Change to a folder from which `pop` returns."""
        self.failed, self.positions = self.positions, after_pushd(self.positions, target)
        self._move()

    def pop(self) -> None:
        """Change to the folder that was pushed last, if there is one."""
        self.failed, self.positions = self.positions, after_popd(self.positions)
        self._move()

    def _move(self) -> None:
        self.moves += 1
        self.findings.moved = True
