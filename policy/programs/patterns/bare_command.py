"""Whether a command pattern covers a program without operands alone, though it accepts some."""

from __future__ import annotations

from policy.programs.patterns.pattern import CommandPattern, profile_of


def matches_bare(pattern: CommandPattern) -> bool:
    """Return whether `git push`, `npm` or `git *push*` has no `*` for what may follow.

    A program without a profile may accept anything.
    """
    if pattern.program is None or pattern.rest or pattern.inner or pattern.redirections:
        return False
    if pattern.steps and not (pattern.open_at is not None and len(pattern.steps) == 1):
        return False
    profile = profile_of(pattern.program, pattern.profiles)
    return profile is None or bool(profile.operands or profile.subcommands)
