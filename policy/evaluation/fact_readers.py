"""Reads facts by name, such as `agent.name`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from policy.evaluation.call_sandbox import sandbox_of
from policy.evaluation.declared_resources import DeclaredResources
from policy.evaluation.evaluation import Evaluation
from policy.evaluation.truth import ABSENT, Indeterminate, PartialList, Unknown, Value
from policy.values import UserMessages, normalise, role_of

Reader: TypeAlias = Callable[[Evaluation], Value]

_UNKNOWN_FOLDER = Unknown("the workspace is unknown")
_DISGUISED = Indeterminate("the role looks like a known role but is spelled differently")
_UNKNOWN_TIME = Unknown("the time is unknown")


def _learnt(value: Value, what: str) -> Value:
    return Unknown(f"no trusted source declares {what} of this tool") if value is None else value


def _role(call: Evaluation, value: Value) -> Value:
    """Return the caller's role as rules see it; a disguised one is indeterminate."""
    role = call.caller.role
    return value if role_of(role) == normalise(role) else _DISGUISED


def _said(call: Evaluation) -> Value:
    said = call.said
    if not isinstance(said, UserMessages):
        return said
    if said.missing is None:
        return said.texts
    # One that was too long may have been the last.
    return PartialList(said.texts, said.missing, sure_from=len(said.texts) + 1)


def _tier(call: Evaluation) -> Value:
    sandbox = sandbox_of(call.spec, call.facts)
    return ABSENT if sandbox is None else sandbox.name


def _enforced(call: Evaluation) -> Value:
    sandbox = sandbox_of(call.spec, call.facts)
    return () if sandbox is None else tuple(sorted(sandbox.enforces))


_READERS: dict[tuple[str, ...], Reader] = {
    ("input",): lambda call: call.input,
    ("result",): lambda call: call.result,
    ("tool", "name"): lambda call: call.spec.base,
    ("tool", "origin"): lambda call: call.spec.origin.kind,
    ("tool", "server"): lambda call: call.spec.origin.server or ABSENT,
    ("tool", "category"): lambda call: _learnt(call.spec.category, "the category"),
    ("tool", "read_only"): lambda call: _learnt(call.spec.read_only, "`read_only`"),
    ("tool", "destructive"): lambda call: _learnt(call.spec.destructive, "`destructive`"),
    ("tool", "idempotent"): lambda call: _learnt(call.spec.idempotent, "`idempotent`"),
    ("tool", "pinned"): lambda call: call.spec.pinned or call.spec.origin.kind == "host",
    ("agent", "name"): lambda call: call.caller.agent,
    ("agent", "roles"): lambda call: _role(call, (call.caller.role,)),
    ("agent", "depth"): lambda call: call.caller.depth,
    ("agent", "parent"): lambda call: call.caller.parent.agent if call.caller.parent else ABSENT,
    ("session", "id"): lambda call: call.caller.session,
    ("session", "role"): lambda call: _role(call, call.caller.role),
    ("user", "id"): lambda call: ABSENT if call.caller.user is None else call.caller.user,
    ("user", "groups"): lambda call: call.caller.groups,
    ("user", "said"): _said,
    ("sandbox", "tier"): _tier,
    ("sandbox", "enforces"): _enforced,
    ("workspace",): lambda call: call.facts.workspace or _UNKNOWN_FOLDER,
    ("now",): lambda call: call.facts.now or _UNKNOWN_TIME,
}

# `call.…`: the effects of the call, as lists of canonical strings.
_LISTS = {
    "reads": "reads",
    "writes": "writes",
    "hosts": "connects",
    "commands": "runs",
    "recipients": "sends",
}


def fact_reader(path: tuple[str, ...], declared: DeclaredResources) -> Reader:
    """Return the reader of the fact `path`; `declared` are the layer's declarations of the tool."""
    if path[0] == "context" and len(path) == 2:
        return _context_reader(path[1])
    if path[0] == "call" and len(path) == 2:
        return _call_reader(path[1], declared)
    return _READERS.get(path) or _no_fact(path)


def _no_fact(path: tuple[str, ...]) -> Reader:
    """Return the reader of an unknown fact, which only a stored condition can contain."""
    unknown = Unknown(f"there is no fact `{'.'.join(path)}`")
    return lambda call: unknown


def _context_reader(name: str) -> Reader:
    unknown = Unknown(f"`context.{name}` has no value")

    def read(call: Evaluation) -> Value:
        value = call.facts.context.get(name, unknown)
        return ABSENT if value is None else value

    return read


def _call_reader(name: str, declared: DeclaredResources) -> Reader:
    if name == "unseen":
        return lambda call: call.effects(declared).unseen
    verb = _LISTS.get(name)
    if verb is None:
        return _no_fact(("call", name))
    return lambda call: call.effects(declared).listed(verb)
