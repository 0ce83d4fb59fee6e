"""One line of JSON in; the call it asks about, its caller and the facts, or why it is no call."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, ValidationError

from policy.call import Caller, GuestScope, freeze, thaw
from policy.facts import Facts, PastCall, ResolvePath, Resolvers
from policy.reload import Settings
from policy.values import Unreadable, escape_for_people, parse_time, read_json


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedCall:
    """A call as a line of input asks about it."""

    id: str | int | None
    tool: str
    input: Any
    caller: Caller
    facts: Facts


@dataclass(frozen=True, slots=True, kw_only=True)
class NoCall:
    """A line that is no call: never a verdict, always an error."""

    id: Any
    code: str
    message: str

    def as_json(self) -> dict[str, Any]:
        """Return the line to answer with."""
        return {"id": self.id, "error": {"code": self.code, "message": self.message}}


def _time(value: Any) -> datetime:
    read = parse_time(value) if isinstance(value, str) else Unreadable(reason="not a text")
    if isinstance(read, Unreadable):
        raise ValueError(read.reason)
    return read


_Time = Annotated[datetime, BeforeValidator(_time)]


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
    outcome: str = "ok"
    at: _Time | None = None
    session: str | None = None
    agent: str | None = None
    user: str | None = None


class _Facts(_Part):
    resolver: dict[str, list[str] | None] | None = None
    context: dict[str, Any] = {}
    sandbox: str | None = None


class _Line(_Part):
    id: str | int | None = None
    tool: str
    input: Any = None
    cwd: str | None = None
    workspace: str | None = None
    home: str | None = None
    caller: _Caller | None = None
    now: _Time | None = None
    said: list[str] = []
    facts: _Facts | None = None
    history: list[_Past] = []


def read_call(
    line: str | bytes, *, settings: Settings, links: ResolvePath | None
) -> AskedCall | NoCall:
    """Read one line as a call; what the line leaves open comes from the configuration."""
    value = read_json(line)
    if isinstance(value, Unreadable):
        return NoCall(id=None, code="not-json", message=value.reason)
    if not isinstance(value, Mapping):
        return NoCall(id=None, code="not-a-call", message="a call is a JSON object")
    given = value.get("id")
    known = given if isinstance(given, str | int) and not isinstance(given, bool) else None
    # The input is judged as it was read; the rest of the line is plain data.
    rest = {key: thaw(item) for key, item in value.items() if key != "input"}
    try:
        read = _Line.model_validate(rest)
    except ValidationError as error:
        return NoCall(id=known, code="not-a-call", message=_first_problem(error))
    return AskedCall(
        id=read.id,
        tool=read.tool,
        input=value.get("input"),
        caller=_caller(read.caller) if read.caller else settings.caller or Caller(),
        facts=_facts(read, links=links),
    )


def _first_problem(error: ValidationError) -> str:
    problem = error.errors(include_url=False, include_input=False)[0]
    place = ".".join(str(step) for step in problem["loc"])
    return escape_for_people(f"`{place}`: {problem['msg'].lower()}", 300)


def _caller(given: _Caller) -> Caller:
    scope = given.scope
    return Caller(
        agent=given.agent,
        session=given.session,
        role=given.role,
        user=given.user,
        groups=tuple(given.groups),
        scope=None if scope is None else _scope(scope),
        parent=None if given.parent is None else _caller(given.parent),
    )


def _scope(given: _Scope) -> GuestScope:
    return GuestScope(allowed_tools=tuple(given.allowed_tools), expires_at=given.expires_at)


def _facts(read: _Line, *, links: ResolvePath | None) -> Facts:
    facts = read.facts or _Facts()
    answers = facts.resolver
    return Facts(
        cwd=read.cwd,
        workspace=read.workspace,
        home=read.home,
        now=read.now,
        said=tuple(read.said),
        history=tuple(_past(entry) for entry in read.history),
        context={name: freeze(item) for name, item in facts.context.items()},
        resolvers=Resolvers(
            path=links,
            host=None if answers is None else lambda name: _addresses(answers, name),
        ),
        sandbox=facts.sandbox,
    )


def _addresses(answers: dict[str, list[str] | None], name: str) -> tuple[str, ...] | None:
    found = answers.get(name)
    return None if found is None else tuple(found)


def _past(entry: _Past) -> PastCall:
    return PastCall(
        tool=entry.tool,
        input=freeze(entry.input),  # type: ignore[arg-type]
        result=freeze(entry.result),
        outcome=entry.outcome,
        at=entry.at,
        session=entry.session,
        agent=entry.agent,
        user=entry.user,
    )
