"""Claims about sums, products, lengths and times: what is proved, and the calls that are shown."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import Any

import pytest

from policy.verify import Proof, problem_of
from tests.unit.verify.proving import proof, tool

WHOLE, NUMBER, TEXT = {"type": "integer"}, {"type": "number"}, {"type": "string"}
SMALL = {"type": "integer", "minimum": 0, "maximum": 1000}
PAY = tool(
    "pay",
    {
        "a": SMALL,
        "b": SMALL,
        "size": WHOLE,
        "total": NUMBER,
        "price": NUMBER,
        "count": WHOLE,
        "to": TEXT,
        "at": TEXT,
        "until": TEXT,
        "items": {"type": "array", "items": {"type": "object"}},
        "order": {
            "type": "object",
            "properties": {"total": NUMBER, "paid": NUMBER},
            "required": ["total", "paid"],
        },
    },
)
# A claim and a rule that need a solver: each sum alone has room.
SEVERAL_SUMS = (
    "input.a + 2 * input.b > 200",
    "input.a + input.b <= 100 and input.b <= 100",
)
IN_PRICE = "input.price >= 0 and input.price <= 10 and input.count >= 0 and input.count <= 100"


@pytest.mark.parametrize(
    ("claimed", "allowed", "status"),
    [
        # Differences and chains need no other solver.
        ("input.a < input.b", "input.a > input.b", "holds"),
        ("input.a == input.b", "input.a <= input.b", "broken"),
        (
            "input.a > 10",
            "input.a <= input.b and input.b <= input.size and input.size < 10",
            "holds",
        ),
        ("input.a - input.b > 10", "input.a <= 5", "holds"),
        ("input.a - input.b > 10", "input.a <= 50", "broken"),
        ("-input.size > 10", "input.size >= 0", "holds"),
        ("input.a * 2 > 100", "input.a <= 50", "holds"),
        ("max(input.a, input.b) > 50", "input.a <= 50 and input.b <= 50", "holds"),
        ("min(input.a, input.b) > 50", "input.a <= 50 and input.b <= 60", "holds"),
        ("min(input.a, input.b) > 50", "input.a <= 55 and input.b <= 60", "broken"),
        # The same sum, whatever it is compared with.
        ("input.a + input.b > 100", "input.a + input.b <= 50", "holds"),
        ("input.a + input.b > 40", "input.a + input.b <= 50", "broken"),
        ("sum(x in input.items: x.n) > 500", "sum(x in input.items: x.n) <= 100", "holds"),
        ("count(x in input.items: x.n > 1) > 3", "count(x in input.items: x.n > 1) <= 1", "holds"),
        # Lengths, and fields within fields.
        ("length(input.to) > 300", "length(input.to) <= 200", "holds"),
        ("length(input.to) > 20", "length(input.to) <= input.size and input.size < 10", "holds"),
        ("length(input.to) > 100", "length(input.to) < 200", "broken"),
        ("length(input.items) > 5", "length(input.items) < 3", "holds"),
        ("input.order.paid > input.order.total", "input.order.paid <= input.order.total", "holds"),
        ("input.order.paid > 5", "input.order.paid <= input.order.total", "broken"),
        # Times and durations.
        ('now < time("2026-01-01T00:00:00Z")', 'now >= time("2026-06-01T00:00:00Z")', "holds"),
        ("now - time(input.at) > 30m", "now - time(input.at) <= 10m", "holds"),
        ("now - time(input.at) > 5m", "now - time(input.at) <= 10m", "broken"),
        ("time(input.at) > time(input.until)", "time(input.at) + 1h <= time(input.until)", "holds"),
    ],
)
def test_a_claim_about_numbers_is_decided(claimed: str, allowed: str, status: str) -> None:
    assert _found(claimed, allowed).status == status


@pytest.mark.parametrize(
    ("claimed", "allowed", "status"),
    [
        ("input.a > 80", "input.a + input.b <= 100 and input.b >= 20", "holds"),
        ("input.a > 70", "input.a + input.b <= 100 and input.b >= 20", "broken"),
        ("input.total > 1000", f"input.total == input.price * input.count and {IN_PRICE}", "holds"),
        ("input.total > 900", f"input.total == input.price * input.count and {IN_PRICE}", "broken"),
        ("input.a * input.b > 100", "input.a <= 10 and input.b <= 10", "holds"),
        ("input.a * input.a == 2", "input.a + input.b < 10", "holds"),
        ("length(input.to) > 30", "length(input.to) + input.a <= 50 and input.a >= 20", "holds"),
    ],
)
def test_a_claim_about_sums_of_several_values_is_decided_by_z3(
    claimed: str, allowed: str, status: str
) -> None:
    pytest.importorskip("z3", reason="z3 is installed on Linux on x86-64 alone")
    assert _found(claimed, allowed).status == status


def _found(claimed: str, allowed: str) -> Proof:
    return proof(f"prove never allow pay when {claimed}", f"allow pay when {allowed}", specs=(PAY,))


def test_a_call_that_breaks_a_claim_has_values_with_these_sizes() -> None:
    found = _found("length(input.to) > 100 and input.a > input.b", "length(input.to) < 200")
    assert found.counterexample is not None
    shown = found.counterexample.situation.input
    assert 100 < len(shown["to"]) < 200
    assert shown["a"] > shown["b"]


def test_without_z3_a_claim_about_a_sum_is_undecided_and_the_help_names_the_extra(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "z3", None)
    found = _found(*SEVERAL_SUMS)
    assert (found.status, found.left_open) == ("undecided", "missing")
    problem = problem_of(found)
    assert problem is not None
    assert problem.help.startswith("install placet[analysis]")
    assert "which is not installed" in problem.message
    # What breaks a claim is shown all the same.
    broken = _found("input.a > 10", "input.a + input.b <= 100 and input.b >= 20")
    assert broken.status == "broken"


@pytest.mark.parametrize(
    ("claimed", "allowed", "status"),
    [
        ("input.a + input.b > 2000", "input.a >= 0", "holds"),
        ("input.a + input.b > 1900", "input.a >= 0", "broken"),
        ("input.a > 80", "input.a + input.b <= 100 and input.b >= 20", "holds"),
        ("input.a * input.b > 100", "input.a <= 10 and input.b <= 10", "holds"),
        ("input.a * input.b > 90", "input.a <= 10 and input.b <= 10", "broken"),
    ],
)
def test_bounds_of_sums_and_products_need_no_z3(
    monkeypatch: pytest.MonkeyPatch, claimed: str, allowed: str, status: str
) -> None:
    monkeypatch.setitem(sys.modules, "z3", None)
    assert _found(claimed, allowed).status == status


def test_what_z3_does_not_finish_is_undecided(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("z3", reason="z3 is installed on Linux on x86-64 alone")
    monkeypatch.setattr("policy.solving.arithmetic.by_z3._MOST_WORK_IN_ALL", -1)
    found = _found(*SEVERAL_SUMS)
    assert (found.status, found.left_open) == ("undecided", "unfinished")
    problem = problem_of(found)
    assert problem is not None
    assert problem.help.startswith("set bounds for the fields")


def test_a_claim_without_sums_of_several_values_does_not_load_z3(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("policy.solving.arithmetic.by_z3._imported", _not_to_be_loaded)
    assert _found("input.a > input.b + 5", "input.a <= input.b").status == "holds"


def _not_to_be_loaded() -> Any:
    raise AssertionError("z3 was loaded")


def test_a_sum_that_is_no_double_makes_a_claim_indeterminate() -> None:
    """Without bounds, some sum is no double; then the claim's condition counts as met."""
    found = _found("input.size - input.count > 10", "input.size <= 5 and input.count >= 0")
    assert found.counterexample is not None
    assert found.counterexample.unclear


def test_a_product_without_bounds_is_broken_by_a_number_with_many_digits() -> None:
    found = _found("input.size * 2 > 100", "input.size <= 50")
    assert found.counterexample is not None
    assert found.counterexample.unclear
    assert _found("input.a * 2 > 100", "input.a <= 50").status == "holds"


@pytest.mark.parametrize(
    ("schema", "claimed", "status"),
    [
        ({"type": "string", "maxLength": 50}, "length(input.x) > 50", "holds"),
        ({"type": "string", "maxLength": 50}, "length(input.x) > 49", "broken"),
        ({"type": "array", "minItems": 2}, "length(input.x) < 2", "holds"),
        ({"type": ["array", "string"], "minItems": 9}, "length(input.x) < 9", "broken"),
        ({"enum": ["ab", "abc"]}, "length(input.x) > 3", "holds"),
        ({"enum": ["ab", "abc"]}, "length(input.x) > 2", "broken"),
    ],
)
def test_what_a_schema_says_of_lengths_counts(
    schema: dict[str, Any], claimed: str, status: str
) -> None:
    sized = tool("sized", {"x": schema})
    found = proof(f"prove never allow sized when {claimed}", "allow sized", specs=(sized,))
    assert found.status == status


def test_a_schema_without_a_string_of_any_length_hides_no_call() -> None:
    schema = {"type": "object", "properties": {"x": {"minLength": 3, "maxLength": 2}}}
    odd = replace(tool("odd", {}), schema=schema)
    found = proof("prove never allow odd when not (length(input.x) > 2)", "allow odd", specs=(odd,))
    assert found.status == "broken"


def test_true_and_one_are_two_constants() -> None:
    loose = tool("any", {"x": {}})
    found = proof(
        "prove never allow any when not (input.x == true)",
        *("allow any", "deny any when not (input.x == 1)"),
        specs=(loose,),
    )
    assert found.counterexample is not None
    assert found.counterexample.situation.input == {"x": 1}
