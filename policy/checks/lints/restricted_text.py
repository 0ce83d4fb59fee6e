"""Lint: a `deny` or `ask` by a part of the text of a command, which has other spellings."""

from __future__ import annotations

import re
from collections.abc import Iterator

from policy.checks.checked import (
    AllOf,
    AnyOf,
    CheckedRule,
    Constant,
    Fact,
    FieldOf,
    LikeTest,
    RegexTest,
    Test,
    TextRelation,
    Value,
)
from policy.checks.context import CheckContext
from policy.checks.lints.context import LintContext
from policy.model import Verdict

_RESTRICTING = (Verdict.DENY, Verdict.ASK)
# What names a program, and no mark of the shell such as `;` or `$(`.
_WORD = re.compile(r"[A-Za-z]{2}")


def find(context: LintContext) -> None:
    """Report every rule that restricts commands by a part of their text."""
    for rule in context.check.fresh:
        if rule.verdict in _RESTRICTING and not rule.of_pack:
            _look_at(rule, context.check)


def _look_at(rule: CheckedRule, check: CheckContext) -> None:
    commands = {
        resource.steps
        for spec in check.tools.matching(rule.tools)
        for resource in spec.resources
        if resource.verb == "runs"
    }
    for test in _text_tests(rule.when):
        if _path(test.left) in commands and _WORD.search(_looked_for(test)):
            check.report.add(
                "shallow-pattern",
                f"`{test.text}` is about one spelling of a command; others of the same command "
                "pass",
                span=rule.span,
                help='write a command pattern, which covers every spelling: `runs "git push *"`',
            )


def _text_tests(test: Test | None) -> Iterator[TextRelation | LikeTest | RegexTest]:
    """Yield the tests of texts where a match restricts; below `not`, what does not match does."""
    match test:
        case TextRelation() | LikeTest() | RegexTest():
            yield test
        case AllOf(tests=tests) | AnyOf(tests=tests):
            for part in tests:
                yield from _text_tests(part)
        case _:
            return


def _path(value: Value) -> tuple[str, ...] | None:
    """Return the steps from the input to a field, None if the value is something else."""
    steps: tuple[str, ...] = ()
    while isinstance(value, FieldOf):
        steps = (value.name, *steps)
        value = value.base
    return steps if isinstance(value, Fact) and value.path == ("input",) else None


def _looked_for(test: TextRelation | LikeTest | RegexTest) -> str:
    if not isinstance(test, TextRelation):
        return test.pattern
    right = test.right.value if isinstance(test.right, Constant) else ""
    return right if isinstance(right, str) else ""
