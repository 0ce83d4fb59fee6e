"""What tests of sets of commands imply about each other, by the patterns of the sets."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from policy.checks import checked
from policy.evaluation import mentions_inline_code, patterns_of
from policy.programs import (
    CommandPattern,
    Profiles,
    exclude_each_other,
    matches_more,
    misses_less,
)


@dataclass(frozen=True, slots=True, eq=False)
class CommandSet:
    """The patterns of all included items of a set. `is_whole`: nothing is left out of it."""

    patterns: tuple[CommandPattern, ...]
    programs: frozenset[str]
    is_whole: bool

    def surely_holds_all_of(self, smaller: CommandSet) -> bool:
        """Return whether what patterns of the smaller set certainly match, this set does as well.

        So a command that is covered by them is covered by this set.
        """
        return self._has_for_each(smaller) and all(
            any(matches_more(larger, pattern) for larger in self.patterns)
            for pattern in smaller.patterns
        )

    def may_hold_all_of(self, smaller: CommandSet) -> bool:
        """Return whether what this set certainly misses, the smaller one does as well."""
        return self._has_for_each(smaller) and all(
            any(misses_less(larger, pattern) for larger in self.patterns)
            for pattern in smaller.patterns
        )

    def excludes(self, other: CommandSet) -> bool:
        """Return whether a script that this set covers runs nothing of the other one."""
        return exclude_each_other(self.patterns, other.patterns)

    def _has_for_each(self, smaller: CommandSet) -> bool:
        """Return whether this set may include another one: a glance at the programs."""
        return self.is_whole and (smaller.programs <= self.programs or "" in self.programs)


@lru_cache(maxsize=4096)
def command_set(values: checked.ValueSet, profiles: Profiles) -> CommandSet | None:
    """Return the patterns of a set of commands; None if it is about inline code as well."""
    if values.kind != "commands" or mentions_inline_code(values):
        return None
    patterns = patterns_of(values, profiles)
    return CommandSet(
        patterns=patterns,
        programs=frozenset("" if one.program is None else one.program[0] for one in patterns),
        is_whole=_is_whole(values),
    )


def _is_whole(values: checked.ValueSet) -> bool:
    return not values.excluded and all(
        _is_whole(part) for part in values.included if isinstance(part, checked.ValueSet)
    )
