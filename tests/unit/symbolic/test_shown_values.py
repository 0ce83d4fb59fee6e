"""The values that calls are tried with, of which each field and fact has a few."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import pytest

from policy.symbolic import shown_calls
from tests.unit.verify.proving import proof, tool


def test_values_of_an_enumeration_are_compared_as_far_as_they_are_used(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    used: list[Any] = []
    distinct = shown_calls._distinct

    def counted(values: Iterable[Any]) -> Iterator[Any]:
        for value in distinct(values):
            used.append(value)
            yield value

    monkeypatch.setattr(shown_calls, "_distinct", counted)
    spec = tool("t", {"r": {"type": "string", "enum": [f"v{n}" for n in range(500)]}})
    found = proof('prove never allow t when input.r like "*9"', "a: allow t", specs=(spec,))
    assert found.status == "broken"
    assert 0 < len(used) < 200
