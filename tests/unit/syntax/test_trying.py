"""Tokens found by trying are those that the compiled expression of a state finds."""

from __future__ import annotations

import pytest
from hypothesis import event, given
from hypothesis import strategies as st

from policy.syntax import prebuilt
from policy.syntax.automaton import automaton
from policy.syntax.scanner import END, Scanner, compiled_scanner, said_in
from policy.syntax.trying import first_scanner

SAID = [said for _, _, words, _ in prebuilt.TERMINALS if words for said in said_in(words)]
ODD = ["with", "two", "named by", "a-rule:", "x :", "results(", "calls (", "12:30", "5m", "5mx",
       "1_000.5", '"a\\"b"', '"open', "/re/", "/open", "after.x", "ext.a", "mcp__x", "_", "=", "==",
       "=>", "-", "->", "..", ".", "é", "9", "[", "(?", "\n", "allowed", "and-so", "with\tapproval",
       "with  approvals", "two\npeople", "given", "given.a", "an", "any-one"]  # fmt: skip
TEXTS = st.lists(
    st.sampled_from(SAID) | st.sampled_from(ODD) | st.sampled_from([" ", "\t ", "\n", "-", "x"]),
    min_size=1,
    max_size=4,
).map("".join)


def every_awaited() -> list[tuple[int, ...]]:
    """Return the terminals that each state awaits, each once."""
    machine = automaton()
    awaited = set()
    for first, last in machine.starts.values():
        todo, seen = [first, last], set()
        while todo:
            state = machine.opened(todo.pop())
            if state.number in seen:
                continue
            seen.add(state.number)
            todo += state.shifts.values()
            numbers = {*state.shifts, *state.steps}
            awaited.add(tuple(sorted(n for n in numbers if END < n < len(machine.names))))
    return sorted(awaited)


AWAITED = every_awaited()


def read(scanner: Scanner, text: str) -> tuple[int, int, int] | None:
    """Return the terminal, its end, and that of the blanks behind it."""
    found = scanner.match(text, 0)
    group = found and found.lastindex
    if not found or not group:
        return None
    end = found.end(group)
    return scanner.terminals[group] or scanner.words[text[:end]], end, found.end()


@given(st.sampled_from(AWAITED), TEXTS)
def test_trying_finds_what_the_expression_finds(awaited: tuple[int, ...], text: str) -> None:
    tried = first_scanner(awaited, lambda: compiled_scanner(awaited))
    found = read(tried, text)
    event("found" if found else "nothing found")
    assert found == read(compiled_scanner(awaited), text)


@pytest.mark.parametrize("awaited", AWAITED, ids=str)
def test_every_word_is_found_in_every_state_as_the_expression_finds_it(
    awaited: tuple[int, ...],
) -> None:
    tried = first_scanner(awaited, lambda: compiled_scanner(awaited))
    compiled = compiled_scanner(awaited)
    for text in (*SAID, *ODD):
        for ended in (text, f"{text} x", f"{text}("):
            assert read(tried, ended) == read(compiled, ended), (ended, awaited)


def test_a_state_that_is_asked_often_is_given_its_expression() -> None:
    awaited = next(one for one in AWAITED if read(compiled_scanner(one), "when x"))
    given_to: list[Scanner] = []

    def settle() -> Scanner:
        given_to.append(compiled_scanner(awaited))
        return given_to[-1]

    tried = first_scanner(awaited, settle)
    found = {read(tried, "when x") for _ in range(1_000)}
    assert given_to == [compiled_scanner(awaited)]
    assert found == {read(compiled_scanner(awaited), "when x")}
