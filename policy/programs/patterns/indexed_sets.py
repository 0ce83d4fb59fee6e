"""Many sets of command patterns, indexed: which of them cover a command, and which may.

A pattern in several sets is compared once, and only patterns of the command's program are.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from policy.programs.invocation import Invocation
from policy.programs.patterns.match import matches_command
from policy.programs.patterns.pattern import CommandPattern
from policy.programs.patterns.pattern_set import by_program

# A pattern, and the numbers of the sets that contain it.
_Placed = tuple[CommandPattern, tuple[int, ...]]


class CommandSets:
    """Sets of patterns by number."""

    __slots__ = ("_by_program", "_others")

    def __init__(self, sets: Mapping[int, Sequence[CommandPattern]]) -> None:
        numbers: dict[int, list[int]] = defaultdict(list)
        patterns: dict[int, CommandPattern] = {}
        for number, own in sets.items():
            for pattern in own:
                # A pattern that another set has as well is the same object.
                patterns[id(pattern)] = pattern
                numbers[id(pattern)].append(number)
        placed: list[_Placed] = [
            (pattern, tuple(numbers[key])) for key, pattern in patterns.items()
        ]
        self._by_program, self._others = by_program((one[0], one) for one in placed)

    def candidates(self, invocation: Invocation) -> set[int] | None:
        """Return the numbers of the sets that may cover a command; None if any of them may.

        The others are excluded only for a plain command: one whose program is known, that runs
        nothing else, and that needs a pattern.
        """
        if not runs_nothing_else(invocation):
            return None
        return {number for _, numbers in self._near(invocation) for number in numbers}

    def covering(self, invocation: Invocation) -> tuple[set[int], set[int]]:
        """Return the numbers of the sets that cover a plain command, and of those that may.

        It has no redirection, and no candidate pattern spells nested commands.
        """
        surely: set[int] = set()
        perhaps: set[int] = set()
        for pattern, numbers in self._near(invocation):
            answer = matches_command(invocation, pattern)
            if answer:
                surely.update(numbers)
            elif answer is None:
                perhaps.update(numbers)
        return surely, perhaps - surely

    def _near(self, invocation: Invocation) -> tuple[_Placed, ...]:
        return self._by_program.get(invocation.program[0], self._others)


def runs_nothing_else(invocation: Invocation) -> bool:
    """Return whether a command has no nested commands, and needs a pattern."""
    command = invocation.command
    if not invocation.program or invocation.inner or invocation.gaps:
        return False
    if any(option.changes_folder for option in invocation.options):
        return False
    return bool(command.words) and not (invocation.free or command.is_function)
