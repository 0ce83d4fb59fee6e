"""A line of input is a call, or the first thing that is wrong with it is told."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Annotated, Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, ValidationError

from policy.cli.calls import AskedCall, NoCall, read_call
from policy.facts import Resolvers
from policy.values import Unreadable, parse_time

# ------------------------------------------------------------------ the obvious reading, by models


def _time(value: Any) -> datetime:
    read = parse_time(value) if isinstance(value, str) else Unreadable(reason="is no text")
    if isinstance(read, Unreadable):
        raise ValueError(read.reason)
    return read


def _id(value: Any) -> str | int | None:
    if value is None or (isinstance(value, str | int) and not isinstance(value, bool)):
        return value
    raise ValueError("is neither a text nor a whole number")


def _absolute(value: str) -> str:
    if not value.startswith("/"):
        raise ValueError("is no absolute path")
    return value


_Time = Annotated[datetime, BeforeValidator(_time)]
_Folder = Annotated[str, AfterValidator(_absolute)]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class _Scope(_Part):
    allowed_tools: list[str] = []
    expires_at: _Time | None = None


class _Caller(_Part):
    agent: str = "default"
    session: str = "default"
    role: str = "owner"
    user: str | None = None
    groups: list[str] = []
    scope: _Scope | None = None
    parent: _Caller | None = None


class _Past(_Part):
    tool: str
    input: dict[str, Any] = {}
    result: Any = None
    outcome: Literal["ok", "failed", "timeout", "cancelled", "running"] = "ok"
    at: _Time | None = None
    session: str | None = None
    agent: str | None = None
    user: str | None = None


class _Facts(_Part):
    resolver: dict[str, list[str] | None] | None = None
    context: dict[str, Any] = {}
    sandbox: str | None = None


class _Line(_Part):
    id: Annotated[str | int | None, BeforeValidator(_id)] = None
    tool: str
    input: Any = None
    cwd: _Folder | None = None
    workspace: _Folder | None = None
    home: _Folder | None = None
    caller: _Caller | None = None
    now: _Time | None = None
    said: list[str] = []
    facts: _Facts | None = None
    history: list[_Past] = []


_SAID = {
    "missing": "is missing",
    "string_type": "is no text",
    "list_type": "is no list",
    "dict_type": "is no object",
    "model_type": "is no object",
    "model_attributes_type": "is no object",
    "literal_error": "is none of `ok`, `failed`, `timeout`, `cancelled`, `running`",
    "extra_forbidden": "is no field of a call",
}


def by_models(line: dict[str, Any]) -> _Line | str:
    """Return the line as read, or what is said of its first problem."""
    try:
        return _Line.model_validate(line)
    except ValidationError as error:
        return first_problem(error)


def first_problem(error: ValidationError) -> str:
    found = error.errors(include_url=False, include_input=False)[0]
    place = ".".join(str(step) for step in found["loc"])
    if found["type"] == "value_error":
        said = str(found["ctx"]["error"])
        return f"`{place}` {said if said.startswith('is ') else f'is {said}'}"
    return f"`{place}` {_SAID[found['type']]}"


# ------------------------------------------------------------------ what is tried

WORDS = st.sampled_from(["a", "/srv", "2026-01-01T00:00:00Z", "today", "ok", "", "é"])
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 2) | st.just(1.5) | WORDS,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(WORDS, inner, max_size=2),
    max_leaves=4,
)


def part(**fields: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Generate an object of some of these fields, each as it should be or anything else."""
    loose = {name: right | right | right | ANYTHING for name, right in fields.items()}
    right = st.fixed_dictionaries({}, optional={**loose, "further": st.just(1)})
    return right | right | right | ANYTHING


TEXTS = st.lists(WORDS, max_size=2)
SCOPE = part(allowed_tools=TEXTS, expires_at=WORDS)
CALLER = part(agent=WORDS, role=WORDS, user=WORDS, groups=TEXTS, scope=SCOPE)
PAST = part(tool=WORDS, input=st.dictionaries(WORDS, ANYTHING), outcome=WORDS, at=WORDS)
FACTS = part(
    resolver=st.dictionaries(WORDS, TEXTS | st.none(), max_size=2),
    context=st.dictionaries(WORDS, ANYTHING, max_size=2),
    sandbox=WORDS,
)
LINES = part(
    id=WORDS | st.integers(0, 3),
    tool=WORDS,
    input=ANYTHING,
    cwd=WORDS,
    home=WORDS,
    caller=CALLER | part(parent=CALLER),
    now=WORDS,
    said=TEXTS,
    facts=FACTS,
    history=st.lists(PAST, max_size=2),
).filter(lambda line: isinstance(line, dict))


@given(LINES)
def test_a_line_is_read_as_its_models_read_it(line: dict[str, Any]) -> None:
    found = read_call(json.dumps(line), disk=Resolvers())
    read = by_models(line)
    if isinstance(read, str):
        # What is no field may be followed by what was meant.
        assert isinstance(found, NoCall) and found.message.startswith(read)
        return
    assert isinstance(found, AskedCall)
    facts, caller = found.facts, read.caller or _Caller()
    assert (found.id, found.tool) == (read.id, read.tool)
    assert (facts.cwd, facts.home, facts.now) == (read.cwd, read.home, read.now)
    assert list(facts.said) == read.said
    assert facts.context.keys() == (read.facts or _Facts()).context.keys()
    assert facts.sandbox == (read.facts or _Facts()).sandbox
    assert [(past.tool, past.outcome, past.at) for past in facts.history] == [
        (past.tool, past.outcome, past.at) for past in read.history
    ]
    assert (found.caller.agent, found.caller.role) == (caller.agent, caller.role)
    assert list(found.caller.groups) == caller.groups
    assert (found.caller.scope is None) == (caller.scope is None)
    assert (found.caller.parent is None) == (caller.parent is None)


@pytest.mark.parametrize(
    ("resolver", "name", "expected"),
    [
        ({"a.example": ["10.0.0.1"]}, "a.example", ("10.0.0.1",)),
        ({"a.example": None}, "a.example", None),
        ({}, "a.example", None),
    ],
)
def test_hosts_are_answered_by_the_line(
    resolver: dict[str, Any], name: str, expected: tuple[str, ...] | None
) -> None:
    found = read_call(json.dumps({"tool": "x", "facts": {"resolver": resolver}}), disk=Resolvers())
    assert isinstance(found, AskedCall) and found.facts.resolvers.host is not None
    assert found.facts.resolvers.host(name) == expected
