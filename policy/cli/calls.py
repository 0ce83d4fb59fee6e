"""Reads one line of JSON as a call with its caller and facts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from types import MappingProxyType
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, ValidationError

from policy.diagnostics import did_you_mean
from policy.model import (
    Caller,
    ConfinedVerb,
    Facts,
    GuestScope,
    PastCall,
    Resolvers,
    SandboxTier,
    freeze,
    thaw,
)
from policy.values import Unreadable, escape_for_display, parse_time, read_json


@dataclass(frozen=True, slots=True, kw_only=True)
class CallToDecide:
    """A call, as one line of input contains it."""

    id: str | int | None
    tool: str
    input: Any
    caller: Caller
    facts: Facts


@dataclass(frozen=True, slots=True, kw_only=True)
class NotACall:
    """A line that is not a call: it gets an error, never a verdict."""

    id: Any
    code: str
    message: str

    def as_json(self) -> dict[str, Any]:
        """Return the error as a line of output."""
        return {"id": self.id, "error": {"code": self.code, "message": self.message}}


# ------------------------------------------------------------------ the parts of a line


def _time(value: Any) -> datetime:
    read = parse_time(value) if isinstance(value, str) else Unreadable(reason="is not a string")
    if isinstance(read, Unreadable):
        said = read.reason
        raise ValueError(said if said.startswith("is ") else f"is {said}")
    return read


def _is_id(value: Any) -> bool:
    return isinstance(value, str | int) and not isinstance(value, bool)


def _id(value: Any) -> str | int | None:
    if value is None or _is_id(value):
        known: str | int | None = value
        return known
    raise ValueError("is neither a string nor an integer")


def _absolute(path: str) -> str:
    if not path.startswith("/"):
        raise ValueError("is not an absolute path")
    return path


_Id = Annotated[str | int | None, BeforeValidator(_id)]
_Time = Annotated[datetime, BeforeValidator(_time)]
_Folder = Annotated[str, AfterValidator(_absolute)]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class _ScopeFields(_Part):
    allowed_tools: list[str] = []
    expires_at: _Time | None = None

    def scope(self) -> GuestScope:
        return GuestScope(allowed_tools=tuple(self.allowed_tools), expires_at=self.expires_at)


class _Caller(_Part):
    agent: str = "default"
    session: str = "default"
    role: str = "owner"
    user: str | None = None
    groups: list[str] = []
    scope: _ScopeFields | None = None
    parent: _Caller | None = None

    def caller(self) -> Caller:
        return Caller(
            agent=self.agent,
            session=self.session,
            role=self.role,
            user=self.user,
            groups=tuple(self.groups),
            scope=None if self.scope is None else self.scope.scope(),
            parent=None if self.parent is None else self.parent.caller(),
        )


class _Past(_Part):
    tool: str
    input: dict[str, Any] = {}
    result: Any = None
    outcome: Literal["ok", "failed", "timeout", "cancelled", "running"] = "ok"
    at: _Time | None = None
    session: str | None = None
    agent: str | None = None
    user: str | None = None
    origin: Literal["host", "mcp", "ext"] | None = None
    server: str = ""
    id: str | None = None
    chain: list[str] = []
    texts: list[str] = []

    def call(self) -> PastCall:
        return PastCall(
            tool=self.tool,
            input=MappingProxyType({name: freeze(item) for name, item in self.input.items()}),
            result=freeze(self.result),
            outcome=self.outcome,
            at=self.at,
            session=self.session,
            agent=self.agent,
            user=self.user,
            origin=self.origin,
            server=self.server,
            id=self.id,
            chain=tuple(self.chain),
            texts=tuple(self.texts),
        )


class _Sandbox(_Part):
    tier: str
    enforces: list[ConfinedVerb] = []
    tools: list[str] | None = None

    def in_force(self) -> SandboxTier:
        return SandboxTier(
            name=self.tier,
            enforces=frozenset(self.enforces),
            tools=None if self.tools is None else frozenset(self.tools),
        )


class _Facts(_Part):
    resolver: dict[str, list[str] | None] | None = None
    context: dict[str, Any] = {}
    sandbox: _Sandbox | None = None

    def host(self, name: str) -> tuple[str, ...] | None:
        """Return the addresses that the line contains for a name."""
        found = (self.resolver or {}).get(name)
        return None if found is None else tuple(found)


class _Line(_Part):
    id: _Id = None
    tool: str
    input: Any = None
    cwd: _Folder | None = None
    workspace: _Folder | None = None
    home: _Folder | None = None
    caller: _Caller | None = None
    now: _Time | None = None
    said: list[str] | None = None
    facts: _Facts | None = None
    history: list[_Past] | None = None

    def known(self, disk: Resolvers) -> Facts:
        """Return the facts that the line contains; `disk` resolves paths."""
        more = self.facts or _Facts()
        return Facts(
            cwd=self.cwd,
            workspace=self.workspace,
            home=self.home,
            now=self.now,
            said=None if self.said is None else tuple(self.said),
            history=None if self.history is None else tuple(past.call() for past in self.history),
            context={name: freeze(item) for name, item in more.context.items()},
            resolvers=replace(disk, host=None if more.resolver is None else more.host),
            sandbox=None if more.sandbox is None else more.sandbox.in_force(),
        )


_NAMES = sorted(
    {
        name
        for part in (_Line, _Caller, _ScopeFields, _Past, _Facts, _Sandbox)
        for name in part.model_fields
    }
)
_SAID = {
    "missing": "is missing",
    "string_type": "is not a string",
    "list_type": "is not a list",
    "dict_type": "is not an object",
    "model_type": "is not an object",
    "model_attributes_type": "is not an object",
    "extra_forbidden": "is not a field of a call",
}


def read_call(line: str | bytes, *, disk: Resolvers) -> CallToDecide | NotACall:
    """Read one line as a call; without a caller it is the owner, as agent `default`.

    `disk` resolves paths; addresses of hosts are in the line itself.
    """
    value = read_json(line)
    if isinstance(value, Unreadable):
        return NotACall(id=None, code="not-json", message=value.reason)
    if not isinstance(value, Mapping):
        return NotACall(id=None, code="not-a-call", message="a call is a JSON object")
    # The input is judged exactly as it was parsed; the rest of the line is plain data.
    rest = {key: thaw(item) for key, item in value.items() if key != "input"}
    try:
        read = _Line.model_validate(rest)
    except ValidationError as error:
        given = value.get("id")
        known = given if _is_id(given) else None
        return NotACall(id=known, code="not-a-call", message=_first_problem(error))
    return CallToDecide(
        id=read.id,
        tool=read.tool,
        input=value.get("input"),
        caller=Caller() if read.caller is None else read.caller.caller(),
        facts=read.known(disk),
    )


def _first_problem(error: ValidationError) -> str:
    found = error.errors(include_url=False, include_input=False)[0]
    names = [str(step) for step in found["loc"]]
    place = escape_for_display(".".join(names), 100)
    if found["type"] == "value_error":
        return f"`{place}` {found['ctx']['error']}"
    if found["type"] == "literal_error":
        # Pydantic lists them as 'a', 'b' or 'c'.
        wanted = found["ctx"]["expected"].replace("'", "`").replace(" or ", ", ")
        return f"`{place}` is none of {wanted}"
    is_unnamed = found["type"] == "extra_forbidden"
    help = did_you_mean(names[-1], _NAMES) if is_unnamed else None
    return f"`{place}` {_SAID.get(found['type'], 'cannot be read')}" + (f": {help}" if help else "")
