"""One line of JSON in; the call it asks about, its caller and the facts, or why it is no call."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from types import MappingProxyType
from typing import Any

from policy.call import Caller, GuestScope, freeze, thaw
from policy.cli.fields import (
    REQUIRED,
    Misfit,
    Place,
    Unnamed,
    fields_of,
    list_of,
    names_to,
    one_of,
    or_null,
    read_any,
    read_object,
    read_text,
)
from policy.diagnostics import did_you_mean
from policy.facts import Facts, PastCall, Resolvers
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


def read_call(line: str | bytes, *, disk: Resolvers) -> AskedCall | NoCall:
    """Read one line as a call; without a caller it is the owner, as agent `default`.

    `disk` answers for paths; who answers for hosts stands in the line.
    """
    value = read_json(line)
    if isinstance(value, Unreadable):
        return NoCall(id=None, code="not-json", message=value.reason)
    if not isinstance(value, Mapping):
        return NoCall(id=None, code="not-a-call", message="a call is a JSON object")
    # The input is judged as it was read; the rest of the line is plain data.
    rest = {key: thaw(item) for key, item in value.items() if key != "input"}
    try:
        read = fields_of(rest, (), _LINE)
    except Misfit as misfit:
        given = value.get("id")
        known = given if _is_id(given) else None
        return NoCall(id=known, code="not-a-call", message=_sentence(misfit))
    return AskedCall(
        id=read["id"],
        tool=read["tool"],
        input=value.get("input"),
        caller=read["caller"] or Caller(),
        facts=_facts(read, disk=disk),
    )


def _sentence(misfit: Misfit) -> str:
    place = escape_for_people(".".join(misfit.place), 100)
    help = did_you_mean(misfit.place[-1], _NAMES) if isinstance(misfit, Unnamed) else None
    return f"`{place}` {misfit.said}" + (f": {help}" if help else "")


# ------------------------------------------------------------------ the parts of a line


def _is_id(value: Any) -> bool:
    return isinstance(value, str | int) and not isinstance(value, bool)


def _id(value: Any, place: Place) -> str | int | None:
    if value is None or _is_id(value):
        known: str | int | None = value
        return known
    raise Misfit(place, "is neither a text nor a whole number")


def _time(value: Any, place: Place) -> datetime:
    read = parse_time(value) if isinstance(value, str) else Unreadable(reason="is no text")
    if isinstance(read, Unreadable):
        said = read.reason
        raise Misfit(place, said if said.startswith("is ") else f"is {said}")
    return read


def _folder(value: Any, place: Place) -> str:
    path = read_text(value, place)
    if not path.startswith("/"):
        raise Misfit(place, "is no absolute path")
    return path


def _scope(value: Any, place: Place) -> GuestScope:
    return GuestScope(**fields_of(value, place, _SCOPE))


def _caller(value: Any, place: Place) -> Caller:
    return Caller(**fields_of(value, place, _CALLER))


def _past(value: Any, place: Place) -> PastCall:
    read = fields_of(value, place, _PAST)
    return PastCall(**read | {"input": freeze(read["input"]), "result": freeze(read["result"])})


def _more(value: Any, place: Place) -> dict[str, Any]:
    return fields_of(value, place, _MORE)


_OUTCOMES = ("ok", "failed", "timeout", "cancelled", "running")
_NOTHING: Mapping[str, Any] = MappingProxyType({})
_TEXT_OR_NULL = or_null(read_text)

_SCOPE = {"allowed_tools": (list_of(read_text), ()), "expires_at": (or_null(_time), None)}
_CALLER = {
    "agent": (read_text, "default"),
    "session": (read_text, "default"),
    "role": (read_text, "owner"),
    "user": (_TEXT_OR_NULL, None),
    "groups": (list_of(read_text), ()),
    "scope": (or_null(_scope), None),
    "parent": (or_null(_caller), None),
}
_PAST = {
    "tool": (read_text, REQUIRED),
    "input": (read_object, _NOTHING),
    "result": (read_any, None),
    "outcome": (one_of(_OUTCOMES), "ok"),
    "at": (or_null(_time), None),
    "session": (_TEXT_OR_NULL, None),
    "agent": (_TEXT_OR_NULL, None),
    "user": (_TEXT_OR_NULL, None),
}
_MORE = {
    "resolver": (or_null(names_to(or_null(list_of(read_text)))), None),
    "context": (read_object, _NOTHING),
    "sandbox": (_TEXT_OR_NULL, None),
}
_LINE = {
    "id": (_id, None),
    "tool": (read_text, REQUIRED),
    "input": (read_any, None),
    "cwd": (or_null(_folder), None),
    "workspace": (or_null(_folder), None),
    "home": (or_null(_folder), None),
    "caller": (or_null(_caller), None),
    "now": (or_null(_time), None),
    "said": (list_of(read_text), ()),
    "facts": (or_null(_more), None),
    "history": (list_of(_past), ()),
}
_NAMES = sorted({name for part in (_LINE, _CALLER, _SCOPE, _PAST, _MORE) for name in part})


def _facts(read: Mapping[str, Any], *, disk: Resolvers) -> Facts:
    more = read["facts"] or {name: default for name, (_, default) in _MORE.items()}
    answers: Mapping[str, tuple[str, ...] | None] | None = more["resolver"]
    return Facts(
        cwd=read["cwd"],
        workspace=read["workspace"],
        home=read["home"],
        now=read["now"],
        said=read["said"],
        history=read["history"],
        context={name: freeze(item) for name, item in more["context"].items()},
        resolvers=replace(disk, host=None if answers is None else answers.get),
        sandbox=more["sandbox"],
    )
