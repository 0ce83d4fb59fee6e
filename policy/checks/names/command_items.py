"""Items of sets of commands: reads each pattern, and reports programs without a profile."""

from __future__ import annotations

from policy.checks.context import CheckContext
from policy.diagnostics import did_you_mean
from policy.model import Span
from policy.programs import CommandPattern, read_command_pattern
from policy.values import Unreadable, quote


def command_item(text: str, span: Span, check: CheckContext) -> CommandPattern | Unreadable:
    """Read an item, and report a program without a profile."""
    if _is_of_another_tool(text, check):
        return Unreadable(reason=f"arguments follow a space: {quote(f'{text[:-2]} *')}")
    pattern = read_command_pattern(text, check.profiles)
    if isinstance(pattern, CommandPattern) and pattern.program:
        program = pattern.program[0]
        if check.profiles.profile(program) is None:
            _report_unprofiled(program, span, check)
    return pattern


def _is_of_another_tool(text: str, check: CheckContext) -> bool:
    """Return whether this is a command with `:*` behind it, as Claude Code writes any arguments."""
    command = text.removesuffix(":*")
    if command == text:
        return False
    pattern = read_command_pattern(command, check.profiles)
    return isinstance(pattern, CommandPattern) and " ".join(pattern.program or ()) == command


def _report_unprofiled(program: str, span: Span, check: CheckContext) -> None:
    if not check.profiles.programs:
        return  # there are no profiles at all, so a missing one is no mistake
    describe = f"describe it in `programs/{program}.toml` of the policy folder"
    near = did_you_mean(program, check.profiles.programs)
    known = "a `*` does not match its options, and any of its arguments may be a file or a host"
    check.report.add(
        "unprofiled-program",
        f"no profile for {quote(program)}: {known}",
        span=span,
        help=f"{near}; or {describe}" if near else describe,
    )
