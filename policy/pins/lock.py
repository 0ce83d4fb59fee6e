"""The reviewed definitions of MCP servers: what `tools.lock` holds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from policy.model import EMPTY
from policy.pins.definitions import (
    About,
    Definition,
    ServerDefinitions,
    digest,
    freeze_definition,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reviewed:
    """Who accepted a definition, and when (UTC, ISO 8601)."""

    by: str
    at: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Pin:
    """One definition as it was accepted.

    `resources` are those that the reviewer confirmed, as a list of tools declares them; empty for a
    prompt.
    """

    definition: Definition
    reviewed: Reviewed
    resources: Mapping[str, Any] = field(default_factory=lambda: EMPTY)


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerPins:
    """What was accepted of one server."""

    about: About
    reviewed: Reviewed
    tools: Mapping[str, Pin] = field(default_factory=lambda: EMPTY)
    prompts: Mapping[str, Pin] = field(default_factory=lambda: EMPTY)


@dataclass(frozen=True, slots=True, kw_only=True)
class Lock:
    """The pins of each server, by the name that rules call it."""

    servers: Mapping[str, ServerPins] = field(default_factory=lambda: EMPTY)


def accepted(
    lock: Lock,
    definitions: ServerDefinitions,
    *,
    reviewed: Reviewed,
    tools: frozenset[str] | None = None,
    resources: Mapping[str, Mapping[str, Any]] = EMPTY,
) -> Lock:
    """Return the lock with a server's definitions accepted.

    With `tools`, only these and what the server says of itself; the pins of other tools and of the
    prompts stay as they are. Definitions that are
    pinned already keep the review and, unless `resources` has others, the resources they have; of
    one that has changed, resources that were confirmed before do not count any more.
    """
    server = definitions.server
    before = lock.servers.get(server)
    known: Mapping[str, Pin] = EMPTY if before is None else before.tools
    texts: Mapping[str, Pin] = EMPTY if before is None else before.prompts
    wanted = {
        name: definition
        for name, definition in definitions.tools.items()
        if tools is None or name in tools
    }
    pins = {} if tools is None else dict(known)
    for name, definition in wanted.items():
        pins[name] = _pin(known.get(name), definition, reviewed, resources.get(name))
    prompts = {
        name: _pin(texts.get(name), definition, reviewed)
        for name, definition in definitions.prompts.items()
        if tools is None
    }
    if tools is not None:
        prompts = dict(texts)
    is_same = before is not None and before.about == definitions.about
    found = ServerPins(
        about=definitions.about,
        reviewed=before.reviewed if before is not None and is_same else reviewed,
        tools=MappingProxyType(dict(sorted(pins.items()))),
        prompts=MappingProxyType(dict(sorted(prompts.items()))),
    )
    return Lock(servers=MappingProxyType(dict(sorted({**lock.servers, server: found}.items()))))


def without(lock: Lock, server: str) -> Lock:
    """Return the lock without the pins of a server."""
    return Lock(servers=MappingProxyType({k: v for k, v in lock.servers.items() if k != server}))


def _pin(
    before: Pin | None,
    definition: Definition,
    reviewed: Reviewed,
    resources: Mapping[str, Any] | None = None,
) -> Pin:
    declared = None if resources is None else freeze_definition(resources)
    # Compared by the digest: equal values may differ in what equality ignores (`1` and `True`).
    if before is None or digest(before.definition) != digest(definition):
        return Pin(definition=definition, reviewed=reviewed, resources=declared or EMPTY)
    if declared is None or digest(before.resources) == digest(declared):
        return before
    return Pin(definition=definition, reviewed=reviewed, resources=declared)
