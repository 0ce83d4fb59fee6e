"""Conditions in; whether it is plain that they can hold and can fail, before reckoning, out.

Most rules ask one thing each of a few fields about which nothing else is known. Of them there is
nothing to say, and this tells so at a glance. `never` reckons all the others.
"""

from __future__ import annotations

from functools import lru_cache

from policy.catalog import SchemaView
from policy.checks.bounds import bounds_at
from policy.checks.checked import (
    AllOf,
    Comparison,
    Constant,
    Fact,
    KindTest,
    LikeTest,
    Member,
    NotOf,
    RegexTest,
    Test,
    TextRelation,
    Truth,
    Value,
    ValueSet,
    WindowTest,
)
from policy.checks.known import KnownTool, Steps, field_steps

# What a tool may settle: see `KnownTool.fact`.
_OF_TOOLS = frozenset({"tool", "call"})
# Tests that can come out as anything in every call.
_OPEN = frozenset({RegexTest, WindowTest})


def can_go_either_way(when: Test | None, unless: Test | None, tool: KnownTool | None) -> bool:
    """Tell whether each part asks of a value of its own, about which nothing is known.

    Then `when` can hold and can fail, so can `unless`, and neither excludes the other.
    """
    seen: set[tuple[str, ...]] = set()
    for test in (when, unless):
        if test is None:
            continue
        for part in test.tests if type(test) is AllOf else (test,):
            while type(part) is NotOf:
                part = part.test
            if type(part) in _OPEN:
                continue
            about = _about(part)
            value = None if about is None else _free(about, tool)
            if value is None or value in seen:
                return False
            seen.add(value)
    return True


def _about(test: Test) -> Value | None:
    """Return the only value that a test is about, None where that is not told at a glance."""
    match test:
        case Comparison(left=left, right=Constant(value=held)):
            return left if held is not None else None
        case Member(left=left, right=ValueSet(included=items)):
            return left if items else None
        case Member(left=left, right=Constant(value=tuple() as items)):
            return left if items and items[0] is not None else None
        case Truth(value=value):
            return value
        case TextRelation() | LikeTest() | KindTest():
            return test.left
        case _:
            return None


def _free(value: Value, tool: KnownTool | None) -> tuple[str, ...] | None:
    """Return the name of a value about which nothing is known, None of any other."""
    if type(value) is Fact:
        return None if value.path[0] in _OF_TOOLS else value.path
    steps = field_steps(value)
    if steps is None or (tool is not None and not _is_free(tool.view, steps)):
        return None
    return ("input", *steps)


@lru_cache(maxsize=16_384)
def _is_free(view: SchemaView, steps: Steps) -> bool:
    """Tell whether a schema neither lists what a field can be nor bounds it."""
    return view.lookup(steps).choices is None and not bounds_at(view, steps)
