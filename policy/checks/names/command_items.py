"""Items of sets of commands: reads each pattern, and reports programs without a profile."""

from __future__ import annotations

from policy.checks.context import CheckContext
from policy.diagnostics import did_you_mean
from policy.model import Span
from policy.programs import CommandPattern
from policy.values import Unreadable, quote


def command_item(text: str, span: Span, world: CheckContext) -> CommandPattern | Unreadable:
    """Read an item, and report a program without a profile."""
    from policy.programs import CommandPattern, read_command_pattern

    pattern = read_command_pattern(text, world.profiles)
    if isinstance(pattern, CommandPattern) and pattern.program:
        program = pattern.program[0]
        if world.profiles.profile(program) is None:
            _say_unprofiled(program, span, world)
    return pattern


def _say_unprofiled(program: str, span: Span, world: CheckContext) -> None:
    if not world.profiles.programs:
        return  # there are no profiles at all, so a missing one is no mistake
    describe = f"describe it in `programs/{program}.toml` of the policy folder"
    near = did_you_mean(program, world.profiles.programs)
    known = "a `*` does not match its options, and any of its arguments may be a file or a host"
    world.report.say(
        "unprofiled-program",
        f"no profile for {quote(program)}: {known}",
        span=span,
        help=f"{near}; or {describe}" if near else describe,
    )
