"""What is kept of a user's messages decides what it can, and nothing else is decided."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from policy.model import Facts
from policy.values import PathContext, Unreadable, kept_messages
from tests.examples import examples
from tests.reference_said import kept_of, named_by_user

# Of 200 kB, and longer than any that is kept.
FILLERS = ("filler " * 28_571, "x" * 200_001)
MESSAGES = st.lists(
    st.sampled_from(("ann and bob", "pay 5,000", "a/b", "cat", *FILLERS, FILLERS[0])), max_size=8
)
VALUES = st.sampled_from(("ann", "bob", "5000", 5000, "cat", "dog", "and bob", "x"))


def _named(value: object, said: tuple[str, ...]) -> bool | None:
    place = kept_messages(said).message_with(value, PathContext())
    return None if isinstance(place, Unreadable) else place is not None


@settings(max_examples=examples(60), deadline=None)
@given(MESSAGES, VALUES)
def test_a_value_is_named_as_far_as_what_is_kept_says(said: list[str], value: object) -> None:
    kept = kept_of(tuple(said))
    assert kept_messages(said).texts == kept
    # The fillers name nothing, and take the reference a minute to search.
    searched = tuple(text for text in kept if text not in FILLERS)
    named = named_by_user(value, Facts(said=searched))
    assert _named(value, tuple(said)) == (named if len(kept) == len(said) else named or None)


@settings(max_examples=examples(60), deadline=None)
@given(MESSAGES, st.lists(st.sampled_from(("ann", "cat", FILLERS[0])), max_size=3), VALUES)
def test_more_messages_never_turn_a_named_value_into_one_that_is_not(
    said: list[str], more: list[str], value: object
) -> None:
    if _named(value, tuple(said)) is True:
        assert _named(value, (*said, *more)) is not False
