"""What one command pattern says about the commands that another one matches.

All answers are certain where they are True; False is also that nothing is known.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache

from policy.programs.invocation import GivenOption
from policy.programs.patterns.coverage import runs_any
from policy.programs.patterns.match import matches_command
from policy.programs.patterns.pattern import CommandPattern, profile_of
from policy.programs.patterns.wildcards import has_placeholder, shown
from policy.programs.patterns.word_match import word_matches
from policy.programs.profiles.profile import Option, Profile
from policy.programs.profiles.registry import Profiles
from policy.programs.profiles.roles import verbs_of_role
from policy.programs.script_analysis import analyse_command
from policy.shell import SimpleCommand, Word

_PASSED_ON = "passed-on"
_WILDCARD = re.compile(r"[*?]")


def matches_more(larger: CommandPattern, smaller: CommandPattern) -> bool:
    """Return whether every command that certainly matches the smaller pattern matches the larger.

    `ls *` includes `ls`, and `git *` both `git status` and `git push *`. `git push *` does not
    include `git push --force`: no `*` covers a guarded option.
    """
    if _mean_the_same(larger, smaller):
        return True
    if smaller.options or smaller.inner or smaller.gaps or smaller.steps not in ((), (None,)):
        return False
    if not _is_plain(smaller) or not _is_plain(larger) or not _are_named_alike(larger, smaller):
        return False
    return _takes_all_words(_for_the_program_of(smaller, larger))


def misses_less(larger: CommandPattern, smaller: CommandPattern) -> bool:
    """Return whether no command that certainly misses the larger pattern may match the smaller.

    `git push *` certainly misses only other programs and other subcommands, and
    `git push --force *` also what is without this option.
    """
    if _mean_the_same(larger, smaller):
        return True
    if larger.any_program or (larger.program is None and larger.files is None):
        return larger.steps == (None,) and not (larger.assignments or larger.redirections)
    return (
        _is_plain(larger)
        and smaller.program is not None
        and _are_named_alike(larger, smaller)
        and _takes_all_operands(larger)
        and _takes_all_operands(_for_the_program_of(smaller, larger))
        and _named(larger.options) <= _named(smaller.options)
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


def may_cover(covering: CommandPattern, asked: CommandPattern) -> bool:
    """Return whether a pattern of a grant may cover a command that another pattern names.

    It does not if it names another program or subcommand, or lacks an option of the other one that
    no `*` covers. What a program fetches and runs (`npx ?* *`) is not taken for such a command.
    """
    if asked.program is None or _may_be_free(asked.program[0], asked.profiles):
        return True
    if covering.program is None and covering.files is None:
        return True
    return any(_may_cover_itself(each, asked) for each in _with_inner(covering))


def _may_cover_itself(covering: CommandPattern, asked: CommandPattern) -> bool:
    assert asked.program is not None
    if covering.program is None:
        return covering.files is not None and bool(asked.place)
    if covering.program[0] != asked.program[0]:
        return False
    profile = profile_of(asked.program[:1], asked.profiles)
    if profile is None or profile.same:
        return True
    shared = min(len(covering.program), len(asked.program))
    if covering.program[:shared] != asked.program[:shared]:
        return False
    if not (
        _may_begin(covering, asked.program[shared:])
        and _may_begin(asked, covering.program[shared:])
    ):
        return False
    if covering.open_at is not None or asked.open_at is not None or asked.inner:
        return True
    if any(one.unknown for one in covering.options):
        return True  # `--force*` may be any option that begins so
    profiles = _on_the_way(asked.program, asked.profiles)
    lacking = [
        one for one in asked.options if all(one.name != each.name for each in covering.options)
    ]
    return not any(_is_guarded(one, profiles) for one in lacking)


def _may_begin(pattern: CommandPattern, subcommands: Sequence[str]) -> bool:
    """Return whether a pattern's first operand may be the first of these subcommands, if any."""
    if not subcommands:
        return True
    first = pattern.steps[0] if pattern.steps else Word("")
    return first is None or word_matches(Word(subcommands[0]), first) is not False


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
    return pattern is not None and not pattern.options and _takes_all_operands(pattern)


def _takes_all_operands(pattern: CommandPattern | None) -> bool:
    return pattern is not None and pattern.steps == (None,) and pattern.rest and not pattern.inner


def _mean_the_same(one: CommandPattern, other: CommandPattern) -> bool:
    """Return whether two patterns are the same, however they are spelled: `-f` and `--force`."""
    return one == other or _unspelled(one) == _unspelled(other)


def _unspelled(pattern: CommandPattern) -> CommandPattern:
    return replace(
        pattern,
        text="",
        options=tuple(sorted(_named(pattern.options), key=repr)),
        inner=tuple(map(_unspelled, pattern.inner)),
    )


def _named(options: Iterable[GivenOption]) -> frozenset[GivenOption]:
    """Return options by their names, however these are spelled; unknown ones are as spelled."""
    return frozenset(one if one.unknown else replace(one, spelled="") for one in options)


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
    if _covers_no_option_of(covering, other):
        return True
    if covering.options or covering.rest or other.assignments or other.redirections:
        # An option whose value is not known may be more than one word, and so any other option.
        return False
    return covering.literal and _misses_words(covering, other)


def _covers_no_option_of(covering: CommandPattern, other: CommandPattern) -> bool:
    """Return whether what a pattern covers lacks an option that the other one asks for.

    So it does if the option is guarded, as no `*` covers it: `git *` covers no `git push --force`.
    """
    if covering.options or not _is_plain(covering) or other.program is None:
        return False
    profiles = _on_the_way(other.program, other.profiles)
    if not profiles or other.open_at is not None:
        return False
    leaf = profiles[-1]
    if leaf.subcommands or leaf.runs_operands or leaf.style != "gnu":
        # Its words may be those of another command, or stand for options.
        return False
    return any(_is_guarded(wanted, profiles) for wanted in other.options)


def _on_the_way(program: tuple[str, ...], profiles: Profiles) -> tuple[Profile, ...]:
    """Return the profiles of a program and of its subcommands; none if one is not known."""
    found = [profile_of(program[:length], profiles) for length in range(1, len(program) + 1)]
    return tuple(one for one in found if one is not None) if None not in found else ()


def _is_guarded(wanted: GivenOption, profiles: Sequence[Profile]) -> bool:
    """Return whether every option that may be the wanted one is guarded, and there is one.

    Of a name with a wildcard, any may be that is spelled with what is before the wildcard.
    """
    beginning = ""
    if wanted.unknown:
        beginning = _WILDCARD.split(shown(Word(wanted.name)).text, 1)[0]
        if not has_placeholder(wanted.name) or not beginning.startswith("--"):
            return False
    elif not wanted.name.startswith("-"):
        return False
    alike = [
        [one for one in _options_of(profile) if _may_be(one, wanted.name, beginning)]
        for profile in profiles
    ]
    if not alike[-1] or not all(
        one.guarded and None not in verbs_of_role(one.role) for found in alike for one in found
    ):
        return False
    return {one.name for found in alike for one in found}.isdisjoint(_by_harmless(profiles))


def _by_harmless(profiles: Sequence[Profile]) -> frozenset[str]:
    """Return the options whose effect a command may have by options that a `*` covers."""
    listed = [one for profile in profiles for one in _options_of(profile)]
    had = {one.name for one in listed if not one.guarded}
    implied: set[str] = set()
    rules = [rule for profile in profiles for rule in profile.implies]
    while (
        more := {
            each.name
            for rule in rules
            if all(one.name in had or not one.times for one in rule.given)
            for each in rule.implied
        }
        - implied
    ):
        implied |= more
        had |= more
    return frozenset(implied)


def _may_be(option: Option, name: str, beginning: str) -> bool:
    if beginning:
        return any(spelling.startswith(beginning) for spelling in option.spellings)
    return option.name == name


def _options_of(profile: Profile) -> Iterator[Option]:
    yield from profile.options.values()
    for variant in profile.variants:
        yield from variant.options.values()


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
