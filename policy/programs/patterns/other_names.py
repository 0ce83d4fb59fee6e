"""Subcommands that a program has under two names: `docker container rm` and `docker rm`."""

from __future__ import annotations

from dataclasses import replace

from policy.programs.invocation import Invocation
from policy.programs.patterns.pattern import CommandPattern
from policy.programs.profiles.registry import Profiles

_Program = tuple[str, ...]


def by_usual_names(
    invocation: Invocation, pattern: CommandPattern
) -> tuple[Invocation, CommandPattern] | None:
    """Return a command and a pattern by the usual names of their subcommands.

    None if both have these already, or are of different programs.
    """
    given, wanted = invocation.program, pattern.program
    if len(given) < 2 or wanted is None or len(wanted) < 2 or given[0] != wanted[0]:
        return None
    usual = _usual(given, pattern.profiles), _usual(wanted, pattern.profiles)
    if usual == (given, wanted):
        return None
    return replace(invocation, program=usual[0]), replace(pattern, program=usual[1])


def _usual(program: _Program, profiles: Profiles) -> _Program:
    profile = profiles.profile(program[0])
    if profile is None or not profile.same:
        return program
    other = profile.same.get(" ".join(program[1:]))
    return program if other is None else (program[0], *other.split())
