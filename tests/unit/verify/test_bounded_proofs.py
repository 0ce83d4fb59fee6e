"""However large a schema or a sum is, a claim is decided, or left undecided, with bounded work."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import pytest

from policy.verify import problem_of
from policy.verify.proof import search
from tests.unit.verify.proving import proof, tool

ALLOWED = "a: allow t"
LARGE: tuple[dict[str, Any], ...] = (
    {"type": "array", "minItems": 30_000_000},
    {"type": "string", "minLength": 1_000_000_000},
    {"type": "array", "minItems": 9_000, "items": {"type": "array", "minItems": 9_000}},
)


@pytest.mark.parametrize("schema", LARGE, ids=("items", "characters", "items of items"))
def test_a_value_that_a_schema_demands_is_not_built_if_it_is_too_large(
    schema: dict[str, Any],
) -> None:
    found = proof("prove never allow t when input.b == 1", ALLOWED, specs=(_tool(schema),))
    assert found.status == "undecided"
    problem = problem_of(found)
    assert problem is not None
    assert problem.message.endswith("its schema demands inputs that are too large to be tried")


def test_rules_decide_claims_about_inputs_that_are_too_large_to_be_tried() -> None:
    spec = _tool(LARGE[0])
    assert proof("prove never allow t", specs=(spec,)).status == "holds"


def test_a_value_below_the_bound_is_shown() -> None:
    spec = _tool({"type": "array", "minItems": 3})
    found = proof("prove never allow t when input.b == 1", ALLOWED, specs=(spec,))
    assert found.counterexample is not None
    assert found.counterexample.situation.input["a"] == ["a", "a", "a"]


def test_no_rule_is_read_about_a_tool_whose_schema_denies_every_call(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def reading(*_: object, **__: object) -> None:
        raise AssertionError("the rules were read")

    monkeypatch.setattr(search, "AllCalls", reading)
    spec = _tool({"enum": [f"v{number}" for number in range(60_000)]})
    found = proof('prove never allow t when input.a == "v1"', ALLOWED, specs=(spec,))
    assert (found.status, [basis.rule for basis in found.basis]) == ("holds", ["schema"])


def test_arithmetic_ends_after_questions_without_an_answer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pytest.importorskip("z3")
    monkeypatch.setattr("policy.solving.arithmetic.by_z3._MOST_UNANSWERED", -1)
    whole = {"type": "integer", "minimum": 0, "maximum": 1000}
    found = proof(
        "prove never allow t when input.a + 2 * input.b > 200",
        "a: allow t when input.a + input.b <= 100 and input.b <= 100",
        specs=(tool("t", {"a": whole, "b": whole}),),
    )
    assert (found.status, found.left_open) == ("undecided", "unfinished")


def test_many_values_that_all_differ_are_compared_with_bounded_work(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("policy.solving.arithmetic.inequalities._MOST_BOUNDS", 100)
    names = ("a", "b", "c", "d", "e")
    few = {"type": "integer", "minimum": 1, "maximum": 4}
    differ = (f"input.{x} != input.{y}" for x, y in combinations(names, 2))
    found = proof(
        f"prove never allow t when {' and '.join(differ)}",
        ALLOWED,
        specs=(tool("t", dict.fromkeys(names, few)),),
    )
    assert (found.status, found.left_open) == ("undecided", "spent")
    problem = problem_of(found)
    assert problem is not None
    assert "the work for a proof was used up" in problem.message


def _tool(schema: dict[str, Any]) -> Any:
    return tool("t", {"a": schema, "b": {"type": "integer"}})
