"""Strategies for everything that an approvals store has to keep exactly."""

from __future__ import annotations

import sys
from datetime import UTC, timedelta, timezone
from typing import Any

from hypothesis import strategies as st

from policy.approvals import ApprovalRequest, Filed, Grant, Person
from policy.decision import GenerationId
from policy.model import Caller, GuestScope, Reason, Remembering, Terms, Verdict, freeze

_MARKS = [
    "",
    "$",
    "$$",
    "$int",
    "$$int",
    "$decimal",
    "$time",
    "null",
    "a\x00b",
    "\u202e",
    "é",
    "e\u0301",
]
# Half characters too: a text of a host need not be valid Unicode.
texts = st.one_of(
    st.sampled_from(_MARKS),
    st.text(max_size=8),
    st.text(alphabet=st.characters(min_codepoint=0xD7F0, max_codepoint=0xE010), max_size=3),
)
keys = st.one_of(st.sampled_from(_MARKS), st.text(max_size=5))
perhaps_text = st.none() | texts
some_texts = st.lists(texts, max_size=3).map(tuple)
scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.sampled_from([2**53, 2**64, -(2**70), 10**4000, -0.0, 5e-324, sys.float_info.max]),
    st.floats(allow_nan=False),
    st.decimals(allow_nan=False),
    texts,
)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=3),
    max_leaves=12,
)
inputs = st.dictionaries(keys, values, max_size=4).map(freeze)
zones = st.one_of(
    st.just(UTC),
    st.integers(-1439, 1439).map(lambda minutes: timezone(timedelta(minutes=minutes))),
)
times = st.datetimes(timezones=zones)

people = st.builds(
    Person,
    id=texts,
    groups=some_texts,
    agent=perhaps_text,
    session=perhaps_text,
    listed=st.booleans(),
)
scopes = st.builds(GuestScope, allowed_tools=some_texts, expires_at=st.none() | times)


def _caller(parent: st.SearchStrategy[Any]) -> st.SearchStrategy[Caller]:
    return st.builds(
        Caller,
        agent=texts,
        session=texts,
        role=texts,
        user=perhaps_text,
        groups=some_texts,
        scope=st.none() | scopes,
        parent=parent,
    )


callers = st.recursive(_caller(st.none()), _caller, max_leaves=4)
steps = st.lists(st.one_of(texts, st.integers(-5, 2**60)), max_size=3).map(tuple)
remembering = st.builds(
    Remembering,
    seconds=st.none() | st.floats(0, 1e9),
    fields=st.lists(steps, max_size=2).map(tuple),
    times=st.none() | st.integers(1, 100),
)
terms = st.builds(
    Terms,
    groups=some_texts,
    two_people=st.booleans(),
    remember=st.none() | remembering,
    digest=perhaps_text,
)
reasons = st.builds(
    Reason,
    rule=texts,
    verdict=st.sampled_from(Verdict),
    layer=perhaps_text,
    file=perhaps_text,
    line=st.none() | st.integers(1, 9999),
    clause=perhaps_text,
    message=perhaps_text,
    audit=perhaps_text,
    undecided=perhaps_text,
    shadow=st.booleans(),
    terms=st.none() | terms,
)
requests = st.builds(
    ApprovalRequest,
    id=texts,
    tool=texts,
    input=inputs,
    shown=texts,
    reasons=st.lists(reasons, max_size=3).map(tuple),
    resources=some_texts,
    digest=texts,
    caller=callers,
    generation=st.none() | st.builds(GenerationId, number=st.integers(0, 2**70), digest=texts),
    asked_at=st.none() | times,
    expires=st.none() | times,
    kind=st.sampled_from(["call", "elevation"]),
)
filed = st.builds(
    Filed,
    request=requests,
    key=texts,
    state=st.sampled_from(["pending", "approved", "denied", "cancelled", "expired", "used"]),
    people=st.lists(people, max_size=3).map(tuple),
    denied_by=perhaps_text,
    message=perhaps_text,
    revision=st.integers(0, 2**60),
)
grants = st.builds(
    Grant,
    id=texts,
    kind=st.sampled_from(["remembered", "elevation"]),
    key=texts,
    caller=texts,
    session=texts,
    people=st.lists(people, max_size=3).map(tuple),
    tools=some_texts,
    uses=st.none() | st.integers(-3, 100),
    given_at=times,
    expires=st.none() | times,
    request=perhaps_text,
)
