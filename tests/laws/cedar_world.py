"""A Cedar world as Placet sees it: entities, requests, and the values behind paths of attributes.

What a Cedar policy reads through an entity (`resource.account.owner`) is a field of its own in the
input of a call, so a path stands for the values that it has in all requests of a world.
"""

from __future__ import annotations

import ipaddress
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from policy.values import is_ordinary

Uid: TypeAlias = tuple[str, str]
# The root (`principal`, `resource`, `context`), then attributes; a tag is a pair with "tag".
Path: TypeAlias = tuple[Any, ...]

MOST_EXACT = 2**53  # larger whole numbers are indeterminate in Placet


class Untranslatable(Exception):
    """What a Cedar policy or request says has no counterpart; the message says what it is."""


class _Missing:
    def __repr__(self) -> str:
        return "MISSING"


MISSING = _Missing()


@dataclass(frozen=True, slots=True)
class Extension:
    """A value of an extension type of Cedar, such as `ip`, as its constructor spells it."""

    kind: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Entity:
    """What the store knows of one entity."""

    attributes: Mapping[str, Any]
    tags: Mapping[str, Any]
    parents: tuple[Uid, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One question to a Cedar policy set; the context is as JSON gives it."""

    principal: Uid
    action: Uid
    resource: Uid
    context: Mapping[str, Any]

    @staticmethod
    def of(row: Mapping[str, Any]) -> Request:
        """Return the request of a row of the corpus."""
        principal, action, resource = (
            (row[name]["type"], row[name]["id"]) for name in ("principal", "action", "resource")
        )
        context = explicit(row["context"])
        return Request(principal=principal, action=action, resource=resource, context=context)

    def for_cedar(self) -> dict[str, Any]:
        """Return the request as cedarpy takes it."""
        named = {"principal": self.principal, "action": self.action, "resource": self.resource}
        uids = {name: {"type": uid[0], "id": uid[1]} for name, uid in named.items()}
        return {**uids, "context": dict(self.context)}


@dataclass(kw_only=True)
class World:
    """Entities, and the requests that are asked about them."""

    store: list[dict[str, Any]]
    requests: tuple[Request, ...]
    entities: dict[Uid, Entity] = field(init=False)
    _seen: dict[Path, tuple[Any, ...]] = field(init=False, repr=False, default_factory=dict)

    def __post_init__(self) -> None:
        self.store = [explicit_entity(one) for one in self.store]
        self.entities = {
            uid_of(one["uid"]): Entity(
                attributes=one["attrs"],
                tags=one.get("tags", {}),
                parents=tuple(map(uid_of, one["parents"])),
            )
            for one in self.store
        }

    def ancestors(self, uid: Uid) -> list[Uid]:
        """Return an entity and all that it is in."""
        found: dict[Uid, None] = {}
        waiting = [uid]
        while waiting:
            one = waiting.pop()
            if one not in found:
                found[one] = None
                if one in self.entities:
                    waiting += self.entities[one].parents
        return list(found)

    def at(self, path: Path, request: Request) -> Any:
        """Return the value at a path for a request; MISSING where reading it is an error."""
        roots = {"principal": request.principal, "resource": request.resource}
        if path[0] == "context":
            value: Any = request.context
        else:
            value = _entity(path[0] if isinstance(path[0], tuple) else roots[path[0]])
        for step in path[1:]:
            value = self._step(value, step)
            if value is MISSING:
                return MISSING
        return value

    def seen(self, path: Path) -> tuple[Any, ...]:
        """Return the values at a path in all requests, each once."""
        found = self._seen.get(path)
        if found is None:
            values = (self.at(path, request) for request in self.requests)
            unlike = {repr(value): value for value in values}
            found = self._seen[path] = tuple(unlike.values())
        return found

    def _step(self, value: Any, step: Any) -> Any:
        if kind_of(value) == "entity":
            entity = self.entities.get(uid_of(value["__entity"]))
            if entity is None:
                return MISSING
            if isinstance(step, tuple):
                return entity.tags.get(step[1], MISSING)
            return entity.attributes.get(step, MISSING)
        return value.get(step, MISSING) if kind_of(value) == "record" else MISSING


def _entity(uid: Uid) -> dict[str, Any]:
    return {"__entity": {"type": uid[0], "id": uid[1]}}


def uid_of(record: Mapping[str, str]) -> Uid:
    """Return the identity that JSON spells."""
    return record["type"], record["id"]


def explicit_entity(row: dict[str, Any]) -> dict[str, Any]:
    """Return an entity in which no value needs a schema to be understood."""
    found = {**row, "attrs": explicit(row["attrs"])}
    return {**found, "tags": explicit(row["tags"])} if "tags" in row else found


def explicit(value: Any) -> Any:
    """Return a value that says itself what an entity or an extension is."""
    match value:
        case {"__entity": _} | {"__extn": _}:
            return value
        case {"type": str(), "id": str(), **rest} if not rest:
            return {"__entity": value}
        case {"fn": str(), "arg": str(), **rest} if not rest:
            return {"__extn": value}
        case dict():
            return {name: _known(name, explicit(each)) for name, each in value.items()}
        case list():
            return [explicit(each) for each in value]
        case _:
            return value


def _known(name: str, value: Any) -> Any:
    """Return an attribute of the hand-written tests as their schema reads it."""
    function = {"source_ip": "ip", "confidence_score": "decimal"}.get(name)
    if function is None or not isinstance(value, str):
        return value
    return {"__extn": {"fn": function, "arg": value}}


def kind_of(value: Any) -> str:
    """Return which kind of Cedar's a value is of."""
    match value:
        case bool():
            return "bool"
        case int():
            return "long"
        case str():
            return "string"
        case list():
            return "set"
        case {"__entity": _}:
            return "entity"
        case {"__extn": {"fn": str() as function}}:
            return function
        case dict():
            return "record"
        case _:
            raise Untranslatable(f"a value {value!r}")


def uid_text(uid: Uid) -> str:
    """Return the identity as a plain string, another one for each entity."""
    return f"{uid[0]}::{json.dumps(uid[1])}"


def as_json(value: Any) -> Any:
    """Return a value as an argument of a call spells it."""
    match kind_of(value):
        case "entity":
            return uid_text(uid_of(value["__entity"]))
        case "long" if abs(value) > MOST_EXACT:
            raise Untranslatable("a whole number that no double holds")
        case "string" if not is_ordinary(value) or not value.isprintable():
            raise Untranslatable("a string with invisible characters")
        case "set":
            return [as_json(each) for each in value]
        case "record":
            return {name: as_json(each) for name, each in value.items()}
        case "bool" | "long" | "string":
            return value
        case kind:
            return extension(kind, value["__extn"]["arg"])


def extension(kind: str, text: str) -> Any:
    """Return the value of an extension type as an argument of a call spells it."""
    if kind == "decimal":
        return float(text)
    if kind == "ip" and "/" not in text:
        address = ipaddress.ip_address(text)
        return str(address) if address.version == 4 else f"[{address}]"  # as in a URL
    raise Untranslatable(f"the extension type {kind}")
