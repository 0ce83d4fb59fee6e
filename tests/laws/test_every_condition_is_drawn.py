"""Laws draw every kind of condition, and the oracle judges it.

A law holds only for the conditions that it draws. A new condition is therefore added to what laws
draw and to the oracle; these tests fail until it is.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from policy.catalog import VERBS
from policy.model import Caller, ToolCall
from policy.syntax import tree
from tests.laws.calls import SPECS, WORLDS, calls
from tests.laws.condition_kinds import NODES, all_kinds, kinds_in
from tests.laws.conditions import conditions
from tests.laws.engine import Unsound, build
from tests.laws.many_rules import pool
from tests.laws.policies import GLOBAL, PREAMBLE, PolicyText
from tests.laws.situations import spelled
from tests.reference import reference_decide
from tests.reference_conditions import NotInReference
from tests.strategies import expressions_over, names_of_things, simple_expressions

TO_BE_DRAWN = all_kinds()
# The many rules are about one tool, whose only resource is read. Generated code is compared with
# closures on the conditions of `tests.laws.conditions` as well, and these have all verbs.
VERBS_OF_OTHER_TOOLS = {f"ResourceTest.verb {verb}" for verb in VERBS if verb != "reads"}


# A condition may be settled before a part of it is looked at, by a value that is absent.
ENOUGH = 5


@dataclass(slots=True)
class Found:
    """How many drawn conditions have each kind, and what the oracle could not judge in them."""

    drawn: Counter[str] = field(default_factory=Counter)
    not_judged: set[str] = field(default_factory=set)

    def has_enough(self, kinds: Iterable[str]) -> bool:
        return all(self.drawn[kind] >= ENOUGH for kind in kinds)


def _policy(call: ToolCall, condition: str, *, permits: bool) -> PolicyText:
    rule = f"x: {'allow' if permits else 'deny'} {spelled(call.tool)} when {condition}"
    statements = ("policy for every agent", *PREAMBLE.splitlines(), "default ask", rule)
    return PolicyText(files=((GLOBAL, statements),))


def _kinds_in_rules(file: tree.PolicyFile) -> frozenset[str]:
    return kinds_in(tuple(one for one in file.statements if isinstance(one, tree.Rule)))


@cache
def _found() -> Found:
    """Draw conditions as the laws do, and leave out those that the checker refuses."""
    found = Found()

    @settings(max_examples=500, phases=[Phase.generate], database=None)
    @given(calls(), st.data(), st.booleans())
    def draw(call: ToolCall, data: st.DataObject, permits: bool) -> None:
        drawn = [data.draw(conditions(call, permits=permits)) for _ in range(6)]
        for condition in drawn if not found.has_enough(TO_BE_DRAWN) else ():
            try:
                built = build(_policy(call, condition, permits=permits))
            except Unsound:
                continue
            found.drawn.update(_kinds_in_rules(built.trees[0]))
            try:
                reference_decide(built.trees, SPECS, call, Caller(), WORLDS[0])
            except NotInReference as unknown:
                found.not_judged.add(str(unknown))

    draw()
    return found


def _listed(kinds: Iterable[str]) -> str:
    return ", ".join(f"`{kind}`" for kind in sorted(kinds))


@pytest.mark.long
def test_laws_draw_every_kind_of_condition() -> None:
    missing = TO_BE_DRAWN - _found().drawn.keys()
    assert not missing, (
        f"no condition that laws draw has {_listed(missing)}: "
        "add one to tests/laws/conditions.py, and to the oracle, tests/reference_conditions.py"
    )


@pytest.mark.long
def test_the_oracle_judges_every_kind_of_condition() -> None:
    missing = _found().not_judged
    assert not missing, (
        f"the oracle cannot judge {_listed(missing)}: add it to tests/reference_conditions.py"
    )


class _AllDrawn(Exception):
    """Ends the drawing."""


def test_the_trees_that_laws_print_and_parse_have_every_node() -> None:
    missing = {node.__name__ for node in NODES}
    trees = st.one_of(simple_expressions, expressions_over(names_of_things))

    @settings(max_examples=1_000, phases=[Phase.generate], database=None)
    @given(trees)
    def draw(expr: tree.Expr) -> None:
        missing.difference_update(kinds_in(expr))
        if not missing:
            raise _AllDrawn

    with suppress(_AllDrawn):
        draw()
    assert not missing, f"no tree has {_listed(missing)}: add it to tests/strategies.py"


def test_the_rules_that_generated_code_is_compared_on_have_every_kind_of_condition() -> None:
    _, file = pool()
    missing = TO_BE_DRAWN - VERBS_OF_OTHER_TOOLS - _kinds_in_rules(file)
    assert not missing, (
        f"none of the rules has a condition with {_listed(missing)}: "
        "add one to `atom` in tests/laws/many_rules.py"
    )
