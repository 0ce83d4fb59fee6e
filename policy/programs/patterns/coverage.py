"""Whether a set of patterns covers a command and everything that it runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from policy.programs.invocation import Invocation
from policy.programs.patterns.match import (
    is_harmless_assignment,
    is_one_of,
    matches_command,
    spells_option,
    uncovered_redirections,
)
from policy.programs.patterns.pattern import CommandPattern
from policy.programs.patterns.pattern_set import near
from policy.programs.profiles.registry import NO_PROFILES, Profiles
from policy.programs.standard_folders import STANDARD_PLACES
from policy.values import any_of, both


def covers(
    invocation: Invocation,
    patterns: Sequence[CommandPattern],
    *,
    redirections_covered: bool,
) -> bool | None:
    """Return whether each command of a chain matches a pattern; one pattern may spell several.

    With `redirections_covered`, another clause of the rule covers redirections that no pattern
    spells.
    """
    profiles = patterns[0].profiles if patterns else NO_PROFILES
    cover = _Cover(patterns=patterns, redirections_covered=redirections_covered, profiles=profiles)
    return cover.of(invocation)


def runs_any(invocation: Invocation, patterns: Sequence[CommandPattern]) -> bool | None:
    """Return whether some command of a chain matches a pattern; None if only a gap might.

    A function that the script is sure to have defined runs no program of its name.
    """
    answer: bool | None = False
    for command in invocation.walk():
        if command.command.is_function and not command.gaps:
            continue
        if command.gaps or (command.command.words and not command.program):
            answer = None
        found = any_of(_matches_chain(command, pattern) for pattern in near(patterns, command))
        answer = any_of((answer, found))
        if answer is True:
            return True
    return answer


def needs_no_pattern(
    invocation: Invocation, *, redirections_covered: bool, profiles: Profiles
) -> bool:
    """Return whether a command needs no pattern of its own.

    A command that only sets variables needs none if they are private to the script: no program sees
    them.
    """
    command = invocation.command
    if invocation.gaps or not (invocation.free or command.is_function or not command.words):
        return False
    if invocation.place not in STANDARD_PLACES:
        return False
    if any(
        option.guarded or option.unknown or option.changes_folder for option in invocation.options
    ):
        return False
    folders = [option.value for option in invocation.options]
    if command.words and any(effect.word not in folders for effect in invocation.effects):
        return False  # `env` alone prints the environment; `env -C sub` changes the folder
    if not redirections_covered and uncovered_redirections(invocation):
        return False
    return all(
        is_harmless_assignment(one, invocation, profiles)
        or (not command.words and profiles.variable(one.name) is None)
        for one in command.assignments
    )


@dataclass(slots=True, kw_only=True)
class _Cover:
    """One query of a set of patterns; answers for nested commands are cached."""

    patterns: Sequence[CommandPattern]
    redirections_covered: bool
    profiles: Profiles
    found: dict[int, bool | None] = field(default_factory=dict)

    def of(self, invocation: Invocation) -> bool | None:
        """Return whether a command and everything it runs are covered."""
        number = id(invocation)
        if number not in self.found:
            self.found[number] = self._of(invocation)
        return self.found[number]

    def _of(self, invocation: Invocation) -> bool | None:
        answer: bool | None = False
        if needs_no_pattern(
            invocation,
            redirections_covered=self.redirections_covered,
            profiles=self.profiles,
        ):
            answer = self._all(invocation.inner)
        for pattern in near(self.patterns, invocation):
            if answer is True:
                break
            answer = any_of((answer, self._by(invocation, pattern)))
        found = named_program(invocation, self.patterns, self.profiles) if not answer else None
        return answer if found is None else any_of((answer, self._of(found)))

    def _all(self, commands: Sequence[Invocation]) -> bool | None:
        answer: bool | None = True
        for command in commands:
            answer = both(answer, self.of(command))
        return answer

    def _by(self, invocation: Invocation, pattern: CommandPattern) -> bool | None:
        """Return whether one pattern covers a command, with the others for its nested commands."""
        covered = self.redirections_covered
        answer = matches_command(invocation, pattern, redirections_covered=covered)
        if answer is False:
            return False
        if not spells_gaps(invocation, pattern) or _is_elsewhere(invocation, pattern):
            answer = None
        if not pattern.inner:
            return both(answer, self._all(invocation.inner))
        if len(pattern.inner) != len(invocation.inner):
            return False if invocation.inner else both(answer, None)
        for command, spelled in zip(invocation.inner, pattern.inner, strict=True):
            answer = both(answer, self._by(command, spelled))
        return answer


def named_program(
    invocation: Invocation, patterns: Sequence[CommandPattern], profiles: Profiles
) -> Invocation | None:
    """Return a command as if its known program were found by its name alone.

    It is, for `.venv/bin/python -m pytest`, if one pattern covers the programs of that folder
    (`./** *`): another one may then cover the words (`python -m pytest *`). The program may be a
    link there to an installed one of the same name.
    """
    if invocation.place in STANDARD_PLACES or not invocation.profiled or invocation.file is None:
        return None
    folders = [one.files for one in patterns if one.program is None and one.files is not None]
    file = invocation.file
    named = any(is_one_of(invocation, files) for files in folders)
    if not named and folders and _is_same(file.interpreter, invocation, profiles):
        named = any(file.link_is_in(files) for files in folders)
    return replace(invocation, place="") if named else None


def _is_same(name: str, invocation: Invocation, profiles: Profiles) -> bool:
    profile = profiles.profile(name) if name else None
    return profile is not None and profile.name == invocation.program[0]


def _is_elsewhere(invocation: Invocation, pattern: CommandPattern) -> bool:
    """Return whether a command works in a folder that the pattern does not spell."""
    return any(
        one.changes_folder and not spells_option(one, invocation, pattern)
        for one in invocation.options
    )


def spells_gaps(invocation: Invocation, pattern: CommandPattern) -> bool:
    """Return whether the pattern spells everything that may run further commands."""
    if not invocation.gaps:
        return True
    # Without a wildcard everything is spelled except the command's input.
    tells = pattern.spells_hidden or (pattern.literal and not _has_input(invocation))
    return tells and pattern.gaps.issuperset(invocation.gaps)


def _has_input(invocation: Invocation) -> bool:
    command = invocation.command
    given = command.piped or command.stdin is not None
    return given or any(one.op.startswith("<") for one in command.redirections)


def _matches_chain(invocation: Invocation, pattern: CommandPattern) -> bool | None:
    """Return whether a command matches, and its nested commands match those in the pattern."""
    answer = matches_command(invocation, pattern)
    below = list(invocation.walk())[1:] if answer is not False and pattern.inner else []
    for spelled in pattern.inner:
        if answer is False:
            break
        answer = both(answer, any_of(_matches_chain(command, spelled) for command in below))
    return answer
