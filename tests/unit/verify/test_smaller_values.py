"""Values of a call that was found become simpler as long as they show the same."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from policy.verify.proof.smaller_values import smaller_values


@pytest.mark.parametrize(
    ("value", "shows", "least"),
    [
        (("other", "q", "x"), lambda v: "q" in v, ("q",)),
        (({"n": 7, "m": 1},), lambda v: any(x.get("n") for x in v), ({"n": 7},)),
        ({"a": 1, "b": ["x", "y"]}, lambda v: "y" in v.get("b", ()), {"b": ("y",)}),
        (-86_399_999_913_600_000_000, lambda v: v < -10, -11),
        (10**400, lambda v: v > 2**53, 2**53 + 1),
        (9_876_543_210, lambda v: v > 123_456, 123_457),
        (10**9, lambda v: v > 12_345, 12_346),
        (0.30000000000000004, lambda v: v > 0.25, 0.3),
        (2.0000000001, lambda v: v > 1, 2),
        (500, lambda v: v > 3, 500),
        (True, lambda v: v, True),
        ("text", lambda v: "t" in v, "text"),
    ],
)
def test_a_value_becomes_as_simple_as_it_may(
    value: Any, shows: Callable[[Any], bool], least: Any
) -> None:
    simpler: Any = value
    tried = 0
    while simpler is not None:
        value, simpler = simpler, None
        for less in smaller_values(value):
            tried += 1
            if shows(less):
                simpler = less
                break
    assert (value, type(value)) == (least, type(least))
    assert tried < 300
