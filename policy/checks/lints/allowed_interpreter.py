"""Lint: an `allow` of an interpreter that runs any code."""

from __future__ import annotations

from collections.abc import Iterator

from policy.checks.checked import CheckedRule, ValueSet
from policy.checks.context import CheckContext
from policy.checks.lints.context import LintContext
from policy.checks.satisfiability.outcomes import resource_tests
from policy.model import Verdict
from policy.programs import CommandPattern, Profile, Profiles, read_command_pattern
from policy.values import quote

_CODE = frozenset({"code", "command", "script"})
_INLINE = frozenset({"code", "command"})


def find(context: LintContext) -> None:
    """Report every `allow` with a command pattern that lets an interpreter run any code."""
    for rule in context.check.fresh:
        # The page of a pack says what its grants let in; its parameters decide, not this line.
        open_to_all = rule.verdict is Verdict.ALLOW and not rule.of_pack
        if open_to_all and not rule.with_approval and not rule.shadow:
            _look_at(rule, context.check)


def _look_at(rule: CheckedRule, check: CheckContext) -> None:
    found = dict.fromkeys(
        text
        for test in resource_tests(rule.when)
        if test.verb == "runs" and test.permits and test.operand is not None
        for text in _items(test.operand)
        if _is_open(text, check.profiles)
    )
    if not found:
        return
    shown = ", ".join(quote(text) for text in found)
    check.report.add(
        "allowed-interpreter",
        f"this `allow` lets a program run any code: {shown}",
        span=rule.span,
        help="name the scripts it may run, require approval, or use a sandbox",
    )


def _items(values: ValueSet) -> Iterator[str]:
    for part in values.included:
        if isinstance(part, ValueSet):
            yield from _items(part)
        elif isinstance(part, str):
            yield part


def _is_open(text: str, profiles: Profiles) -> bool:
    """Return whether a pattern matches interpreter commands with any code.

    A pattern that matches any program matches them all; one of workspace files, none.
    """
    pattern = read_command_pattern(text, profiles)
    if not isinstance(pattern, CommandPattern) or not pattern.rest:
        return False
    if pattern.program is None:
        return pattern.files is None
    profile = profiles.profile(pattern.program[0])
    if profile is None or pattern.inner or _spells_code(pattern, profile):
        return False
    if not (profile.hides or profile.stdin in _CODE or _CODE.intersection(profile.operands[:1])):
        return False
    first = pattern.steps[0] if pattern.steps else None
    return first is None or first.text == "*"


def _spells_code(pattern: CommandPattern, profile: Profile) -> bool:
    """Return whether an option of the pattern fixes the code: `python -m pytest *`."""
    for given in pattern.options:
        option = profile.options.get(given.name)
        spelled = given.value is not None and given.value.shape == "known"
        if option is not None and spelled and (option.last or option.role in _INLINE):
            return True
    return False
