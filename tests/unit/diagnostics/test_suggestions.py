"""Suggestions for mistyped words: near words only."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policy.diagnostics import did_you_mean, nearest

TOOLS = ("bash_exec", "file_list", "file_read", "file_write", "web_fetch")


@pytest.mark.parametrize(
    ("word", "meant"),
    [
        ("file_raed", "file_read"),
        ("fil_read", "file_read"),
        ("file_reads", "file_read"),
        ("File_Read", "file_read"),
        ("file-read", "file_read"),
        ("read_file", "file_read"),
        ("webfetch", "web_fetch"),
    ],
)
def test_a_slip_finds_the_word_that_was_meant(word: str, meant: str) -> None:
    assert nearest(word, TOOLS) == meant


@pytest.mark.parametrize("word", ["", "x", "send_mail", "exec", "file"])
def test_a_far_word_gets_no_suggestion(word: str) -> None:
    assert nearest(word, TOOLS) is None
    assert did_you_mean(word, TOOLS) == ""


def test_a_short_word_is_not_led_to_an_unrelated_one() -> None:
    assert nearest("at", ["in", "or", "to"]) is None
    assert nearest("gti", ["git", "all"]) == "git"


def test_the_help_reads_as_a_question() -> None:
    assert did_you_mean("file_raed", TOOLS) == "did you mean `file_read`?"


def test_a_word_is_never_its_own_suggestion() -> None:
    assert nearest("file_read", ["file_read"]) is None


@given(st.permutations(["abcde", "abcdf", "abcdg", "zzzzz"]))
def test_ties_do_not_depend_on_the_order_of_the_candidates(candidates: list[str]) -> None:
    assert nearest("abcdx", candidates) == "abcde"


def test_a_nearer_candidate_wins_over_an_earlier_one() -> None:
    assert nearest("abcdefgx", ["abcdefyy", "abcdefgz"]) == "abcdefgz"


def test_a_hostile_word_is_not_compared_at_all() -> None:
    compared: list[str] = []

    class Candidate(str):
        def casefold(self) -> str:
            compared.append(self)
            return super().casefold()

    assert nearest("a" * 10_000_000, [Candidate("a" * 100)] * 100) is None
    assert compared == []


def _distance(a: str, b: str) -> int:
    """Edit distance with swapped neighbours, straight from its recurrence."""
    table: dict[tuple[int, int], int] = {}
    for i in range(len(a) + 1):
        for j in range(len(b) + 1):
            if not i or not j:
                table[i, j] = i + j
                continue
            table[i, j] = min(
                table[i - 1, j] + 1,
                table[i, j - 1] + 1,
                table[i - 1, j - 1] + (a[i - 1] != b[j - 1]),
            )
            if i > 1 and j > 1 and a[i - 1] == b[j - 2] and a[i - 2] == b[j - 1]:
                table[i, j] = min(table[i, j], table[i - 2, j - 2] + 1)
    return table[len(a), len(b)]


@given(st.text("abc", min_size=6, max_size=8), st.text("abc", min_size=4, max_size=10))
def test_two_mistakes_are_forgiven_in_a_word_of_six_letters_and_three_are_not(
    word: str, candidate: str
) -> None:
    found = nearest(word, [candidate])
    assert (found == candidate) == (0 < _distance(word, candidate) <= 2)


_CROWD = tuple(
    f"srv{number:03d}__{verb}_{kind}"
    for number in range(200)
    for verb in ("read", "write", "fetch", "query", "push")
    for kind in range(4)
)


@pytest.mark.parametrize(
    ("slip", "meant"),
    [
        ("srv103__wirte_0", "srv103__write_0"),
        ("rsv103__write_0", "srv103__write_0"),
        ("srv103__query_22", "srv103__query_2"),
        ("SRV103__PUSH_3", "srv103__push_3"),
        ("read_2__srv044", "srv044__read_2"),
    ],
)
def test_the_word_that_was_meant_is_found_among_thousands(slip: str, meant: str) -> None:
    assert nearest(slip, _CROWD) == meant


@pytest.mark.parametrize("word", ["", "x", "srv103", "unknown12__tool", "srv103__write_0" * 2_000])
def test_a_far_word_gets_no_suggestion_among_thousands(word: str) -> None:
    assert nearest(word, _CROWD) is None
