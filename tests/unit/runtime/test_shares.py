"""Shares of what all callers use: one of them leaves room for the others."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from policy.runtime import Shares


def test_one_owner_has_half_and_others_a_part_of_the_rest() -> None:
    shares = Shares(32)
    while shares.has_room("greedy"):
        shares.take("greedy")
    assert shares.of("greedy") == 16
    for other in range(8):
        for _ in range(2):
            assert shares.has_room(other)
            shares.take(other)
        assert not shares.has_room(other)
    assert not shares.has_room("one more")
    shares.give_back("greedy", 16)
    assert shares.has_room("one more") and shares.has_room("greedy")


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(1, 9), st.booleans()), max_size=60))
def test_whatever_others_do_an_owner_never_has_more_than_half(
    steps: list[tuple[int, int, bool]],
) -> None:
    shares = Shares(64)
    had = dict.fromkeys(range(6), 0)
    for owner, more, gives_back in steps:
        if gives_back and had[owner]:
            shares.give_back(owner)
            had[owner] -= 1
        elif shares.has_room(owner, more):
            shares.take(owner, more)
            had[owner] += more
        assert sum(had.values()) == shares.total <= 64
        assert all(shares.of(each) == count <= 32 for each, count in had.items())
