"""Positions in policy text: lines, columns and spans."""

from __future__ import annotations

import copy
from dataclasses import FrozenInstanceError

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policy.model import Source, span_at


def test_lines_and_columns_count_from_one() -> None:
    source = Source(name="a.policy", text="one\ntwo\n")
    assert [source.place(offset) for offset in (0, 3, 4, 7, 8)] == [
        (1, 1),
        (1, 4),
        (2, 1),
        (2, 4),
        (3, 1),
    ]


def test_a_span_names_its_file_line_and_column() -> None:
    span = Source(name="agents/a.policy", text="one\ntwo").span(4, 7)
    assert str(span) == "agents/a.policy:2:1"
    assert (span.end_line, span.end_column) == (2, 4)


def test_a_line_comes_without_its_ending_whatever_that_is() -> None:
    source = Source(name="a.policy", text="one\r\ntwo\nthree")
    assert [source.line(number) for number in (1, 2, 3)] == ["one", "two", "three"]


def test_columns_count_characters_not_bytes_or_terminal_columns() -> None:
    assert Source(name="a.policy", text="é漢\tx").place(3) == (1, 4)


def test_sources_are_equal_by_name_and_text() -> None:
    assert Source(name="a", text="x") == Source(name="a", text="x")
    assert Source(name="a", text="x") != Source(name="b", text="x")


@given(st.text(), st.data())
def test_a_place_leads_back_to_its_offset(text: str, data: st.DataObject) -> None:
    source = Source(name="a.policy", text=text)
    offset = data.draw(st.integers(0, len(text)))
    line, column = source.place(offset)
    before = "".join(part + "\n" for part in text.split("\n")[: line - 1])
    assert len(before) + column - 1 == offset
    assert "\n" not in text[len(before) : offset]


@given(st.text(), st.data())
def test_a_span_of_a_source_is_the_one_with_its_places_written_out(
    text: str, data: st.DataObject
) -> None:
    source = Source(name="a.policy", text=text)
    start, end = sorted(data.draw(st.tuples(*[st.integers(0, len(text))] * 2)))
    span = source.span(start, end)
    (line, column), (end_line, end_column) = source.place(start), source.place(end)
    told = span_at("a.policy", start, end, first=(line, column), last=(end_line, end_column))
    assert (span.file, span.line, span.column) == (told.file, line, column)
    assert (span.end_line, span.end_column) == (end_line, end_column)
    assert (span, hash(span), repr(span), str(span)) == (told, hash(told), repr(told), str(told))
    assert copy.deepcopy(span) == told


def test_spans_of_other_places_or_files_differ() -> None:
    one, other = Source(name="a", text="xy\nz"), Source(name="b", text="xy\nz")
    longer = Source(name="a", text="\nxy")
    span = one.span(0, 1)
    assert span == Source(name="a", text="xy\nz").span(0, 1)
    assert span not in (one.span(0, 2), one.span(1, 1), other.span(0, 1), longer.span(0, 1))
    assert span != (0, 1)


def test_a_span_cannot_be_changed() -> None:
    span = Source(name="a", text="xy").span(0, 1)
    with pytest.raises(FrozenInstanceError):
        span.start = 1  # type: ignore[misc]
    with pytest.raises(FrozenInstanceError):
        del span.end
