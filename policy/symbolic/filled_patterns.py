"""Commands that a pattern such as `git *` permits: the program with its subcommands and words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice

from policy.programs import Profiles

_MOST = 250  # commands


def filled_patterns(
    commands: Iterable[str], profiles: Profiles, *, word: str, given: tuple[str, ...]
) -> Iterator[str]:
    """Yield commands for those that end with the `word` that stands for a wildcard.

    In its place stands what is `given`: paths, URLs and texts, quoted. After the name of a program
    alone, it stands behind a subcommand as well: `git add /srv/a` for `git *`.
    """
    yield from islice(_filled(commands, profiles, word, given), _MOST)


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
