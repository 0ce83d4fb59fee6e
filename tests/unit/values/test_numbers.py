"""Numbers are compared exactly, by their digits."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from policy.values import add, compare_numbers, exact, is_number, multiply, subtract


@pytest.mark.parametrize(
    ("a", "op", "b", "answer"),
    [
        (1, "==", 1.0, True),
        (0.1, "==", 0.1, True),
        (1, "!=", 2, True),
        (2, "<", 2.5, True),
        (2**53, "<=", float(2**53), True),
        (10**23, "==", 1e23, True),
        (True, "==", 1, None),
        ("1", "==", 1, None),
        (None, "<", 1, None),
        (float("nan"), "!=", 1, None),
        (float("inf"), ">", 1, None),
        (2**53 + 1, ">", 0, None),
        (10**500, ">", 0, None),
        (Decimal("0.1000000000000000000001"), ">", 0, None),
    ],
)
def test_a_comparison_is_exact_or_undecided(a: Any, op: str, b: Any, answer: bool | None) -> None:
    assert compare_numbers(op, a, b) is answer


def test_sums_are_those_of_the_digits() -> None:
    assert add(0.1, 0.2) == 0.3
    assert subtract(0.3, 0.1) == 0.2
    assert multiply(3, 0.1) == 0.3
    assert isinstance(add(1, 2), int)
    assert add(1e308, 1e308) is None
    assert multiply(0.3333333333333333, 0.3333333333333333) is None
    assert add(True, 1) is None
    assert add("a", 1) is None


def test_true_is_no_number() -> None:
    assert not is_number(True) and not is_number("1")
    assert is_number(1) and is_number(1.5) and is_number(Decimal(1))
    assert exact(False) is None
