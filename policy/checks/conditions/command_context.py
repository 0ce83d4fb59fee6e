"""Tells `connects only` in an `allow` which commands must match beside it.

A pattern such as `curl -L` permits the program to follow redirects, whose targets `connects only`
in the same rule would otherwise have to cover.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from policy.checks.checked import AllOf, ResourceTest, Test, ValueSet


def with_command_context(test: Test) -> Test:
    """Return a condition whose host tests contain the commands required beside them."""
    commands = tuple(
        one.operand
        for one in _demanded(test)
        if one.verb == "runs" and one.form == "only" and one.operand is not None
    )
    if not commands or not any(one.verb == "connects" for one in _demanded(test)):
        return test
    beside = commands[0]
    if len(commands) > 1:
        beside = ValueSet(kind="commands", included=commands)
    return _with_patterns(test, beside)


def _with_patterns(test: Test, beside: ValueSet) -> Test:
    match test:
        case ResourceTest(verb="connects", form="only"):
            return replace(test, beside=beside)
        case AllOf(tests=tests):
            return replace(test, tests=tuple(_with_patterns(part, beside) for part in tests))
        case _:
            return test


def _demanded(test: Test) -> Iterator[ResourceTest]:
    """Yield the resource tests that must hold for the condition to hold."""
    match test:
        case ResourceTest():
            yield test
        case AllOf(tests=tests):
            for part in tests:
                yield from _demanded(part)
        case _:
            return
