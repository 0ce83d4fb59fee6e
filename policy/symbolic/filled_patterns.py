"""Commands that a pattern such as `git *` permits: the program with its subcommands and words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from itertools import islice

from policy.programs import Profiles

_MOST = 250  # commands
_MOST_OPTIONS = 12  # that a wildcard stands for


def filled_patterns(
    commands: Iterable[str], profiles: Profiles, *, word: str, given: tuple[str, ...]
) -> Iterator[str]:
    """Yield commands for those that end with the `word` that stands for a wildcard.

    In its place stands what is `given`: paths, URLs and texts, quoted. After the name of a program
    alone, it stands behind a subcommand as well: `git add /srv/a` for `git *`.
    """
    yield from islice(_filled(commands, profiles, word, given), _MOST)


def with_options(pattern: str, profiles: Profiles) -> Iterator[str]:
    """Yield commands with options that a word such as `--force*` of a pattern stands for."""
    words = pattern.split()
    places = (at for at, word in enumerate(words) if word[:1] == "-" and "*" in word)
    place = next(places, None)
    profile = profiles.profile(words[0]) if words else None
    if place is None or profile is None:
        return
    for name in words[1:place]:
        profile = profile.subcommands.get(name, profile)
    others = [word for word in words[place + 1 :] if word != "*"]
    spellings = (one for one in sorted(profile.options) if fnmatchcase(one, words[place]))
    for spelling in islice(spellings, _MOST_OPTIONS):
        yield " ".join((*words[:place], spelling, *others))


def _filled(
    commands: Iterable[str], profiles: Profiles, word: str, given: tuple[str, ...]
) -> Iterator[str]:
    beginnings = [
        command.removesuffix(f" {word}") for command in commands if command.endswith(f" {word}")
    ]
    longer = [
        f"{program} {name}"
        for program in beginnings
        if " " not in program and (profile := profiles.profile(program)) is not None
        for name in sorted(profile.subcommands)
    ]
    yield from longer
    for text in given:
        yield from (f"{beginning} {text}" for beginning in (*beginnings, *longer))
