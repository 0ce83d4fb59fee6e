"""How many values a text of JSON holds, counted before it is read."""

from __future__ import annotations

import pytest

from policy.values.value_count import _TOKENS, has_too_many_values, most_values


def test_more_values_may_come_where_messages_may_be_longer() -> None:
    assert [most_values(size) for size in (1_000, 4_000_000, 10_000_000, 64_000_000)] == [
        20_000,
        20_000,
        50_000,
        100_000,
    ]


@pytest.mark.parametrize("end", [b"", b"\\", b"x"])
def test_a_string_that_does_not_end_is_looked_through_once(end: bytes) -> None:
    message = b'["' + rb"\",\"" * 1_000 + end
    assert [found.span() for found in _TOKENS.finditer(message)] == [
        (0, 1),
        (1, len(message) - len(end.rstrip(b"x"))),
    ]
    assert not has_too_many_values(message, 500)
