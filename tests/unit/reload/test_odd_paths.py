"""Paths that no file can have."""

from __future__ import annotations

import pytest

import policy


@pytest.mark.parametrize("path", ["a\0b", "x" * 5000, "\udcff", "~", "/dev/null"])
def test_a_path_that_no_policy_has_is_an_invalid_policy(path: str) -> None:
    with pytest.raises(policy.PolicyInvalid):
        policy.load(path)
    assert policy.PolicyStore(path).current is None
