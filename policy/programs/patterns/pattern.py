"""`CommandPattern`: one item of a set of commands, as it is written in a rule.

A pattern is parsed as a command and analysed by its program's profile, so that options are compared
by meaning. A `*` as a whole word matches any words, other wildcards match characters. A program
that is a path with wildcards stands for the files that it names: `./**` those of the workspace.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import lru_cache

from policy.programs.invocation import GivenOption, Invocation
from policy.programs.patterns.wildcards import (
    has_placeholder,
    shown,
    with_placeholders,
    with_wildcards,
)
from policy.programs.patterns.word_match import Step, matches_any_words, pattern_steps, word_matches
from policy.programs.profiles.profile import MANY_WORDS, Option, Profile
from policy.programs.profiles.registry import Profiles
from policy.programs.script_analysis import analyse_command
from policy.shell import Assignment, Redirection, SimpleCommand, Word, read_script
from policy.values import PathPattern, Unreadable, escape_glob, quote, read_path_pattern

# The roles of command lines: a `*` there leaves the nested commands to other patterns.
COMMAND_LINES = frozenset({"command", "program"})


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandPattern:
    """A command whose words, values and targets may be globs.

    `program` is None where any program matches, or any whose file is one of `files`; without
    wildcards `files` is the program's own path. `steps` must match the operands; `rest`: a `*` also
    matches options. `inner` are the nested commands that it spells; without them every nested
    command needs a pattern of its own. `spells_hidden`: it spells what may run further commands,
    for the reasons in `gaps`; `literal`: it has no wildcard. `any_program`: it stands for every
    program, with all words. `open_at` is the index of a word that
    matches several subcommands; the words after it are interpreted once the subcommand is known,
    see `narrowed`.
    """

    text: str
    program: tuple[str, ...] | None
    place: str = ""
    files: PathPattern | None = None
    options: tuple[GivenOption, ...] = ()
    steps: tuple[Step, ...] = ()
    rest: bool = False
    assignments: tuple[Assignment, ...] = ()
    redirections: tuple[Redirection, ...] = ()
    inner: tuple[CommandPattern, ...] = ()
    gaps: frozenset[str] = frozenset()
    spells_hidden: bool = False
    literal: bool = False
    any_program: bool = False
    open_at: int | None = None
    profiles: Profiles = field(repr=False, compare=False)
    _spelled: SimpleCommand = field(repr=False, compare=False)
    _narrowed: dict[str, CommandPattern] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    @property
    def spelled(self) -> SimpleCommand:
        """The pattern as a command; wildcards are characters that no command contains."""
        return self._spelled

    def narrowed(self, program: tuple[str, ...]) -> CommandPattern:
        """Return the pattern for one subcommand, if it leaves the subcommand open."""
        pattern = self
        while (own := pattern.program) is not None and pattern.open_at is not None:
            if len(own) >= len(program) or program[: len(own)] != own:
                break
            name = program[len(own)]
            if name not in pattern._narrowed:
                pattern._narrowed[name] = _with_subcommand(pattern, name)
            pattern = pattern._narrowed[name]
        return pattern


@lru_cache(maxsize=4096)
def read_command_pattern(text: str, profiles: Profiles) -> CommandPattern | Unreadable:
    """Parse an item such as `git diff *`, `TZ=* date +*`, `sort * > out.txt` or `sudo id`."""
    script = read_script(text)
    if isinstance(script, Unreadable):
        return script
    if len(script.commands) != 1:
        return Unreadable(reason=f"one command is needed here: {quote(text)}")
    # Gaps of the script do not matter: `export *` is not itself a declaration, but matches some.
    command = script.commands[0]
    if not command.words:
        return Unreadable(reason=f"a command pattern without a program: {quote(text)}")
    if command.text.strip() != text.strip():
        # `! *` or `time *` would match any command at all.
        return Unreadable(reason=f"a command pattern is one plain command: {quote(text)}")
    if any(word.shape == "opaque" for word in _all_words(command)) or has_placeholder(text):
        return Unreadable(reason=f"a command pattern spells out its words: {quote(text)}")
    program = command.words[0]
    if program.shape == "glob" and not matches_any_words(program) and _files_of(program) is None:
        return Unreadable(
            reason=f"a command pattern names its program, or files of the workspace: {quote(text)}"
        )
    return _pattern(analyse_command(with_placeholders(command), profiles), text, profiles)


def _with_subcommand(pattern: CommandPattern, name: str) -> CommandPattern:
    """Return the pattern with a subcommand in place of the wildcard that matches it."""
    assert pattern.open_at is not None
    words, place = pattern._spelled.words, pattern.open_at
    word = shown(words[place])
    if not matches_any_words(word) and not word_matches(Word(name), word):
        return replace(pattern, open_at=None)
    # A whole `*` is kept: it may also match words after the subcommand.
    following = (words[place],) if matches_any_words(word) else ()
    narrow = (*words[:place], Word(name), *following, *words[place + 1 :])
    command = replace(pattern._spelled, words=narrow)
    return _pattern(analyse_command(command, pattern.profiles), pattern.text, pattern.profiles)


def profile_of(program: tuple[str, ...], profiles: Profiles) -> Profile | None:
    """Return the profile of a program, or of the subcommand that it ends in."""
    found = profiles.profile(program[0]) if program else None
    for name in program[1:]:
        if found is None:
            return None
        found = found.subcommands.get(name)
    return found


def option_of(name: str, program: tuple[str, ...], profiles: Profiles) -> Option | None:
    """Return the option with this spelling of a program or its subcommand."""
    for length in range(len(program), 0, -1):
        profile = profile_of(program[:length], profiles)
        if profile is not None and name in profile.options:
            return profile.options[name]
    return None


def _all_words(command: SimpleCommand) -> tuple[Word, ...]:
    return (
        *command.words,
        *(item.value for item in command.assignments),
        *(item.target for item in command.redirections),
    )


def _pattern(understood: Invocation, text: str, profiles: Profiles) -> CommandPattern:
    command = with_wildcards(understood.command)
    any_program = bool(command.words) and matches_any_words(command.words[0])
    files = _files_of(command.words[0]) if command.words else None
    any_file = files is not None and command.words[0].shape == "glob"
    inner = tuple(
        _any_program(one.command, profiles)
        if understood.unseen and _stands_for_any(one)
        else _pattern(one, one.command.text, profiles)
        for one in understood.inner
    )
    if any(not one.program and not one.any_program for one in inner):
        inner = ()
    options = tuple(
        replace(one, value=None if one.value is None else shown(one.value))
        for one in understood.options
    )
    # Any program is compared by its words, including the `*` for its name.
    operands = (
        command.words if any_program else tuple(shown(one.word) for one in understood.operands)
    )
    steps = pattern_steps(operands)
    if command.words and matches_any_words(command.words[-1]) and any(map(_takes_run, options)):
        # The `*` at the end is the value of an option, and any words after it.
        steps = steps if steps[-1:] == (None,) else (*steps, None)
    return CommandPattern(
        text=text,
        program=None if any_program or any_file else understood.program,
        place=understood.place,
        files=files,
        options=options,
        steps=steps,
        rest=None in steps or (not inner and any(map(matches_any_words, command.words))),
        assignments=command.assignments,
        redirections=command.redirections,
        inner=inner,
        gaps=frozenset(understood.gaps),
        spells_hidden=_spells_commands(understood, profiles),
        literal=not any(has_placeholder(word.text) for word in understood.command.words),
        open_at=_open_at(understood, profiles),
        profiles=profiles,
        _spelled=understood.command,
    )


def _stands_for_any(nested: Invocation) -> bool:
    """Return whether a nested command is spelled `?* *`: any program, and any words."""
    words = [shown(word).text for word in nested.command.words]
    return words == ["?*", "*"]


def _any_program(command: SimpleCommand, profiles: Profiles) -> CommandPattern:
    """Return the pattern of whatever a program fetches and runs: `npx ?* *`.

    Its words are for code that is not known, which may do anything.
    """
    return CommandPattern(
        text="?* *",
        program=None,
        rest=True,
        any_program=True,
        profiles=profiles,
        _spelled=command,
    )


def _files_of(program: Word) -> PathPattern | None:
    """Return the files that a path names: a relative one those of the workspace.

    None for any other program, also for an absolute path without wildcards.
    """
    relative = not program.home and not program.text.startswith("/")
    if "/" not in program.text or (program.known and not relative):
        return None
    text = escape_glob(program.text) if program.known else program.text
    files = read_path_pattern(text)
    if isinstance(files, Unreadable):
        return None
    # `./**` begins in the workspace, wherever an item of paths may lie.
    return replace(files, base="workspace") if relative else files


def _open_at(understood: Invocation, profiles: Profiles) -> int | None:
    """Return the index of the first operand if it is a wildcard in place of a subcommand."""
    profile = profile_of(understood.program, profiles)
    if profile is None or not profile.subcommands or not understood.operands:
        return None
    first = understood.operands[0].word
    if not has_placeholder(first.text):
        return None
    words = understood.command.words
    return next((place for place, word in enumerate(words) if word is first), None)


def _takes_run(option: GivenOption) -> bool:
    return option.value is not None and matches_any_words(option.value)


def _spells_commands(understood: Invocation, profiles: Profiles) -> bool:
    """Return whether the pattern spells what may run further commands."""
    command = understood.command
    if _spells_subcommand(understood, profiles) or _spells_input(command):
        return True
    if any(one.guarded and not has_placeholder(one.word.text) for one in understood.operands):
        return True
    if any(profiles.variable(one.name) in ("command", "code") for one in command.assignments):
        return True
    return any(
        one.guarded and not one.unknown and _spells_value(one, understood.program, profiles)
        for one in understood.options
    )


def _spells_input(command: SimpleCommand) -> bool:
    """Return whether it accepts any text that the script gives as input: `python3 <<< *`."""
    return command.stdin is not None and command.stdin.text.strip() == "*"


def _spells_subcommand(understood: Invocation, profiles: Profiles) -> bool:
    """Return whether it names a subcommand that the program's profile does not have."""
    first = understood.operands[0].word if understood.operands else None
    return (
        not understood.profiled
        and first is not None
        and not has_placeholder(first.text)
        and profile_of(understood.program, profiles) is not None
    )


def _spells_value(option: GivenOption, program: tuple[str, ...], profiles: Profiles) -> bool:
    """Return whether a wildcard in the option's value cannot stand for commands."""
    known = option_of(option.name, program, profiles)
    opens = known is not None and (known.role in COMMAND_LINES or known.role in MANY_WORDS)
    return not opens or (option.value is not None and not has_placeholder(option.value.text))
