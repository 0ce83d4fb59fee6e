"""The caller and the facts that a test's `given` lines set for its cases."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from types import MappingProxyType
from typing import Any

from policy.model import (
    CONFINED_VERBS,
    EMPTY,
    Caller,
    ConfinedVerb,
    Facts,
    GuestScope,
    SandboxTier,
)
from policy.syntax import tree
from policy.values import Unreadable, parse_time

Steps = tuple[str, ...]
_DEEPEST = 100  # agents above the caller

# What a test may set, besides `context.…`; the names are those of the language's facts.
FACTS: tuple[str, ...] = (
    "agent.name",
    "agent.parent",
    "agent.depth",
    "session.id",
    "session.role",
    "session.scope",
    "user.id",
    "user.groups",
    "user.said",
    "sandbox.tier",
    "sandbox.enforces",
    "now",
    "workspace",
    "cwd",
    "home",
)


class NotGivable(Exception):
    """A fact with a value of the wrong type; the message names the right one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseSetup:
    """Who calls in a test, and with which facts; links and host names are not resolved."""

    caller: Caller
    facts: Facts


def confining(setup: CaseSetup, tool: str) -> CaseSetup:
    """Return a setup in which the sandbox, if a test gives one, is that of a tool's calls."""
    sandbox = setup.facts.sandbox
    if sandbox is None:
        return setup
    named = replace(sandbox, tools=frozenset({tool}))
    return replace(setup, facts=replace(setup.facts, sandbox=named))


# Folders for tests that give none, so that relative paths and items such as `~/.ssh/**` can be
# resolved.
NOBODY_SAID = CaseSetup(caller=Caller(), facts=Facts(home="/home/user", workspace="/workspace"))


def fact_name(path: tree.FieldPath) -> str:
    """Return a fact's name as written, `agent.name`."""
    steps = (step if isinstance(step, str) else "[…]" for step in path.steps)
    return ".".join((path.root, *steps))


def with_fact(circumstances: CaseSetup, path: tree.FieldPath, value: Any) -> CaseSetup:
    """Return the setup with one fact set.

    Raises KeyError for a fact that a test cannot set, NotGivable for a value of another type.
    """
    steps = tuple(step for step in path.steps if isinstance(step, str))
    if path.root == "context" and steps and len(steps) == len(path.steps):
        facts = circumstances.facts
        context = _with(facts.context, steps, value)
        return replace(circumstances, facts=replace(facts, context=context))
    name = fact_name(path)
    if name in _OF_THE_CALLER:
        caller = _OF_THE_CALLER[name](circumstances.caller, value)
        return replace(circumstances, caller=caller)
    facts = _OF_THE_WORLD[name](circumstances.facts, value)
    return replace(circumstances, facts=facts)


def _with(known: Mapping[str, Any], steps: Steps, value: Any) -> Mapping[str, Any]:
    first, rest = steps[0], steps[1:]
    if rest:
        below = known.get(first, EMPTY)
        value = _with(below if isinstance(below, Mapping) else EMPTY, rest, value)
    return MappingProxyType({**known, first: value})


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise NotGivable("a string")
    return value


def _texts(value: Any) -> tuple[str, ...]:
    if isinstance(value, str):
        return (value,)
    if not isinstance(value, tuple) or not all(isinstance(item, str) for item in value):
        raise NotGivable("a list of strings")
    return value


def _path(value: Any) -> str:
    text = _text(value)
    if not text.startswith("/"):
        raise NotGivable("an absolute path")
    return text


def _moment(value: Any) -> datetime:
    read = parse_time(_text(value))
    if isinstance(read, Unreadable):
        raise NotGivable('a time such as "2026-06-03T10:00:00Z"')
    return read


def _depth(value: Any) -> int:
    if type(value) is not int or not 0 <= value <= _DEEPEST:
        raise NotGivable(f"a whole number from 0 to {_DEEPEST}")
    return value


def _below(caller: Caller, name: str, *, depth: int) -> Caller:
    """Return the caller with so many agents above it, all of one name."""
    above: Caller | None = None
    for _ in range(depth):
        above = replace(caller, agent=name, parent=above)
    return replace(caller, parent=above)


def _scope(value: Any) -> GuestScope:
    if not isinstance(value, Mapping) or not value.keys() <= {"allowed_tools", "expires_at"}:
        raise NotGivable('a value like {allowed_tools: ["memory_*"], expires_at: "…"}')
    expires = value.get("expires_at")
    return GuestScope(
        allowed_tools=_texts(value.get("allowed_tools", ())),
        expires_at=None if expires is None else _moment(expires),
    )


def _sandbox(facts: Facts) -> SandboxTier:
    return facts.sandbox or SandboxTier(name="test")


def _confined(value: Any) -> frozenset[ConfinedVerb]:
    texts = _texts(value)
    found: frozenset[ConfinedVerb] = frozenset(verb for verb in CONFINED_VERBS if verb in texts)
    if len(found) != len(set(texts)):
        raise NotGivable('a list of `"reads"`, `"writes"` and `"connects"`')
    return found


_OF_THE_CALLER: Mapping[str, Callable[[Caller, Any], Caller]] = {
    "agent.name": lambda caller, v: replace(caller, agent=_text(v)),
    "agent.parent": lambda caller, v: _below(caller, _text(v), depth=max(caller.depth, 1)),
    "agent.depth": lambda caller, v: _below(
        caller, (caller.parent or Caller()).agent, depth=_depth(v)
    ),
    "session.id": lambda caller, v: replace(caller, session=_text(v)),
    "session.role": lambda caller, v: replace(caller, role=_text(v)),
    "session.scope": lambda caller, v: replace(caller, scope=_scope(v)),
    "user.id": lambda caller, v: replace(caller, user=_text(v)),
    "user.groups": lambda caller, v: replace(caller, groups=_texts(v)),
}

_OF_THE_WORLD = {
    "user.said": lambda facts, v: replace(facts, said=_texts(v)),
    "sandbox.tier": lambda facts, v: replace(
        facts, sandbox=replace(_sandbox(facts), name=_text(v))
    ),
    "sandbox.enforces": lambda facts, v: replace(
        facts, sandbox=replace(_sandbox(facts), enforces=_confined(v))
    ),
    "now": lambda facts, v: replace(facts, now=_moment(v)),
    "workspace": lambda facts, v: replace(
        facts,
        workspace=_path(v),
        cwd=_path(v) if facts.cwd in (None, facts.workspace) else facts.cwd,
    ),
    "cwd": lambda facts, v: replace(facts, cwd=_path(v)),
    "home": lambda facts, v: replace(facts, home=_path(v)),
}
