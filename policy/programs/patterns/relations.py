"""What one command pattern says about the commands that another one matches.

All answers are certain where they are True; False is also that nothing is known.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache

from policy.programs.patterns.coverage import runs_any
from policy.programs.patterns.match import matches_command
from policy.programs.patterns.pattern import CommandPattern, profile_of
from policy.programs.profiles.profile import Profile
from policy.programs.profiles.registry import Profiles
from policy.programs.script_analysis import analyse_command
from policy.shell import SimpleCommand

_PASSED_ON = "passed-on"


def matches_more(larger: CommandPattern, smaller: CommandPattern) -> bool:
    """Return whether every command that certainly matches the smaller pattern matches the larger.

    `ls *` includes `ls`, and `git *` both `git status` and `git push *`. `git push *` does not
    include `git push --force`: no `*` covers a guarded option.
    """
    if larger == smaller:
        return True
    if smaller.options or smaller.inner or smaller.gaps or smaller.steps not in ((), (None,)):
        return False
    if not _is_plain(smaller) or not _is_plain(larger) or not _are_named_alike(larger, smaller):
        return False
    return _takes_all_words(_for_the_program_of(smaller, larger))


def misses_less(larger: CommandPattern, smaller: CommandPattern) -> bool:
    """Return whether no command that certainly misses the larger pattern may match the smaller.

    `git push *` certainly misses only other programs and other subcommands.
    """
    if larger == smaller:
        return True
    if larger.any_program or (larger.program is None and larger.files is None):
        return larger.steps == (None,) and not (larger.assignments or larger.redirections)
    return (
        _is_plain(larger)
        and smaller.program is not None
        and _are_named_alike(larger, smaller)
        and _takes_all_words(larger)
        and _takes_all_words(_for_the_program_of(smaller, larger))
    )


def exclude_each_other(
    covering: Sequence[CommandPattern], others: Sequence[CommandPattern]
) -> bool:
    """Return whether no command of a script can match the others, if the first cover all of it.

    Commands that need no pattern are looked at as well, and words that a program may run.
    """
    spelled = [each for pattern in covering for each in _with_inner(pattern)]
    return all(_shows_all(each, others) for each in spelled) and all(
        other.program is not None
        and not _may_be_free(other.program[0], other.profiles)
        and all(_are_apart(each, other) for each in spelled)
        for other in others
    )


def _with_inner(pattern: CommandPattern) -> Iterator[CommandPattern]:
    yield pattern
    for each in pattern.inner:
        yield from _with_inner(each)


def _is_plain(pattern: CommandPattern) -> bool:
    """Return whether a pattern spells a program found by its name, and nothing around its words."""
    around = pattern.assignments or pattern.redirections or pattern.inner
    return pattern.program is not None and pattern.files is None and not around


def _are_named_alike(one: CommandPattern, other: CommandPattern) -> bool:
    """Return whether both are of one program, in the same place, whose parts have one name each."""
    assert one.program is not None
    profile = profile_of(one.program[:1], one.profiles)
    return (
        other.program is not None
        and one.program[0] == other.program[0]
        and one.place == other.place
        and (one.program == other.program or profile is None or not profile.same)
    )


def _for_the_program_of(smaller: CommandPattern, larger: CommandPattern) -> CommandPattern | None:
    """Return what the larger pattern is for each command of the smaller one; None if it varies."""
    assert smaller.program is not None
    profile = profile_of(smaller.program, smaller.profiles)
    varies = profile is None or bool(profile.subcommands)
    if (smaller.steps or smaller.rest) and varies and larger.open_at is not None:
        return None
    narrowed = larger.narrowed(smaller.program)
    return narrowed if narrowed.program == smaller.program else None


def _takes_all_words(pattern: CommandPattern | None) -> bool:
    return (
        pattern is not None
        and pattern.steps == (None,)
        and pattern.rest
        and not (pattern.options or pattern.inner)
    )


# ------------------------------------------------------------------ patterns apart


def _are_apart(covering: CommandPattern, other: CommandPattern) -> bool:
    """Return whether no command that the first certainly matches may match the other."""
    assert covering.program is not None
    assert other.program is not None
    if covering.program[0] != other.program[0]:
        return True
    profile = profile_of(covering.program[:1], covering.profiles)
    if profile is None or profile.same:
        return False
    shared = min(len(covering.program), len(other.program))
    if covering.program[:shared] != other.program[:shared]:
        return True
    if covering.options or covering.rest or other.assignments or other.redirections:
        # An option whose value is not known may be more than one word, and so any other option.
        return False
    return covering.literal and _misses_words(covering, other)


def _misses_words(covering: CommandPattern, other: CommandPattern) -> bool:
    """Return whether the words of a pattern without wildcards are none of another pattern."""
    command = analyse_command(covering.spelled, covering.profiles)
    if any(one.script for one in command.operands) or not command.profiled:
        return False
    # As if each word might be an option or a setting.
    operands = tuple(replace(one, aside=True) for one in command.operands)
    return matches_command(replace(command, operands=operands), other) is False


# ------------------------------------------------------------------ what nothing shows


def _shows_all(covering: CommandPattern, others: Sequence[CommandPattern]) -> bool:
    """Return whether commands that a pattern certainly matches show every command that they run.

    Other patterns look for hidden ones: in words for a program without a profile, and in those that
    a program passes on.
    """
    if covering.program is None:
        return False
    if covering.gaps and (covering.spells_hidden or covering.literal):
        return False
    if not covering.steps and not covering.rest:
        return True
    if not _may_pass_on(covering.program, covering.profiles):
        return True
    return covering.literal and not (covering.options or _may_end_in(covering, others))


def _may_end_in(covering: CommandPattern, others: Sequence[CommandPattern]) -> bool:
    """Return whether the last words of a pattern without wildcards may be one of the others."""
    words = covering.spelled.words
    if any(not word.known or any(map(str.isspace, word.text)) for word in words):
        return True
    endings = (SimpleCommand(words=words[start:]) for start in range(1, len(words)))
    return any(
        runs_any(analyse_command(ending, covering.profiles), others) is not False
        for ending in endings
    )


@lru_cache(maxsize=1024)
def _may_pass_on(program: tuple[str, ...], profiles: Profiles) -> bool:
    profile = profile_of(program, profiles)
    return profile is None or _passes_on(profile)


def _passes_on(profile: Profile) -> bool:
    listed = (profile.operands, *(one.operands or () for one in profile.variants))
    return any(_PASSED_ON in role for roles in listed for role in roles) or any(
        map(_passes_on, profile.subcommands.values())
    )


@lru_cache(maxsize=1024)
def _may_be_free(program: str, profiles: Profiles) -> bool:
    """Return whether a program may need no pattern: `cd`, `timeout`."""
    profile = profiles.profile(program)
    return profile is not None and _is_free(profile)


def _is_free(profile: Profile) -> bool:
    return profile.free or any(map(_is_free, profile.subcommands.values()))
