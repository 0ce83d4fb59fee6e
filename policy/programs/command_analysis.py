"""Analyses the commands of a script: everything that they do.

A module apart from `script_analysis.py`, which imports it when a command comes: it is large.
"""

from __future__ import annotations

from dataclasses import replace

from policy.programs.arguments.argv import parse_arguments
from policy.programs.arguments.http_redirects import redirects_without_profile
from policy.programs.arguments.items import ParsedArguments
from policy.programs.arguments.link_creation import created_links, link_targets
from policy.programs.arguments.printed_words import printed_words
from policy.programs.arguments.readings import has_too_many, other_readings
from policy.programs.arguments.usage import ArgumentUsage
from policy.programs.budget import COMMAND, Budget
from policy.programs.effects import CommandEffects
from policy.programs.invocation import (
    GivenOperand,
    HandedWord,
    Invocation,
    LinkCreation,
    ScriptAnalysis,
)
from policy.programs.nested_commands import DEEPEST, TOO_DEEP, NestedCommands
from policy.programs.profiles.profile import Profile
from policy.programs.profiles.registry import Profiles
from policy.programs.standard_folders import STANDARD_PLACES
from policy.programs.words.fetched_packages import split_version
from policy.programs.words.own_command import own_commands
from policy.programs.words.rewriting import rewrites_its_folder
from policy.shell import COMPUTED_TEXT, SimpleCommand, Word, may_run_texts, read_script_uncached
from policy.values import Unreadable, quote

_NO_NAME = "the program's name is not known"


def analyse_script_uncached(
    script: str, profiles: Profiles, *, plain_names: bool = False
) -> ScriptAnalysis | Unreadable:
    """Analyse a script without the cache of results."""
    read = read_script_uncached(script)
    if isinstance(read, Unreadable):
        return read
    budget = Budget(plain_names=plain_names)
    commands = tuple(
        CommandAnalysis(command, profiles, depth=0, budget=budget).read()
        for command in read.commands
    )
    budget.share(read)
    gaps = read.gaps
    if COMPUTED_TEXT not in gaps and may_run_texts(budget.computed, budget.texts):
        gaps = (*gaps, COMPUTED_TEXT)
    return ScriptAnalysis(
        commands=commands,
        gaps=gaps,
        concurrent=budget.concurrent,
        repeats=budget.repeats,
        searches=tuple(budget.searches),
    )


class CommandAnalysis:
    """The analysis of one command."""

    def __init__(
        self, command: SimpleCommand, profiles: Profiles, *, depth: int, budget: Budget
    ) -> None:
        self.command = command
        self.profiles = profiles
        self.depth = depth
        self.budget = budget
        nesting = NestedCommands(
            command,
            depth=depth,
            analyse=self._inner,
            budget=budget,
        )
        self.effects = CommandEffects(command, profiles, nesting=nesting)
        self.usage = ArgumentUsage(self.effects)
        self.links: LinkCreation | None = None
        # Whether this is one of the readings of words that may be options, or none.
        self.complete = False

    def read(self) -> Invocation:
        """Return the command with its effects."""
        if self.budget.plain_names and any(word.printed for word in self.command.words):
            return self._given_printed()
        return self._read()

    def _given_printed(self) -> Invocation:
        """Return the command as given the paths that searches print: `wc -l $(find . -name x)`."""
        words = tuple(printed_words(self.command, self.profiles, self.budget))
        read = self._analysed(words)
        if not any(word.recursive and word.many for word in words):
            return read
        # If nothing is found, it runs without them.
        bare = self._analysed(tuple(one for one in words if not (one.recursive and one.many)))
        return replace(
            read,
            effects=(*read.effects, *bare.effects),
            inner=(*read.inner, *bare.inner),
            gaps=(*read.gaps, *bare.gaps),
        )

    def _analysed(self, words: tuple[Word, ...], *, complete: bool = False) -> Invocation:
        command = replace(self.command, words=words)
        analysis = CommandAnalysis(command, self.profiles, depth=self.depth, budget=self.budget)
        analysis.complete = complete
        return analysis._read()

    def _read(self) -> Invocation:
        for assignment in self.command.assignments:
            self.effects.variable(assignment)
        if not self.command.words:
            return self._invocation((), profiled=True, free=True)
        program = self.command.words[0]
        if not program.known or self.depth > DEEPEST:
            self.effects.gap(TOO_DEEP if program.known else _NO_NAME)
            return self._unprofiled((), self.command.words[1:])
        place, name = _place_and_name(program.text)
        if self.command.inside and not place:
            # Another version may be another program of this name.
            name, place = split_version(name, by=self.command.inside[-1])
        if self.command.is_function:
            return self._unprofiled((name,), self.command.words[1:], free=True)
        profile = self.profiles.profile(name)
        self.effects.unseen = place not in STANDARD_PLACES
        if profile is None:
            return self._unprofiled((name,), self.command.words[1:], place=place)
        return self._profiled(profile, place)

    def _inner(self, command: SimpleCommand, depth: int) -> Invocation:
        return CommandAnalysis(command, self.profiles, depth=depth, budget=self.budget).read()

    def _profiled(self, profile: Profile, place: str) -> Invocation:
        words = self.command.words[1:]
        if profile.at_options:
            self.usage.note_argument_files(profile.name, words)
        program: tuple[str, ...] = (profile.name,)
        while True:
            self.effects.name = " ".join(program)
            self.effects.settings = profile.settings
            parts = parse_arguments(words, profile)
            if not profile.subcommands or not parts.rest:
                break
            first = parts.rest[0]
            sub = profile.subcommands.get(first.text) if first.known else None
            if sub is None and profile.operands and first.known:
                profile = replace(profile, subcommands={})
                continue
            self.usage.note_options(profile, parts)
            if sub is None:
                self.effects.gap(_unknown_subcommand(program, first))
                return self._unprofiled(program, parts.rest, place=place)
            profile, words = sub, parts.rest[1:]
            program = (*program, sub.name)
        self.usage.take(profile, parts)
        self.links = created_links(profile, parts, self.effects.found)
        self.effects.found += link_targets(profile, parts)
        self._note_working_folder(place, used=profile.uses_folder)
        if not self.complete:
            self._note_other_readings(words, parts, profile)
        outlined = profile.operands == ("passed-on...",) and not profile.only_reads
        if outlined and rewrites_its_folder(self.command.words):
            self.effects.hand(Word("."))
        return self._invocation(program, place=place, profiled=True, free=profile.free)

    def _note_other_readings(
        self, words: tuple[Word, ...], parts: ParsedArguments, profile: Profile
    ) -> None:
        """Record what the command does where words that only the shell knows are read otherwise."""
        if not (parts.vanishing or parts.uncertain or parts.splitting or parts.emptying):
            return
        if has_too_many(parts):
            self._note_too_many_readings()
            return
        head = self.command.words[: len(self.command.words) - len(words)]
        for reading in other_readings(words, parts, profile):
            if not self.budget.spend(COMMAND):
                self._note_too_many_readings()
                return
            other = self._analysed((*head, *reading), complete=True)
            self.effects.found += other.effects
            self.effects.run((other.inner, other.gaps))
            self.effects.unseen = self.effects.unseen or other.unseen
            given = {option.name for option in self.usage.options}
            self.usage.options += (
                replace(option, unsure=True)
                for option in other.options
                if option.guarded and option.name not in given
            )

    def _note_too_many_readings(self) -> None:
        self.effects.may_do_anything(f"many words of `{self.effects.name}` may be options, or none")

    def _unprofiled(
        self,
        program: tuple[str, ...],
        words: tuple[Word, ...],
        *,
        place: str = "",
        free: bool = False,
    ) -> Invocation:
        self.usage.operands = [GivenOperand(word=word) for word in words]
        if not free:
            self.effects.handed += (
                HandedWord(word=word) for word in words if word.shape != "opaque"
            )
        self.effects.found += redirects_without_profile(words, " ".join(program))
        if not free:
            self._note_working_folder(place)
        return self._invocation(program, place=place, profiled=False, free=free)

    def _note_working_folder(self, place: str, *, used: bool | None = None) -> None:
        """Record the folder in which a program runs, if what it does depends on it.

        Unseen code may: a build reads what the project there defines. So may a program that only
        has the name of a known one.
        """
        if used is None or place not in STANDARD_PLACES:
            used = self.effects.unseen
        if used and not self._is_noted_by_module():
            self.effects.note_working_folder()

    def _note_own_commands(self) -> None:
        """Record that code which is given a command of Placet for people may run it."""
        if self.command.is_function or self.depth > DEEPEST:
            return
        for command in own_commands(self.command):
            read = self._inner(command, self.depth + 1)
            # Only a command of Placet that its profile has: `mypy -p policy src` is none.
            if read.gaps and len(read.program) > 1:
                self.effects.gap(f"`{self.effects.name or 'it'}` may run a command for people")

    def _runs_code(self) -> bool:
        """Return whether the command runs code of which it is not known what it writes."""
        return self.effects.unseen or bool(self.effects.inline_code)

    def _is_noted_by_module(self) -> bool:
        """Return whether a module of this process, as in `python -m pip`, reads the folder anyway.

        It does so when it starts, and not a second time after what it has written.
        """
        if not self.usage.runs_module:
            return False
        return any(
            effect.working_folder and inner.command.folders == self.command.folders
            for inner in self.effects.inner
            for effect in inner.effects
        )

    def _invocation(
        self, program: tuple[str, ...], *, place: str = "", profiled: bool, free: bool
    ) -> Invocation:
        if self._runs_code() or not profiled:
            self._note_own_commands()
        if free:
            free = not any(one.guarded or one.unknown for one in self.usage.options)
            free = free and not any(one.guarded for one in self.usage.operands)
        return Invocation(
            command=self.command,
            program=program,
            place=place,
            profiled=profiled,
            options=tuple(self.usage.options),
            operands=tuple(self.usage.operands),
            effects=tuple(self.effects.found),
            inner=tuple(self.effects.inner),
            gaps=tuple(self.effects.gaps),
            inline_code=frozenset(self.effects.inline_code.difference(self.effects.other_gaps)),
            unseen=self.effects.unseen,
            free=free,
            handed=tuple(self.effects.handed) if self._runs_code() or not profiled else (),
            passes_on=self.effects.passes_on,
            links=self.links,
        )


def _unknown_subcommand(program: tuple[str, ...], word: Word) -> str:
    """Return, for people, that no profile has the subcommand of a program."""
    name = " ".join(program)
    if not word.known:
        return f"which subcommand of {quote(name)} runs is not known"
    return f"{quote(f'{name} {word.text}')} is not a known subcommand"


def _place_and_name(text: str) -> tuple[str, str]:
    """Return the folder that a program is spelled with, and its name there."""
    folder, slash, name = text.rpartition("/")
    if not slash or not name:
        return "", text
    return folder or "/", name
