"""Command patterns in; those that may fit one command, by its program, out.

Of many sets, those are found that have such a pattern; all others surely do not hold the command.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import overload

from policy.commands.invocation import Invocation
from policy.commands.pattern import CommandPattern


class PatternSet(Sequence[CommandPattern]):
    """Patterns in their order; of a large set a command is compared with few."""

    __slots__ = ("_all", "_by_program", "_others")

    def __init__(self, patterns: Sequence[CommandPattern]) -> None:
        self._all = tuple(patterns)
        programs = {one.program[0] for one in self._all if one.program}
        self._others = tuple(one for one in self._all if not one.program)
        self._by_program = {
            program: tuple(one for one in self._all if not one.program or one.program[0] == program)
            for program in programs
        }

    @overload
    def __getitem__(self, index: int) -> CommandPattern: ...

    @overload
    def __getitem__(self, index: slice) -> tuple[CommandPattern, ...]: ...

    def __getitem__(self, index: int | slice) -> CommandPattern | tuple[CommandPattern, ...]:
        return self._all[index]

    def __len__(self) -> int:
        return len(self._all)

    def near(self, invocation: Invocation) -> tuple[CommandPattern, ...]:
        """Return the patterns that may fit; all others name another program."""
        if not invocation.program:
            return self._all
        return self._by_program.get(invocation.program[0], self._others)


def near(patterns: Sequence[CommandPattern], invocation: Invocation) -> Sequence[CommandPattern]:
    """Return those of the patterns that may fit a command, as far as they are told apart."""
    return patterns.near(invocation) if isinstance(patterns, PatternSet) else patterns


class CommandSets:
    """Sets of patterns by number; found are those that may hold a command, or be met by it."""

    __slots__ = ("_any", "_by_program")

    def __init__(self, sets: Mapping[int, Sequence[CommandPattern]]) -> None:
        by_program: dict[str, list[int]] = defaultdict(list)
        self._any = tuple(
            number for number, patterns in sets.items() if not all(one.program for one in patterns)
        )
        for number, patterns in sets.items():
            for program in {one.program[0] for one in patterns if one.program}:
                by_program[program].append(number)
        self._by_program = {program: tuple(numbers) for program, numbers in by_program.items()}

    def near(self, invocation: Invocation) -> set[int] | None:
        """Return the numbers of the sets that may hold a command; None where each has to say it.

        Only of a plain command is it sure that the others do not: one whose program is known, that
        runs nothing else, and that needs a pattern.
        """
        command = invocation.command
        if not invocation.program or invocation.inner or invocation.gaps:
            return None
        if invocation.free or command.local or not command.words:
            return None
        return {*self._any, *self._by_program.get(invocation.program[0], ())}
