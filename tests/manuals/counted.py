"""The stored counts: the options of each program's manual, known to its profile or not."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from policy.programs import Profile, Profiles
from policy.programs.profiles.profile import NUMBER

OPTIONS = Path(__file__).with_name("options.jsonl")


@dataclass(frozen=True, slots=True, kw_only=True)
class Counted:
    """The options of one program, or of a subcommand such as `git log`, by one version's manual."""

    program: str
    version: str
    known: tuple[str, ...]
    unknown: tuple[str, ...]


def read_counted() -> list[Counted]:
    """Return what is kept, program by program."""
    lines = OPTIONS.read_text(encoding="utf-8").splitlines() if OPTIONS.exists() else []
    return [
        Counted(
            program=row["program"],
            version=row["version"],
            known=tuple(row["known"].split()),
            unknown=tuple(row["unknown"].split()),
        )
        for row in map(json.loads, lines)
    ]


def write_counted(counted: list[Counted]) -> None:
    """Keep what was counted, a line a program."""
    rows = [
        {
            "program": one.program,
            "version": one.version,
            "options": len(one.known) + len(one.unknown),
            "known_options": len(one.known),
            "known": " ".join(one.known),
            "unknown": " ".join(one.unknown),
        }
        for one in sorted(counted, key=lambda one: one.program)
    ]
    OPTIONS.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def profile_of(program: str, profiles: Profiles) -> Profile | None:
    """Return the profile of `cp` or, with its subcommands in turn, of `git stash pop`."""
    name, *subcommands = program.split()
    profile = profiles.profile(name)
    for each in subcommands:
        profile = None if profile is None else profile.subcommands.get(each)
    return profile


def knows(profile: Profile, option: str) -> bool:
    """Tell whether a profile has an option, also as a cluster of letters or with a glued value."""
    if option in profile.options:
        return True
    if profile.style in ("gnu", "posix"):
        return not option.startswith("--") and _knows_letters(profile, option[1:])
    if option[1:].isdigit():
        return NUMBER in profile.options
    return any(
        option.startswith(spelling)
        for spelling, known in profile.options.items()
        if known.takes in ("glued", "number")
    )


def _knows_letters(profile: Profile, letters: str) -> bool:
    for letter in letters:
        known = profile.options.get("-" + letter)
        if known is None and letter.isdigit():
            known = profile.options.get(NUMBER)
        elif known is not None and known.takes != "nothing":
            return True
        if known is None:
            return False
    return True
