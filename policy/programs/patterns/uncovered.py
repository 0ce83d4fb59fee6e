"""What keeps a set of patterns from covering a command, as a phrase for people."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from policy.programs.invocation import Invocation
from policy.programs.patterns.coverage import named_program, needs_no_pattern, spells_gaps
from policy.programs.patterns.match import (
    is_harmless_assignment,
    is_option_like,
    matches_command,
    matches_program,
    uncovered_options,
    uncovered_redirections,
)
from policy.programs.patterns.pattern import CommandPattern
from policy.programs.profiles.registry import NO_PROFILES
from policy.shell import Word
from policy.values import quote

_ONE_OF_ITS_PROGRAM = 2
_SPELL = "which `*` does not cover: spell it out"


def uncovered_commands(
    invocation: Invocation,
    patterns: Sequence[CommandPattern],
    *,
    redirections_covered: bool = False,
) -> Iterator[tuple[Invocation, str]]:
    """Yield the commands that no pattern covers, with what they lack.

    That is the command or some of those that it runs. What they lack is a program, an option, a
    word, a redirection or a pattern for hidden commands.
    """
    found = False
    profiles = patterns[0].profiles if patterns else NO_PROFILES
    for each in invocation.walk():
        command = named_program(each, patterns, profiles) or each
        if not _is_covered(command, patterns, redirections_covered=redirections_covered):
            found = True
            yield command, _why(command, patterns, redirections_covered=redirections_covered)
    if not found:
        yield invocation, f"no pattern spells what {quote(invocation.command.text)} runs"


def _is_covered(
    command: Invocation, patterns: Sequence[CommandPattern], *, redirections_covered: bool
) -> bool:
    covered = redirections_covered
    profiles = patterns[0].profiles if patterns else NO_PROFILES
    if needs_no_pattern(command, redirections_covered=covered, profiles=profiles):
        return True
    return any(
        matches_command(command, pattern, redirections_covered=covered) is True
        and spells_gaps(command, pattern)
        for pattern in _all_of(patterns)
    )


def _all_of(patterns: Sequence[CommandPattern]) -> Iterator[CommandPattern]:
    for pattern in patterns:
        yield pattern
        yield from _all_of(tuple(one for one in pattern.inner if not one.any_program))


def _why(
    command: Invocation, patterns: Sequence[CommandPattern], *, redirections_covered: bool
) -> str:
    near = max(_all_of(patterns), key=lambda one: _nearness(command, one), default=None)
    if near is None or _nearness(command, near) < _ONE_OF_ITS_PROGRAM:
        if command.gaps:
            return command.gaps[0]
        return f"no pattern names {_name(command)}"
    near = near.narrowed(command.program)
    tests: tuple[Callable[[Invocation, CommandPattern], str | None], ...] = (
        _place,
        _option,
        _operand,
        _assignment,
        *((_redirection,) if not redirections_covered else ()),
        _gap,
    )
    for test in tests:
        found = test(command, near)
        if found is not None:
            return found
    return f"{quote(command.command.text)} does not match {quote(near.text)}"


def _nearness(command: Invocation, pattern: CommandPattern) -> int:
    """Return how much of a command's program, and then of its words, the pattern has."""
    if matches_program(command, pattern) is False:
        return 0
    own = pattern.program or ()
    if len(own) > len(command.program) or command.program[: len(own)] != own:
        return 1
    return _ONE_OF_ITS_PROGRAM + 2 * len(own) + (matches_command(command, pattern) is None)


def _name(command: Invocation) -> str:
    if command.program:
        return f"`{' '.join(command.program)}`"
    return quote(command.command.text)


def _place(command: Invocation, pattern: CommandPattern) -> str | None:
    if matches_program(command, pattern) is True:
        return None
    spelled = command.command.words[0].text
    return f"{quote(spelled)} may be another program than the pattern's"


def _option(command: Invocation, pattern: CommandPattern) -> str | None:
    for given in uncovered_options(command, pattern):
        spelled = quote(given.spelled or given.name)
        if given.unknown:
            return f"what {spelled} of {_name(command)} does is not known, {_SPELL}"
        if given.guarded:
            return f"{spelled} of {_name(command)} writes, runs or connects, {_SPELL}"
        return f"{spelled} of {_name(command)} is not in the pattern {quote(pattern.text)}"
    return None


def _operand(command: Invocation, pattern: CommandPattern) -> str | None:
    spelled = [step for step in pattern.steps if step is not None]
    for given in command.operands:
        if given.word in spelled:
            continue
        if given.guarded:
            return f"{_shown(given.word)} makes {_name(command)} write, run or connect, {_SPELL}"
        if given.may_be_option or (not command.profiled and is_option_like(given.word)):
            return f"{_shown(given.word)} may be an option of {_name(command)}, {_SPELL}"
    return None


def _assignment(command: Invocation, pattern: CommandPattern) -> str | None:
    spelled = {one.name for one in pattern.assignments}
    for given in command.command.assignments:
        harmless = is_harmless_assignment(given, command, pattern.profiles)
        if given.name not in spelled and not harmless:
            return f"the variable {quote(given.name)} is not in the pattern {quote(pattern.text)}"
    return None


def _redirection(command: Invocation, pattern: CommandPattern) -> str | None:
    for given in uncovered_redirections(command, pattern):
        return f"no pattern or clause covers the redirection `{given.op}` {_shown(given.target)}"
    return None


def _gap(command: Invocation, pattern: CommandPattern) -> str | None:
    return None if spells_gaps(command, pattern) else command.gaps[0]


def _shown(word: Word) -> str:
    if word.shape == "opaque":
        return f"a word that begins {quote(word.text)}" if word.text else "a word that is not known"
    return quote(word.text)
