"""Commands that a command runs: given as words, as a command line or by name."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable
from dataclasses import replace
from typing import TypeAlias

from policy.programs.arguments.operand_roles import command_line_text
from policy.programs.budget import COMMAND, Budget
from policy.programs.found_paths import NOT_SEARCHED, FoundPaths
from policy.programs.invocation import Invocation
from policy.programs.placeholders import NO_PLACEHOLDERS, Placeholders
from policy.shell import (
    Assignment,
    SimpleCommand,
    Word,
    read_script,
    sets_trap,
    without_places,
)
from policy.values import Unreadable

# Nested commands, and the reasons why there may be more.
Run: TypeAlias = tuple[tuple[Invocation, ...], tuple[str, ...]]
Analyse: TypeAlias = Callable[[SimpleCommand, int], Invocation]

DEEPEST = 8
TOO_DEEP = f"commands are nested more than {DEEPEST} deep"
TOO_MUCH = "more nested commands than can be analysed"
# `env` accepts any name, with which bash finds functions in the environment.
_ASSIGNMENT = re.compile(r"([^=]*?)(\+?)=(.*)", re.DOTALL)
ANY_WORDS = Word("", "opaque", many=True)


class NestedCommands:
    """The context of a command, for the analysis of the commands that it runs.

    Not modified after construction. (A plain class: one is made for every command.)
    """

    __slots__ = ("analyse", "budget", "command", "depth")

    def __init__(
        self,
        command: SimpleCommand,
        *,
        depth: int,
        analyse: Analyse,
        budget: Budget,
    ) -> None:
        self.command = command
        self.depth = depth
        self.analyse = analyse
        self.budget = budget

    def words(
        self,
        words: tuple[Word, ...],
        *,
        label: str,
        folder: tuple[Word, ...] = (),
        assigns: bool = False,
        fed: bool = True,
        more: tuple[Word, ...] = (),
        placeholders: Placeholders = NO_PLACEHOLDERS,
        found: FoundPaths = NOT_SEARCHED,
    ) -> Invocation:
        """Return the command that words form.

        With `assigns`, assignments precede it; `more` words are appended. One of the paths in
        `found` replaces `placeholders`. `fed`: it reads the input of the command that runs it.
        """
        text = command_line_text(words)
        variables, rest = _assignments(words) if assigns else ((), words)
        if variables:
            texts = [one.name for one in variables if not _is_number(one.value)]
            self.budget.share_texts(frozenset(texts))
        if placeholders is not NO_PLACEHOLDERS:
            rest = tuple(placeholders.replaced(word, found) for word in rest)
        inner = SimpleCommand(
            words=(*rest, *more),
            assignments=variables,
            folders=self._folders(folder),
            stdin=self.command.stdin if fed else None,
            piped=fed and self._is_fed(),
            text=text,
            number=self.command.number,
            inside=(*self.command.inside, label),
        )
        return self.analyse(inner, self.depth + 1)

    def program(self, word: Word, *, label: str, folder: tuple[Word, ...]) -> Run:
        """Return the program of this name, run with unknown arguments."""
        if not word.known:
            return _not_known(f"which program `{label}` runs is not known")
        return (self.words((word,), label=label, folder=folder, fed=False, more=(ANY_WORDS,)),), ()

    def joined(self, words: tuple[Word, ...], *, label: str, folder: tuple[Word, ...]) -> Run:
        """Return the commands of a command line in words that are joined by blanks."""
        if not all(word.known and not word.many for word in words):
            return _not_known(f"the command line of `{label}` is not known")
        line = Word(" ".join(word.file_name if word.home else word.text for word in words))
        return self.script(line, label=label, folder=folder)

    def script(self, word: Word, *, label: str, folder: tuple[Word, ...], fed: bool = True) -> Run:
        """Return the commands of a command line, or why there may be others.

        Unless `fed`, their input is unknown.
        """
        if not word.known:
            return _not_known(f"the command line of `{label}` is not known")
        if self.depth >= DEEPEST:
            return _not_known(TOO_DEEP)
        if not self.budget.spend(len(word.text)):
            return _not_known(TOO_MUCH)
        script = read_script(word.text)
        if isinstance(script, Unreadable):
            return _not_known(f"the command line of `{label}` cannot be read: {script.reason}")
        if not self.budget.spend(COMMAND * len(script.commands)):
            return _not_known(TOO_MUCH)
        self.budget.share(script)
        commands = (self._placed(one, label, folder, fed=fed) for one in script.commands)
        return tuple(self.analyse(one, self.depth + 1) for one in commands), script.gaps

    def _placed(
        self, inner: SimpleCommand, label: str, folder: tuple[Word, ...], *, fed: bool
    ) -> SimpleCommand:
        """Return a command of a command line in the context of the whole script."""
        outer = self._folders(folder)
        own = inner.stdin is not None or inner.piped
        if label == "eval" and sets_trap(inner.words):
            outer = None
        if outer != ():
            inner = without_places(inner)
        return replace(
            inner,
            folders=None if outer is None or inner.folders is None else (*outer, *inner.folders),
            stdin=inner.stdin if own or not fed else self.command.stdin,
            piped=inner.piped or (not own and (not fed or self._is_fed())),
            number=self.command.number,
            inside=(*self.command.inside, label, *inner.inside),
        )

    def _folders(self, folder: tuple[Word, ...]) -> tuple[str, ...] | None:
        if self.command.folders is None or not all(word.known for word in folder):
            return None
        return (*self.command.folders, *(word.file_name for word in folder))

    def _is_fed(self) -> bool:
        return self.command.piped or any(
            one.op in ("<", "<>") and one.fd in (None, 0) for one in self.command.redirections
        )


def _not_known(why: str) -> Run:
    return (), (why,)


def common_root(words: tuple[Word, ...]) -> str:
    """Return the common beginning of all paths below these."""
    if not words or not all(word.known for word in words):
        return ""
    if len(words) == 1:
        return words[0].text
    if any(".." in word.text.split("/") for word in words):
        # `a/../b` begins with `a` and is not below it.
        return ""
    return posixpath.commonprefix([word.text for word in words]).rpartition("/")[0]


def _assignments(
    words: tuple[Word, ...],
) -> tuple[tuple[Assignment, ...], tuple[Word, ...]]:
    found: list[Assignment] = []
    for place, word in enumerate(words):
        match = _ASSIGNMENT.match(word.text)
        if match is None or word.many:
            return tuple(found), words[place:]
        value = replace(word, text=match[3], home=False)
        found.append(Assignment(match[1], value, appends=bool(match[2])))
    return tuple(found), ()


def _is_number(value: Word) -> bool:
    return value.known and value.text.isdecimal()
