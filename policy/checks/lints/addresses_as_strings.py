"""Lint: e-mail addresses in a set of strings, which are compared character by character.

`*@corp.example` is no pattern in a set of strings, so that a `deny` with it protects nothing.
"""

from __future__ import annotations

from collections.abc import Iterator

from policy.checks.checked import (
    AllOf,
    AnyOf,
    CheckedRule,
    Constant,
    Membership,
    NotOf,
    Quantified,
    ResourceTest,
    Test,
    Value,
    ValueSet,
)
from policy.checks.context import CheckContext
from policy.checks.lints.context import LintContext
from policy.values import Unreadable, check_recipient_pattern, has_wildcard, quote


def find(context: LintContext) -> None:
    """Report tests with sets of strings that are meant as sets of addresses."""
    for rule in context.check.fresh:
        if not rule.of_pack:
            _look_at(rule, context.check)


def _look_at(rule: CheckedRule, check: CheckContext) -> None:
    for part in (rule.when, rule.unless):
        for test in _tests(part):
            meant = _address_in(test)
            if meant is not None:
                check.report.add(
                    "addresses-as-strings",
                    f"`{test.text}` compares strings character by character, and {quote(meant)} "
                    "is an address",
                    span=rule.span,
                    help="define the set with `addresses` in place of `strings`",
                )


def _tests(test: Test | None) -> Iterator[ResourceTest | Membership]:
    match test:
        case ResourceTest(verb="sends") | Membership():
            yield test
        case AllOf(tests=tests) | AnyOf(tests=tests):
            for part in tests:
                yield from _tests(part)
        case NotOf(test=part) | Quantified(test=part):
            yield from _tests(part)
        case _:
            return


def _address_in(test: ResourceTest | Membership) -> str | None:
    """Return an item that is only right in a set of addresses, None if there is none."""
    operand = test.operand if isinstance(test, ResourceTest) else test.right
    addresses = [text for text in _strings(operand) if _is_address(text)]
    if isinstance(test, ResourceTest):
        return next(iter(addresses), None)
    # A value may well be one of some exact strings.
    return next(filter(has_wildcard, addresses), None)


def _strings(values: ValueSet | Value | None) -> Iterator[str]:
    if isinstance(values, Constant) and isinstance(values.value, tuple):
        yield from (item for item in values.value if isinstance(item, str))
    if not isinstance(values, ValueSet) or values.kind != "strings":
        return
    for part in values.included:
        if isinstance(part, ValueSet):
            yield from _strings(part)
        elif isinstance(part, str):
            yield part


def _is_address(text: str) -> bool:
    domain = text.rpartition("@")[2]
    return "." in domain and not isinstance(check_recipient_pattern(text), Unreadable)
