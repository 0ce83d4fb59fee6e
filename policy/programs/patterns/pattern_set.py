"""Finds the patterns that may match a command, by its program."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeVar, overload

from policy.programs.invocation import Invocation
from policy.programs.patterns.pattern import CommandPattern

_T = TypeVar("_T")


def by_program(
    patterns: Iterable[tuple[CommandPattern, _T]],
) -> tuple[dict[str, tuple[_T, ...]], tuple[_T, ...]]:
    """Group what belongs to patterns by their program, and what belongs to those that name none.

    Each group has the latter as well, in the order of all.
    """
    named: dict[str, list[_T]] = {}
    others: list[_T] = []
    for pattern, one in patterns:
        if pattern.program:
            named.setdefault(pattern.program[0], list(others)).append(one)
        else:
            for group in (*named.values(), others):
                group.append(one)
    return {program: tuple(group) for program, group in named.items()}, tuple(others)


class PatternSet(Sequence[CommandPattern]):
    """Patterns in their order, indexed by program."""

    __slots__ = ("_all", "_by_program", "_others")

    def __init__(self, patterns: Sequence[CommandPattern]) -> None:
        self._all = tuple(patterns)
        self._by_program, self._others = by_program((one, one) for one in self._all)

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
