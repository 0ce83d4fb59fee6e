"""Lint: a `deny` or `ask` of a script, by one of the ways in which it can be run."""

from __future__ import annotations

from collections.abc import Iterator

from policy.checks.checked import CheckedRule, ResourceTest, ValueSet
from policy.checks.context import CheckContext
from policy.checks.lints.context import LintContext
from policy.checks.satisfiability.outcomes import resource_tests
from policy.model import Verdict
from policy.programs import CommandPattern, named_script, read_command_pattern
from policy.values import escape_glob, quote

_RESTRICTING = (Verdict.DENY, Verdict.ASK)


def find(context: LintContext) -> None:
    """Report every rule that restricts the command of a script, and not the script."""
    for rule in context.check.fresh:
        if rule.verdict in _RESTRICTING and not rule.of_pack:
            _look_at(rule, context.check)


def _look_at(rule: CheckedRule, check: CheckContext) -> None:
    tests = list(resource_tests(rule.when))
    if any(test.verb == "reads" for test in tests):
        return
    texts = dict.fromkeys(text for test in tests if _restricts(test) for text in _items(test))
    for text in texts:
        pattern = read_command_pattern(text, check.profiles)
        found = named_script(pattern) if isinstance(pattern, CommandPattern) else None
        if found is not None and not _is_matched_otherwise(found[0], texts, text):
            check.report.add(
                "script-by-one-program",
                f"{quote(text)} is one way to run {quote(found[0])}; other programs may run it",
                span=rule.span,
                help=_help(*found),
            )


def _restricts(test: ResourceTest) -> bool:
    return test.verb == "runs" and test.form == "some" and not test.permits


def _items(test: ResourceTest) -> Iterator[str]:
    pending = [] if test.operand is None else list(test.operand.included)
    for part in pending:
        if isinstance(part, ValueSet):
            pending.extend(part.included)
        elif isinstance(part, str):
            yield part


def _is_matched_otherwise(script: str, texts: dict[str, None], text: str) -> bool:
    """Return whether another pattern of the rule names the same script."""
    return any(script.removeprefix("./") in other for other in texts if other != text)


def _help(script: str, every_use: bool) -> str:  # noqa: FBT001 — what was found
    if every_use:
        path = script if "/" in script else f"./{script}"
        return f'restrict the file, whoever runs it: `reads "{escape_glob(path)}"`'
    return "add a pattern for each program that may run it, or restrict every use of the file"
