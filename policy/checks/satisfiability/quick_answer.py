"""The common case: conditions that can obviously hold and fail, without computing outcomes.

Most rules have one condition on each of a few fields that are otherwise unrestricted, so there is
nothing to report. `never` handles all others.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Any, Literal

from policy.catalog import SchemaView
from policy.checks.checked import (
    AllOf,
    AnyOf,
    Comparison,
    Constant,
    Fact,
    LikeTest,
    Membership,
    NotOf,
    Presence,
    RegexTest,
    ResourceTest,
    Test,
    TextRelation,
    TypeTest,
    Value,
    ValueSet,
    ValueTest,
    WindowTest,
)
from policy.checks.names.known_tools import KnownTool, Steps, field_steps
from policy.checks.satisfiability.bounds import bounds_at, is_unsatisfiable
from policy.checks.satisfiability.outcomes import outcomes
from policy.checks.satisfiability.possible_values import FALSE, TRUE, UNDECIDED, ConditionContext

# Facts that may be constant for a tool: see `KnownTool.fact`.
_OF_TOOLS = frozenset({"tool", "call"})
# Tests that can have any outcome in every call.
_OPEN = frozenset({RegexTest, WindowTest})
_EITHER_WAY = TRUE | FALSE


def can_go_either_way(when: Test | None, unless: Test | None, tool: KnownTool | None) -> bool:
    """Return whether each part is about a different value, and can by itself hold and fail.

    Then `when` can hold and can fail, so can `unless`, and neither excludes the other.
    """
    seen: set[tuple[str, ...]] = set()
    todo = [test for test in (when, unless) if test is not None]
    while todo:
        part = todo.pop()
        if type(part) is NotOf:
            todo.append(part.test)
        elif type(part) is AllOf or type(part) is AnyOf:
            todo.extend(part.tests)
        elif type(part) in _OPEN or type(part) is ResourceTest:
            # Of these, an exception may repeat one of the conditions.
            if unless is not None or not _is_open(part, tool):
                return False
        else:
            about = _ABOUT.get(type(part), _nothing)(part)
            value = None if about is None else _asked(part, about, tool)
            if value is None or value in seen:
                return False
            seen.add(value)
    return True


def _is_open(part: Test, tool: KnownTool | None) -> bool:
    return (
        outcomes(part, ConditionContext(tool=tool, absent=UNDECIDED)) & _EITHER_WAY == _EITHER_WAY
    )


def _of_comparison(test: Comparison) -> Value | None:
    right = test.right
    return test.left if type(right) is Constant and right.value is not None else None


def _of_member(test: Membership) -> Value | None:
    right = test.right
    if type(right) is ValueSet:
        return test.left if right.included else None
    items = right.value if type(right) is Constant else None
    return test.left if isinstance(items, tuple) and items and items[0] is not None else None


def _of_left(test: TextRelation | LikeTest | TypeTest | Presence) -> Value | None:
    return test.left


def _of_truth(test: ValueTest) -> Value | None:
    return test.value


def _nothing(_: Test) -> Value | None:
    return None


# The only value that a test is about; None where that is not simple to see.
_ABOUT: Mapping[type, Callable[[Any], Value | None]] = MappingProxyType(
    {
        Comparison: _of_comparison,
        Membership: _of_member,
        ValueTest: _of_truth,
        TextRelation: _of_left,
        LikeTest: _of_left,
        TypeTest: _of_left,
        Presence: _of_left,
    }
)


def _asked(part: Test, value: Value, tool: KnownTool | None) -> tuple[str, ...] | None:
    """Return the name of the value a part is about, None where its outcome may be constant."""
    if type(value) is Fact:
        return None if value.path[0] in _OF_TOOLS else value.path
    steps = field_steps(value)
    if steps is None:
        return None
    if tool is not None:
        known = _known_of(tool.view, steps)
        may_be_settled = known == "some" or type(part) is Presence
        if known == "much" or (may_be_settled and not _is_open(part, tool)):
            return None
    return ("input", *steps)


@lru_cache(maxsize=16_384)
def _known_of(view: SchemaView, steps: Steps) -> Literal["nothing", "some", "much"]:
    """Return how much a schema restricts a field: by choices, bounds, or both."""
    choices, bounds = view.lookup(steps).choices, bounds_at(view, steps)
    if choices is None and not bounds:
        return "nothing"
    return "much" if is_unsatisfiable(bounds) or (choices is not None and bounds) else "some"
