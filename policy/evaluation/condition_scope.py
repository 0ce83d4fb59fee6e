"""Where a condition stands, as far as its meaning depends on it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from policy.checks import checked
from policy.evaluation.declared_resources import DeclaredResources
from policy.evaluation.evaluation import Evaluation
from policy.evaluation.truth import Truth, Value

ValueOf: TypeAlias = Callable[[Evaluation], Value]
TestOf: TypeAlias = Callable[[Evaluation], Truth]


@dataclass(frozen=True, slots=True, kw_only=True)
class ConditionScope:
    """Where a condition stands, as far as its meaning depends on it.

    `absent_is_false`: a test of an absent value is false (the `when` of a rule that restricts),
    else indeterminate. `covering`: the rule is an `allow`, whose redirections other clauses may
    cover. `test` compiles the tests inside selections. `counting`: the value is what a limit
    counts, so that no part of a sum may be negative and make room for another.
    """

    declared: DeclaredResources
    absent_is_false: bool
    covering: bool
    test: Callable[[checked.Test, ConditionScope], TestOf]
    counting: bool = False
