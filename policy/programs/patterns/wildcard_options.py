"""Options of a command pattern that have a wildcard in their name: `git push --force*`.

They are compared by how they are spelled; any other option is compared by its meaning.
"""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatchcase

from policy.programs.patterns.pattern import CommandPattern, profile_of
from policy.programs.patterns.wildcards import has_placeholder, shown
from policy.shell import Word


@dataclass(frozen=True, slots=True, kw_only=True)
class WildcardOption:
    """An option of a pattern, as it is spelled there.

    `names` are the options of the program that it matches, `missed` other spellings of these
    options, and globs of operands that mean one of them, each behind the option's name.
    """

    spelled: str
    names: tuple[str, ...]
    missed: tuple[tuple[str, str], ...]


def wildcard_options(pattern: CommandPattern) -> tuple[WildcardOption, ...]:
    """Return the options with a wildcard in their name that miss spellings of what they match."""
    profile = profile_of(pattern.program or (), pattern.profiles)
    if profile is None:
        return ()
    found = []
    for given in pattern.options:
        if not given.unknown or not has_placeholder(given.spelled):
            continue
        glob = shown(Word(given.spelled)).text
        options = {o.name: o for text, o in profile.options.items() if fnmatchcase(text, glob)}
        missed = [
            (option.name, text)
            for option in options.values()
            for text in option.spellings
            if not fnmatchcase(text, glob)
        ]
        missed += [(name, text) for text, name in profile.means.items() if name in options]
        if missed:
            found.append(WildcardOption(spelled=glob, names=tuple(options), missed=tuple(missed)))
    return tuple(found)
