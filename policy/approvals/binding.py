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

# Distinguishes opinions that ask, wherever their rule is in its file by now.
AskKey: TypeAlias = tuple[str, str | None, str | None, str | None]

# The steps that lead to a field of an input.
Steps: TypeAlias = tuple[str | int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedCall:
    """One call that asks, with its digest; `asker` is the digest of its caller.

    `accessed` returns the resources that a part of the input accesses now, links followed.
    """

    call: ToolCall
    spec: ToolSpec | None
    digest: str
    caller: Caller
    asker: str
    accessed: Callable[[Mapping[str, Any]], tuple[str, ...]]


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
    """Return the digest of a caller: of itself and everybody above it."""
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


def request_key(request: ApprovalRequest) -> str:
    """Return the key of a request: of its call, its caller, and the opinions that ask.

    It is the same in every process, so that a request outlives the process that filed it. It
    distinguishes `1` from `1.0`, as a tool may: an answer allows exactly what people were shown. A
    request without a digest gets a random key, and no other call joins it.
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
    """Return the session at the root of the caller's session tree."""
    return list(caller.chain())[-1].session


def ask_key(reason: Reason) -> AskKey:
    """Return what an answer to this opinion is valid for, besides call and caller.

    A rule is identified by its digest: once edited, it is another rule. That its condition was
    indeterminate is part of what was approved.
    """
    if reason.terms is not None and reason.terms.digest is not None:
        return (reason.terms.digest, reason.layer, None, reason.undecided)
    # A rule without a name is identified by its line, which changes with edits above it.
    unnamed = reason.file is not None and reason.rule == f"{reason.file}:{reason.line}"
    clause = f"{reason.clause or ''}\n{reason.undecided or ''}"
    return ("" if unnamed else reason.rule, reason.layer, reason.file, clause)


def remembered_key(reason: Reason, asked: AskedCall) -> str | None:
    """Return the key of the calls that a remembered answer serves; None if it serves no other.

    The whole call must be equal if the rule names no fields. Fields are equal if their values and
    their resources are: a path that has become a link names another file, and `1.0` is not the `1`
    that was approved, as a tool can distinguish them.
    """
    terms = reason.terms
    if terms is None or terms.remember is None or reason.undecided is not None:
        return None
    fields = terms.remember.fields
    covered: Any = {"call": asked.digest, "given": exact_digest_of(asked.call.input)}
    if fields:
        values = [_at(asked.call.input, steps) for steps in fields]
        if any(value is None for value in values):
            return None
        accessed = asked.accessed(part_of(asked.call.input, fields))
        covered = {"fields": fields, "values": values, "resources": accessed}
        covered["given"] = exact_digest_of(values)
    return digest_of(
        {
            "tool": asked.call.tool,
            "definition": _definition(asked.spec),
            "rule": ask_key(reason),
            "caller": asked.asker,
            "session": root_session(asked.caller),
            **covered,
        }
    )


def part_of(input: Mapping[str, Any], fields: Iterable[Steps]) -> Mapping[str, Any]:
    """Return an input with these fields alone, each at its place."""
    return _part(input, tuple(fields))  # type: ignore[no-any-return]


def _part(value: Any, fields: tuple[Steps, ...]) -> Any:
    if () in fields:
        return value
    if isinstance(value, Mapping):
        names = dict.fromkeys(steps[0] for steps in fields if steps[0] in value)
        return MappingProxyType({name: _part(value[name], _below(name, fields)) for name in names})
    # A list of which single elements are named is kept whole: at worst people are asked again.
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
                resource.listed,
                resource.tree_field,
                resource.only_for,
                resource.uri,
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
    """Return the value at `steps`, marked as a value; None where a step is not possible.

    A field of a list is that field of each element. An absent value equals only an absent one.
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
    """Return the digest of one opinion and of who may answer it."""
    terms = reason.terms or Terms()
    opinion = [ask_key(reason), terms.groups, terms.two_people]
    return digest_of(opinion) or f"none:{uuid.uuid4().hex}"
