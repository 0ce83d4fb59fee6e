"""The options that a command has by other options: `rsync -a` is also `rsync -r`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase

from policy.programs.invocation import GivenOption
from policy.programs.patterns.pattern import profile_of
from policy.programs.profiles.profile import Implication, OptionMention
from policy.programs.profiles.registry import Profiles
from policy.shell import Word


def implications(program: tuple[str, ...], profiles: Profiles) -> tuple[Implication, ...]:
    """Return what options of a program, and of its subcommand, imply about others."""
    found = (profile_of(program[:length], profiles) for length in range(1, len(program) + 1))
    return tuple(one for profile in found if profile is not None for one in profile.implies)


def implied_options(
    program: tuple[str, ...], given: Sequence[GivenOption], profiles: Profiles
) -> tuple[GivenOption, ...]:
    """Return the options whose effect a command has, or may have, by those that it spells."""
    left = list(implications(program, profiles)) if given else []
    found: list[GivenOption] = []
    while applying := [one for one in left if _holds(one, given, found)]:
        left = [one for one in left if one not in applying]
        found += (each for one in applying for each in _implied(one, (*given, *found)))
    return tuple(found)


def _holds(one: Implication, given: Sequence[GivenOption], implied: Sequence[GivenOption]) -> bool:
    return all(
        _count(each, (*given, *implied)) >= each.times if each.times else not _count(each, given)
        for each in one.given
    )


def _count(wanted: OptionMention, given: Sequence[GivenOption]) -> int:
    return sum(one.name == wanted.name and _may_be(one.value, wanted.value) for one in given)


def _may_be(value: Word | None, glob: str) -> bool:
    return not glob or (value is not None and (not value.known or fnmatchcase(value.text, glob)))


def _implied(one: Implication, given: Sequence[GivenOption]) -> Iterator[GivenOption]:
    names = {each.name for each in one.given}
    values = (each.value for each in given if each.name in names and each.value is not None)
    own = next(values, None)
    for each in one.implied:
        value = Word(each.value) if each.value else own
        yield GivenOption(name=each.name, value=value, spelled=each.name)
