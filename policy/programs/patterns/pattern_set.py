"""Finds the patterns that may match a command, by its program."""

from __future__ import annotations

from collections.abc import Sequence
from typing import overload

from policy.programs.invocation import Invocation
from policy.programs.patterns.pattern import CommandPattern


class PatternSet(Sequence[CommandPattern]):
    """Patterns in their order, indexed by program."""

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

    def candidates(self, invocation: Invocation) -> tuple[CommandPattern, ...]:
        """Return the patterns that may match; all others name another program."""
        if not invocation.program:
            return self._all
        return self._by_program.get(invocation.program[0], self._others)


def near(patterns: Sequence[CommandPattern], invocation: Invocation) -> Sequence[CommandPattern]:
    """Return the patterns that may match a command; all of them if they are not indexed."""
    return patterns.candidates(invocation) if isinstance(patterns, PatternSet) else patterns
