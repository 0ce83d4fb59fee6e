"""Digests of calls, callers and opinions that ask: what an approval is valid for.

Equal calls have equal digests in every process. A value that is not JSON has no digest; it gets a
random one, which equals no other.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, TypeAlias

from policy.approvals.request import ApprovalRequest
from policy.audit import digest_of, exact_digest_of
from policy.catalog import ToolSpec
from policy.model import Caller, Reason, Terms, ToolCall

# What tells one opinion that asks from another, wherever in its file it stands by now.
AskKey: TypeAlias = tuple[str, str | None, str | None, str | None]

# The steps that lead to a field of an input.
Steps: TypeAlias = tuple[str | int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedCall:
    """One call that asks, with the digest that names it, and `asker`, that of who asks.

    `touched` says what a part of its input touches by now: where its paths lead.
    """

    call: ToolCall
    spec: ToolSpec | None
    digest: str
    caller: Caller
    asker: str
    touched: Callable[[Mapping[str, Any]], tuple[str, ...]]


def call_digest(call: ToolCall, spec: ToolSpec | None, resources: tuple[str, ...]) -> str:
    """Return the digest of one exact call: the tool as defined, the input, the resources."""
    digest = digest_of(
        {
            "tool": call.tool,
            "definition": _definition(spec),
            "input": call.input,
            "resources": resources,
        }
    )
    return digest or f"none:{uuid.uuid4().hex}"


def caller_digest(caller: Caller) -> str:
    """Return the digest of who asks: this caller and everybody above it."""
    chain = [
        {
            "agent": one.agent,
            "role": one.role,
            "user": one.user,
            "groups": sorted(one.groups),
            "session": one.session,
        }
        for one in caller.chain()
    ]
    return digest_of(chain) or f"none:{uuid.uuid4().hex}"


def question_key(request: ApprovalRequest) -> str:
    """Return the key of a question: of its call, its caller, and the opinions that ask.

    It is the same in every process, so that a question outlives the process that put it. It tells
    `1` from `1.0`, as a tool may: what people are shown is what an answer lets run. What has no
    digest has a key of its own, and is never taken up.
    """
    scope = request.caller.scope
    key = digest_of(
        {
            "kind": request.kind,
            "digest": request.digest,
            "given": exact_digest_of(request.input),
            "caller": caller_digest(request.caller),
            "scope": None
            if scope is None
            else [scope.allowed_tools, scope.expires_at and scope.expires_at.isoformat()],
            "asks": sorted({_asks(reason) for reason in request.reasons}),
        }
    )
    return key or f"none:{uuid.uuid4().hex}"


def root_session(caller: Caller) -> str:
    """Return the session that the caller's session tree grew from."""
    return list(caller.chain())[-1].session


def ask_key(reason: Reason) -> AskKey:
    """Return what an answer to this opinion is bound to, besides call and caller.

    A rule is known by its digest: edited, it is another rule. That a rule could not be decided is
    part of what was approved.
    """
    if reason.terms is not None and reason.terms.digest is not None:
        return (reason.terms.digest, reason.layer, None, reason.undecided)
    # A rule without a name is known by its line, which moves when the file is edited above it.
    unnamed = reason.file is not None and reason.rule == f"{reason.file}:{reason.line}"
    told = f"{reason.clause or ''}\n{reason.undecided or ''}"
    return ("" if unnamed else reason.rule, reason.layer, reason.file, told)


def remembered_key(reason: Reason, asked: AskedCall) -> str | None:
    """Return what a remembered answer to this opinion serves; None where it serves nothing else.

    The whole call must be equal where the rule names no fields. Fields are equal if they say the
    same and lead to the same: a path that has become a link to elsewhere names another file, and
    `1.0` is not the `1` that was approved, as a tool can tell them apart.
    """
    terms = reason.terms
    if terms is None or terms.remember is None or reason.undecided is not None:
        return None
    fields = terms.remember.fields
    told: Any = {"call": asked.digest, "given": exact_digest_of(asked.call.input)}
    if fields:
        values = [_at(asked.call.input, steps) for steps in fields]
        if any(value is None for value in values):
            return None
        touched = asked.touched(part_of(asked.call.input, fields))
        told = {"fields": fields, "values": values, "resources": touched}
        told["given"] = exact_digest_of(values)
    return digest_of(
        {
            "tool": asked.call.tool,
            "definition": _definition(asked.spec),
            "rule": ask_key(reason),
            "caller": asked.asker,
            "session": root_session(asked.caller),
            **told,
        }
    )


def part_of(input: Mapping[str, Any], fields: Iterable[Steps]) -> Mapping[str, Any]:
    """Return an input with these fields alone, each where it stands."""
    return _part(input, tuple(fields))  # type: ignore[no-any-return]


def _part(value: Any, fields: tuple[Steps, ...]) -> Any:
    if () in fields:
        return value
    if isinstance(value, Mapping):
        names = dict.fromkeys(steps[0] for steps in fields if steps[0] in value)
        return MappingProxyType({name: _part(value[name], _below(name, fields)) for name in names})
    # Of a list with places of its own, more than they may lead elsewhere; that costs a question.
    if isinstance(value, tuple) and all(isinstance(steps[0], str) for steps in fields):
        return tuple(_part(item, fields) for item in value)
    return value


def _below(step: str | int, fields: tuple[Steps, ...]) -> tuple[Steps, ...]:
    return tuple(steps[1:] for steps in fields if steps[0] == step)


def _definition(spec: ToolSpec | None) -> Any:
    if spec is None:
        return None
    return {
        "origin": (spec.origin.kind, spec.origin.server, spec.origin.tool),
        "says": spec.description,
        "takes": spec.schema,
        "touches": [
            (
                resource.verb,
                resource.steps,
                resource.tree,
                resource.tree_field,
                resource.only_for,
            )
            for resource in spec.resources
        ],
        "is": (
            spec.complete,
            spec.unseen,
            spec.exec_class,
            spec.category,
            spec.read_only,
            spec.destructive,
            spec.idempotent,
            spec.version,
        ),
    }


def _at(value: Any, steps: Steps) -> Mapping[str, Any] | None:
    """Return the value at `steps`, marked as what it is; None where a step cannot be taken.

    A name taken of a list is taken of each element. What is absent equals only what is absent.
    """
    if not steps:
        return {"is": value}
    step, rest = steps[0], steps[1:]
    if value is None:
        return _ABSENT
    if isinstance(value, Mapping):
        if not isinstance(step, str):
            return None
        return _at(value[step], rest) if step in value else _ABSENT
    if not isinstance(value, tuple):
        return None
    if isinstance(step, int):
        return _at(value[step], rest) if -len(value) <= step < len(value) else _ABSENT
    found = [_at(item, steps) for item in value]
    return None if any(one is None for one in found) else {"each": found}


_ABSENT: Mapping[str, Any] = {"absent": True}


def _asks(reason: Reason) -> str:
    """Return what one opinion is, and who may answer it."""
    terms = reason.terms or Terms()
    told = [ask_key(reason), terms.groups, terms.two_people]
    return digest_of(told) or f"none:{uuid.uuid4().hex}"
