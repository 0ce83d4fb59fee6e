"""One line of JSON in; the call it asks about, its caller and the facts, or why it is no call."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, ValidationError

from policy.call import Caller, GuestScope, freeze, thaw
from policy.diagnostics import did_you_mean
from policy.facts import Facts, PastCall, Resolvers
from policy.records import dataclass
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
_Id = Annotated[str | int | None, BeforeValidator(_id)]
_Folder = Annotated[str, AfterValidator(_absolute)]
_Outcome = Literal["ok", "failed", "timeout", "cancelled", "running"]


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
    outcome: _Outcome = "ok"
    at: _Time | None = None
    session: str | None = None
    agent: str | None = None
    user: str | None = None


class _Facts(_Part):
    resolver: dict[str, list[str] | None] | None = None
    context: dict[str, Any] = {}
    sandbox: str | None = None


class _Line(_Part):
    id: _Id = None
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


def read_call(line: str | bytes, *, disk: Resolvers) -> AskedCall | NoCall:
    """Read one line as a call; without a caller it is the owner, as agent `default`.

    `disk` answers for paths; who answers for hosts stands in the line.
    """
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
        caller=_caller(read.caller) if read.caller else Caller(),
        facts=_facts(read, disk=disk),
    )


# What is said of a field, by pydantic's name for the problem.
_PROBLEMS = {
    "missing": "is missing",
    "string_type": "is no text",
    "list_type": "is no list",
    "dict_type": "is no object",
    "model_type": "is no object",
    "model_attributes_type": "is no object",
    "literal_error": "is none of `ok`, `failed`, `timeout`, `cancelled`, `running`",
}


def _first_problem(error: ValidationError) -> str:
    problem = error.errors(include_url=False, include_input=False)[0]
    place = escape_for_people(".".join(str(step) for step in problem["loc"]), 100)
    kind = problem["type"]
    if kind == "extra_forbidden":
        help = did_you_mean(str(problem["loc"][-1]), _FIELDS)
        return f"`{place}` is no field of a call" + (f": {help}" if help else "")
    if kind == "value_error":
        said = str(problem["ctx"]["error"])
        return f"`{place}` {said if said.startswith('is ') else f'is {said}'}"
    return f"`{place}` {_PROBLEMS.get(kind) or problem['msg'].lower()}"


_FIELDS = sorted(
    {field for part in (_Line, _Caller, _Scope, _Past, _Facts) for field in part.model_fields}
)


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


def _facts(read: _Line, *, disk: Resolvers) -> Facts:
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
        resolvers=replace(
            disk,
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
