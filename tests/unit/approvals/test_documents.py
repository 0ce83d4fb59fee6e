"""A stored record is read back exactly, or not at all."""

from __future__ import annotations

import itertools
import json
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from policy.approvals import ApprovalRequest, Filed, Grant, Person
from policy.approvals.documents import NotDecodable, NotEncodable, decode, encode
from policy.model import Caller, freeze
from tests.examples import examples
from tests.unit.approvals import records
from tests.unit.approvals.desks import ANN, a_grant, a_request


def same(one: Any, other: Any) -> bool:
    """Tell whether two records are equal down to the types of their values."""
    if type(one) is not type(other):
        return False
    if is_dataclass(one):
        return all(same(getattr(one, f.name), getattr(other, f.name)) for f in fields(one))
    if isinstance(one, Mapping):
        return list(one) == list(other) and all(same(one[key], other[key]) for key in one)
    if isinstance(one, tuple):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, (float, Decimal, datetime)):
        return str(one) == str(other)
    return bool(one == other)


@settings(max_examples=examples(60))
@given(records.filed)
def test_questions_are_read_back_as_they_were(filed: Filed) -> None:
    text = encode(filed)
    assert text.isascii()
    assert same(decode(Filed, text), filed)


@settings(max_examples=examples(40))
@given(records.grants)
def test_grants_are_read_back_as_they_were(grant: Grant) -> None:
    assert same(decode(Grant, encode(grant)), grant)


@pytest.mark.parametrize(
    "value",
    [
        1,
        1.0,
        True,
        None,
        -0.0,
        Decimal("1.50"),
        Decimal("1E+400"),
        10**5000,
        {"$int": "0x1"},
        {"$$int": {"$": 1}},
        {"$unknown": []},
        "\ud83d\ude00",
        "\U0001f600",
        "x" * 1_000_000,
        [[], {}, ""],
    ],
    ids=itertools.count(),
)
def test_values_keep_their_kind(value: Any) -> None:
    request = a_request(input=freeze({"value": value}))
    back = decode(ApprovalRequest, encode(request))
    assert same(back, request)


@pytest.mark.parametrize("value", [b"bytes", {1, 2}, object(), {1: 2}, 3j])
def test_what_is_no_part_of_a_call_cannot_be_written(value: Any) -> None:
    with pytest.raises(NotEncodable):
        encode(a_request(input=freeze({"value": value})))


def test_depth_is_an_error_and_no_crash() -> None:
    deep: Any = "x"
    for _ in range(20_000):
        deep = (deep,)
    with pytest.raises(NotEncodable, match="too deep"):
        encode({"value": deep})
    with pytest.raises(NotDecodable):
        decode(Person, "[" * 200_000)


def document(**more: Any) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(encode(Filed(request=a_request(), key="k")))
    return {**found, **more}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "null",
        "[]",
        "3",
        '{"id": NaN}',
        encode(ANN),
        json.dumps(document(extra=1)),
        json.dumps(document(state="granted")),
        json.dumps(document(state=None)),
        json.dumps(document(people=[{"id": "ann"}])),
        json.dumps(document(people={"0": json.loads(encode(ANN))})),
        json.dumps(document(revision=True)),
        json.dumps(document(revision="1")),
        json.dumps(document(key={"$nothing": "x"})),
        json.dumps(document(message={"$time": "soon"})),
        json.dumps({name: value for name, value in document().items() if name != "people"}),
    ],
)
def test_what_is_no_such_record_is_an_error(text: str) -> None:
    with pytest.raises(NotDecodable):
        decode(Filed, text)


@settings(max_examples=examples(60))
@given(st.data())
def test_a_damaged_text_is_an_error_or_a_record(data: st.DataObject) -> None:
    text = encode(Filed(request=a_request(caller=Caller(parent=Caller())), key="k"))
    start = data.draw(st.integers(0, len(text)))
    stop = data.draw(st.integers(start, min(start + 5, len(text))))
    damaged = text[:start] + data.draw(st.text(max_size=5)) + text[stop:]
    try:
        found = decode(Filed, damaged)
    except NotDecodable:
        return
    assert isinstance(found, Filed)
    assert isinstance(found.request, ApprovalRequest)


def test_a_time_keeps_its_zone() -> None:
    given_at = datetime.fromisoformat("2026-03-01T12:00:00.000001+05:30")
    back = decode(Grant, encode(a_grant(given_at=given_at)))
    assert back.given_at.isoformat() == given_at.isoformat()
    assert back.given_at.astimezone(UTC) == given_at
