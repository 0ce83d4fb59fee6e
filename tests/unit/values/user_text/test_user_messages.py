"""Where a value stands in what a user wrote: the index, its growth, and its bounds."""

from __future__ import annotations

import threading
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policy.model import Facts
from policy.values import PathContext, Unreadable, UserMessages, user_messages, words_of
from tests.reference_said import named_by_user

HERE = PathContext(cwd="/srv", workspace="/srv")


def messages(*texts: str) -> UserMessages:
    found = user_messages(texts)
    assert isinstance(found, UserMessages)
    return found


def place(value: Any, *texts: str) -> int | Unreadable | None:
    return messages(*texts).message_with(value, HERE)


def test_the_first_message_that_has_the_value_is_returned() -> None:
    assert place("ann", "tell bob", "tell ann", "ann!") == 1
    assert place("two words", "words two", "just two  words", "two words") == 1


def test_a_value_of_several_words_stands_in_one_message() -> None:
    assert place("two words", "two", "words", "words two") is None


def test_messages_grow_and_do_not_change() -> None:
    none = messages()
    one = none.and_those(["tell ann"])
    two = one.and_those(["tell bob"])
    assert two.message_with("bob", HERE) == 1
    assert one.message_with("bob", HERE) is None
    assert none.message_with("ann", HERE) is None
    assert two.texts == ("tell ann", "tell bob")


def test_messages_that_grow_in_two_ways_are_two() -> None:
    start = messages("tell ann")
    left, right = start.and_those(["tell bob", "ok"]), start.and_those(["tell eve", "ok"])
    assert left.message_with("bob", HERE) == 1
    assert right.message_with("bob", HERE) is None
    assert right.message_with("eve", HERE) == 1
    assert left.message_with("eve", HERE) is None


def test_threads_index_the_same_messages_once() -> None:
    said = messages(*(f"word{number} and more" for number in range(300)))
    found: list[Any] = []
    ask = [
        threading.Thread(target=lambda n=n: found.append(said.message_with(f"word{n}", HERE) == n))
        for n in range(0, 300, 15)
    ]
    for thread in ask:
        thread.start()
    for thread in ask:
        thread.join()
    assert found == [True] * len(ask)


def test_more_than_the_bound_is_unknown_and_not_cut() -> None:
    assert isinstance(user_messages(["a" * 300_000, "b" * 200_001]), Unreadable)
    assert isinstance(user_messages(["a" * 300_000, "b" * 200_000]), UserMessages)
    assert isinstance(user_messages([""] * 10_001), Unreadable)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("aaaa aaaa", "aaaa aaaaa " * 30_000 + "aaaa"),
        ("a!" * 4_000 + "b c", "a!" * 200_000 + " b c"),
        ("x'y'z" * 100, "x'y'z" * 50_000),
        ("a b." + "!" * 5_000, "a b." + "!" * 400_000),
        ("b" * 10_001, "b" * 20_000),
    ],
)
def test_hostile_texts_end(value: str, text: str) -> None:
    found = place(value, text)
    assert found in (None, 0) or isinstance(found, Unreadable)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("١٢٣", "give ١٢٣ now"),
        ("straße", "in der STRASSE 5"),
        ("naïve", "a nai\u0308ve idea"),
        ("張三豐", "給「張三豐」"),
        ("don't stop", "please don’t, DON'T\tSTOP."),
        ("file:///srv/a.md", "read a.md"),
        ("/srv/a.md", "read file:///srv/a.md"),
        ("https://corp.example:8443/", "open corp.example:8443"),
        ("https://xn--bcher-kva.example/x", "open https://bücher.example/x!"),
        ("-5", "from -5 to 5"),
        (-5, "from $-5 to 5"),
        (0.1, "0.1"),
        (3.0, "3"),
    ],
)
def test_values_that_stand_there(value: Any, text: str) -> None:
    assert place(value, text) == 0


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("張三豐", "給張三豐的信"),
        ("123", "1234"),
        ("1000", "1,0000"),
        ("corp.example", "corp.example.evil.example"),
        ("corp.example", "https://corp.example/"),
        ("https://corp.example/A", "http://corp.example/A"),
        ("https://corp.example/?q=a", "https://corp.example/"),
        ("https://corp.example@evil.example/", "https://evil.example/"),
        ("ann@corp.example", "ann+x@corp.example"),
        ("~other/a.md", "/home/other/a.md"),
        (10, "1e1"),
    ],
)
def test_values_that_do_not_stand_there(value: Any, text: str) -> None:
    assert place(value, text) is None


WORDS = ("ann", "bob", "a", "5", "1,000", "$2.50", "p/x", "./x", "it's", "1'000", "\u200b", "É")
GLUE = (" ", " ", "  ", "\n", ".", ", ", ",", "'", '"', "(", ")", "!", "…", "", "?! ")
TEXTS = st.lists(st.sampled_from(WORDS) | st.sampled_from(GLUE), max_size=8).map("".join)
VALUES = (
    TEXTS
    | st.sampled_from(("ann bob", "p/x bob", "(ann)"))
    | st.sampled_from((5, 1000, 2.5, 1, True, None, "/srv/p/x", "2.5", "1000"))
)


@given(st.lists(TEXTS, max_size=3), VALUES)
def test_the_index_finds_what_a_look_at_every_place_finds(texts: list[str], value: Any) -> None:
    said = messages(*texts[:1])
    said.message_with("x", HERE)
    for text in texts[1:]:
        said = said.and_those([text])
    found = None if value is None else said.message_with(value, HERE)
    truth = None if value is None or isinstance(found, Unreadable) else found is not None
    wanted = named_by_user(value, Facts(said=tuple(texts), cwd="/srv", workspace="/srv"))
    assert truth is wanted


@given(TEXTS, st.lists(TEXTS, max_size=2), TEXTS)
def test_more_messages_never_make_a_value_less_named(
    value: str, before: list[str], more: str
) -> None:
    if isinstance(place(value, *before), int):
        assert isinstance(place(value, *before, more), int)


@given(TEXTS)
def test_every_word_of_a_text_stands_in_it(text: str) -> None:
    for word in words_of(text):
        if len(word) > 2 and word.isalnum():
            assert place(word, text) == 0
