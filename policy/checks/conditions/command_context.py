"""What the rest of a condition implies about commands and files, for its resource tests.

`connects only` in an `allow` gets the commands that must match beside it: a pattern such as
`curl -L` permits the program to follow redirects, whose targets it would otherwise have to cover.
`runs only` in an `unless` need not cover redirections where anything may be read and written.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from policy.checks.checked import AllOf, ResourceTest, Test, ValueSet


def with_command_context(test: Test) -> Test:
    """Return a condition whose host tests contain the commands required beside them."""
    commands = tuple(
        one.operand
        for one in demanded(test)
        if one.verb == "runs" and one.form == "only" and one.operand is not None
    )
    if not commands or not any(one.verb == "connects" for one in demanded(test)):
        return test
    beside = commands[0]
    if len(commands) > 1:
        beside = ValueSet(kind="commands", included=commands)
    return _with_patterns(test, beside)


def with_any_redirection(test: Test) -> Test:
    """Return the condition of an `unless`; its `runs only` covers redirections if all are meant."""
    free = {one.verb for one in demanded(test) if one.operand is None and one.permits}
    return _covering(test) if {"reads", "writes"} <= free else test


def _covering(test: Test) -> Test:
    match test:
        case ResourceTest(verb="runs", form="only"):
            return replace(test, any_redirection=True)
        case AllOf(tests=tests):
            return replace(test, tests=tuple(map(_covering, tests)))
        case _:
            return test


def _with_patterns(test: Test, beside: ValueSet) -> Test:
    match test:
        case ResourceTest(verb="connects", form="only"):
            return replace(test, beside=beside)
        case AllOf(tests=tests):
            return replace(test, tests=tuple(_with_patterns(part, beside) for part in tests))
        case _:
            return test


def demanded(test: Test) -> Iterator[ResourceTest]:
    """Yield the resource tests that must hold for the condition to hold."""
    match test:
        case ResourceTest():
            yield test
        case AllOf(tests=tests):
            for part in tests:
                yield from demanded(part)
        case _:
            return
