"""Requests and standing approvals as lines for people and records for programs.

The resources of a call come first, then its input with hidden characters escaped, then who asks
and why, and who may answer.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from itertools import islice
from typing import Any

from policy.approvals import Filed, Grant, Person, answerable_by, serving_for, unanswered
from policy.cli.decision_lines import generation_record, reason_record
from policy.cli.explanation_text import json_for_people
from policy.diagnostics import display_name, visible
from policy.model import Caller, Reason, thaw

SHORT = 8
_LONGEST_LINE = 400
_LONGEST_VALUE = 60
_MOST_FIELDS = 8
_SPANS = ((86_400, "d"), (3_600, "h"), (60, "m"))


def short(id: str) -> str:
    """Return the short form of an id, for people to type."""
    return visible(id[:SHORT])


def span(seconds: float) -> str:
    """Return `42s`, `5m`, `3h`, `2d`: whole units, the largest that fits."""
    whole = max(0, int(seconds))
    for size, unit in _SPANS:
        if whole >= size:
            return f"{whole // size}{unit}"
    return f"{whole}s"


def since(then: datetime | None, now: datetime) -> str:
    """Return how long ago that was."""
    return "?" if then is None else span((now - _zoned(then)).total_seconds())


def until(then: datetime | None, now: datetime) -> str:
    """Return how far ahead that is."""
    return "-" if then is None else span((_zoned(then) - now).total_seconds())


def details(filed: Filed, *, now: datetime, root: str) -> Iterator[str]:
    """Yield all details of one request; `root` is the prefix of file names."""
    request = filed.request
    wants = "wants to run" if request.kind == "call" else "wants to be allowed"
    yield f"{visible(request.caller.agent, 80)} {wants} {visible(request.tool, 200)}"
    for resource in request.resources:
        yield f"  {visible(resource, _LONGEST_LINE)}"
    yield from _input(thaw(request.input))
    for value in request.values:
        yield f"  {visible(value, _LONGEST_LINE)}"
    if request.rewritten_script is not None:
        yield f"  runs as: {visible(request.rewritten_script, _LONGEST_LINE)}"
    yield ""
    yield "asked because"
    left = unanswered(request.reasons, filed.people, request.caller)
    for reason in request.reasons:
        yield from _reason(reason, root=root, answered=reason not in left)
    if filed.people:
        yield f"  approved so far: {', '.join(_person(person) for person in filed.people)}"
    yield ""
    yield f"request {visible(request.id, 80)}: {_state(filed)}"
    yield f"  asked {since(request.asked_at, now)} ago, {_end(filed, now)}"
    for caller in request.caller.chain():
        yield f"  {_caller(caller)}"
    if request.generation is not None:
        number, digest = request.generation.number, request.generation.digest
        yield f"  by generation {number} {visible(digest, 80)}"
    yield f"  the answer is bound to {visible(request.digest, 80)}"


def request_record(filed: Filed) -> dict[str, Any]:
    """Return one request as JSON."""
    request = filed.request
    left = unanswered(request.reasons, filed.people, request.caller)
    generation = request.generation
    return {
        "id": request.id,
        "kind": request.kind,
        "state": filed.state,
        "tool": request.tool,
        "input": thaw(request.input),
        "resources": list(request.resources),
        "values": list(request.values),
        "digest": request.digest,
        "caller": [_caller_record(caller) for caller in request.caller.chain()],
        "reasons": [
            {**reason_record(reason), "answered": reason not in left} for reason in request.reasons
        ],
        "agreed": [_person_record(person) for person in filed.people],
        "denied_by": filed.denied_by,
        "message": filed.message,
        "generation": generation_record(generation),
        "asked_at": _stamp(request.asked_at),
        "expires": _stamp(request.expires),
    }


def grant_record(grant: Grant) -> dict[str, Any]:
    """Return one standing approval as JSON."""
    return {
        "id": grant.id,
        "kind": grant.kind,
        "session": grant.session,
        "tools": list(grant.tools),
        "people": [_person_record(person) for person in grant.people],
        "uses": grant.uses,
        "given_at": _stamp(grant.given_at),
        "expires": _stamp(grant.expires),
        "request": grant.request,
    }


def _reason(reason: Reason, *, root: str, answered: bool) -> Iterator[str]:
    place = ""
    if reason.file:
        place = f" ({visible(display_name(reason.file, root=root), 200)}:{reason.line})"
    yield f"  {visible(reason.rule, 200)}{place}"
    if reason.clause:
        yield f"    {visible(reason.clause, _LONGEST_LINE)}"
    if reason.undecided:
        yield f"    indeterminate: {visible(reason.undecided, _LONGEST_LINE)}"
    if reason.message:
        yield f"    {visible(reason.message, _LONGEST_LINE)}"
    by = f"{'answered' if answered else 'to be answered'} by {answerable_by(reason.terms)}"
    yield f"    {by}, {serving_for(None if reason.terms is None else reason.terms.remember)}"


def _input(input: Mapping[str, Any]) -> Iterator[str]:
    """Yield every field in full: the approver must be able to see all that would run."""
    if not input:
        yield "  without any input"
    for name, value in input.items():
        label = f"  input {visible(name)}"
        if isinstance(value, str) and "\n" in value:
            yield f"{label}:"
            yield from (f"    | {visible(line)}" for line in value.split("\n"))
        else:
            yield f"{label} = {json_for_people(value)}"


def input_in_short(input: Mapping[str, Any]) -> str:
    """Return the input on one indented line; each field is shortened by itself.

    Otherwise a long field would hide those behind it.
    """
    fields = [
        f"{visible(name, 40)} = {json_for_people(value, limit=_LONGEST_VALUE)}"
        for name, value in islice(input.items(), _MOST_FIELDS)
    ]
    more = len(input) - len(fields)
    also = [f"and {more} more"] if more > 0 else []
    return f"  input {', '.join([*fields, *also])}" if fields else "  without any input"


def _state(filed: Filed) -> str:
    match filed.state:
        case "pending":
            return "pending"
        case "approved":
            return "approved, but the call has not run yet"
        case "used":
            return "approved, and the call has run"
        case "denied":
            said = f": {visible(filed.message, _LONGEST_LINE)}" if filed.message else ""
            return f"denied by {visible(filed.denied_by or 'nobody', 80)}{said}"
        case "cancelled":
            return "withdrawn"
        case "expired":
            return "timed out without an answer"


def _end(filed: Filed, now: datetime) -> str:
    expires = filed.request.expires
    if expires is None:
        return "without a time limit"
    if filed.state in ("pending", "approved"):
        return f"ends in {until(expires, now)}"
    return "ended"


def _caller(caller: Caller) -> str:
    user = "" if caller.user is None else f", user {visible(caller.user, 80)}"
    below = "" if caller.parent is None else ", started by"
    return (
        f"asked by agent {visible(caller.agent, 80)}, session {visible(caller.session, 80)}, "
        f"role {visible(caller.role, 80)}{user}{below}"
    )


def _person(person: Person) -> str:
    groups = f" of {', '.join(visible(group, 80) for group in person.groups)}"
    return visible(person.id, 80) + (groups if person.groups else "")


def _caller_record(caller: Caller) -> dict[str, Any]:
    return {
        "agent": caller.agent,
        "session": caller.session,
        "role": caller.role,
        "user": caller.user,
        "groups": list(caller.groups),
    }


def _person_record(person: Person) -> dict[str, Any]:
    return {"id": person.id, "groups": list(person.groups)}


def _stamp(time: datetime | None) -> str | None:
    return None if time is None else _zoned(time).astimezone(UTC).isoformat()


def _zoned(time: datetime) -> datetime:
    return time if time.tzinfo is not None else time.replace(tzinfo=UTC)
