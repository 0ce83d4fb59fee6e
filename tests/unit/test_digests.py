"""Digests are those of `hashlib`, whichever module makes them."""

from __future__ import annotations

import hashlib
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policy import digests


@given(st.binary(max_size=300), st.binary(max_size=300))
def test_a_digest_is_that_of_hashlib(first: bytes, second: bytes) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.delitem(sys.modules, "hashlib")
        found = digests.sha256(first)
        assert "hashlib" not in sys.modules
    found.update(second)
    assert found.hexdigest() == hashlib.sha256(first + second).hexdigest()
    assert digests.blake2b(first).digest() == hashlib.blake2b(first).digest()


@pytest.mark.parametrize(("content", "expected"), [(b"a" * 300_000, 0), (b"", 300_000)])
def test_what_is_large_is_left_to_hashlib(
    content: bytes, expected: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(sys.modules, "hashlib")
    found = digests.sha256(content, expected=expected)
    assert "hashlib" in sys.modules
    assert found.hexdigest() == hashlib.sha256(content).hexdigest()
