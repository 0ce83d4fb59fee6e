"""Analyses a script: its commands, and everything that they do."""

from __future__ import annotations

from functools import lru_cache

from policy.programs.budget import Budget
from policy.programs.invocation import Invocation, ScriptAnalysis
from policy.programs.profiles.registry import Profiles
from policy.shell import SimpleCommand
from policy.values import Unreadable

# Short scripts are cached: one decision analyses the same ones several times.
_SHORT = 2_048


def analyse_script(
    script: str, profiles: Profiles, *, plain_names: bool = False
) -> ScriptAnalysis | Unreadable:
    """Return what a script runs and does, or why it cannot be parsed.

    With `plain_names`, as if no path that a search prints would be split: `searches` of the result
    are those of which that has to be found out.
    """
    known = _remembered if len(script) <= _SHORT else _understand
    return known(script, profiles, plain_names=plain_names)


def analyse_command(
    command: SimpleCommand, profiles: Profiles, *, depth: int = 0, budget: Budget | None = None
) -> Invocation:
    """Return what one command runs and does, by its program's profile."""
    # Imported here: it is large, and many calls run no command.
    from policy.programs.command_analysis import CommandAnalysis

    return CommandAnalysis(command, profiles, depth=depth, budget=budget or Budget()).read()


def _understand(
    script: str, profiles: Profiles, *, plain_names: bool
) -> ScriptAnalysis | Unreadable:
    from policy.programs.command_analysis import analyse_script_uncached

    return analyse_script_uncached(script, profiles, plain_names=plain_names)


_remembered = lru_cache(maxsize=1024)(_understand)
