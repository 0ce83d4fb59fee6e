"""Reads and writes the text of `tools.lock`.

Each entry carries a digest of itself, so that a bad merge or an edit by hand is noticed. Whoever
can write the file can compute the digests too: what protects it from tools is the floor.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from policy.catalog import Origin, identifier_problem
from policy.model import thaw
from policy.pins.definitions import DEEPEST, About, ServerProgram, digest, freeze_definition
from policy.pins.lock import Lock, Pin, Reviewed, ServerPins
from policy.pins.specs import spec_problem
from policy.values import JsonLimits, Unreadable, read_plain_json

VERSION = 1
_FROM_HISTORY = (
    "restore the file from version control, or remove it and accept the tools of all servers again"
)
# A definition stands some levels below the top.
_LIMITS = JsonLimits(depth=DEEPEST + 8)


@dataclass(frozen=True, slots=True, kw_only=True)
class LockProblem:
    """What is wrong with a lock, and at which of its keys: `servers.git.tools.git_status`."""

    place: str
    message: str
    help: str = _FROM_HISTORY


class _Entry(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class _Reviewed(_Entry):
    by: str
    at: str


class _Pin(_Entry):
    digest: str
    definition: dict[str, Any]
    resources: dict[str, Any] = {}
    reviewed: _Reviewed


class _Program(_Entry):
    command: list[str] = Field(min_length=1)
    package: str = ""


class _Server(_Entry):
    digest: str
    instructions: str = ""
    program: _Program | None = None
    reviewed: _Reviewed
    tools: dict[str, _Pin] = {}
    prompts: dict[str, _Pin] = {}


class _File(_Entry):
    version: Literal[1]
    servers: dict[str, _Server] = {}


def read_lock(content: bytes) -> Lock | tuple[LockProblem, ...]:
    """Return the lock that a file holds, or everything that is wrong with it; never raises."""
    value = read_plain_json(content, limits=_LIMITS)
    if isinstance(value, Unreadable):
        return (LockProblem(place="", message=value.reason),)
    problem = _version_problem(value)
    if problem is not None:
        return (problem,)
    try:
        file = _File.model_validate(value)
    except ValidationError as error:
        return tuple(
            LockProblem(
                place=_place(each["loc"]), message=each["msg"][:1].lower() + each["msg"][1:]
            )
            for each in error.errors(include_url=False, include_input=False)
        )
    problems = tuple(_problems(file))
    return problems or _lock(file)


def write_lock(lock: Lock) -> bytes:
    """Return the text of a lock; every character that is not ASCII is escaped, so none is hidden.

    Raises ValueError for a definition with a number that JSON cannot carry as it was sent.
    """
    servers = {name: _server_json(name, pins) for name, pins in sorted(lock.servers.items())}
    text = json.dumps({"version": VERSION, "servers": servers}, indent=1, default=_no_number)
    return f"{text}\n".encode("ascii")


def _no_number(value: object) -> Any:
    raise ValueError(f"the number {value} has more digits than a double holds")


def _version_problem(value: Any) -> LockProblem | None:
    if not isinstance(value, dict):
        return LockProblem(place="", message="it is not a JSON object")
    version = value.get("version")
    if type(version) is not int or version == VERSION:
        return None  # the form says what is wrong, if anything
    return LockProblem(
        place="version",
        message=f"version {version} of the format is not known here, only {VERSION} is",
        help="use the version of Placet that wrote the file, or a newer one",
    )


def _place(steps: tuple[int | str, ...]) -> str:
    return ".".join(map(str, steps))


def _problems(file: _File) -> Iterator[LockProblem]:
    for name, server in file.servers.items():
        place = f"servers.{name}"
        why = identifier_problem(Origin(kind="mcp", server=name))
        if why is not None:
            yield LockProblem(place=place, message=f"a server cannot be called so: {why}")
        if server.digest != _server_digest(name, _pins(server)):
            yield _altered(place)
        for what, pins in (("tools", server.tools), ("prompts", server.prompts)):
            for key, pin in pins.items():
                yield from _pin_problems(name, what, key, pin)


def _pin_problems(server: str, what: str, name: str, pin: _Pin) -> Iterator[LockProblem]:
    place = f"servers.{server}.{what}.{name}"
    if pin.definition.get("name") != name:
        yield LockProblem(place=place, message="the definition has another name")
    elif pin.digest != _pin_digest(server, what, name, _pin(pin)):
        yield _altered(place)
    elif what == "tools":
        why = spec_problem(server, _pin(pin))
        if why is not None:
            yield LockProblem(place=place, message=why)


def _altered(place: str) -> LockProblem:
    return LockProblem(place=place, message="the entry is not the one that was accepted")


def _lock(file: _File) -> Lock:
    return Lock(
        servers=MappingProxyType({name: _pins(server) for name, server in file.servers.items()})
    )


def _pins(server: _Server) -> ServerPins:
    program = server.program
    return ServerPins(
        about=About(
            instructions=server.instructions,
            program=None
            if program is None
            else ServerProgram(command=tuple(program.command), package=program.package),
        ),
        reviewed=Reviewed(by=server.reviewed.by, at=server.reviewed.at),
        tools=MappingProxyType({name: _pin(pin) for name, pin in server.tools.items()}),
        prompts=MappingProxyType({name: _pin(pin) for name, pin in server.prompts.items()}),
    )


def _pin(pin: _Pin) -> Pin:
    return Pin(
        definition=freeze_definition(pin.definition),
        resources=freeze_definition(pin.resources),
        reviewed=Reviewed(by=pin.reviewed.by, at=pin.reviewed.at),
    )


def _server_json(name: str, pins: ServerPins) -> dict[str, Any]:
    return {
        **_server_fields(pins),
        "digest": _server_digest(name, pins),
        "tools": _pins_json(name, "tools", pins.tools),
        "prompts": _pins_json(name, "prompts", pins.prompts),
    }


def _pins_json(server: str, what: str, pins: Mapping[str, Pin]) -> dict[str, Any]:
    return {
        name: {**_pin_fields(pin), "digest": _pin_digest(server, what, name, pin)}
        for name, pin in sorted(pins.items())
    }


def _server_fields(pins: ServerPins) -> dict[str, Any]:
    return {
        **pins.about.as_json(),
        "reviewed": {"by": pins.reviewed.by, "at": pins.reviewed.at},
    }


def _pin_fields(pin: Pin) -> dict[str, Any]:
    return {
        "definition": thaw(pin.definition),
        "resources": thaw(pin.resources),
        "reviewed": {"by": pin.reviewed.by, "at": pin.reviewed.at},
    }


def _server_digest(name: str, pins: ServerPins) -> str:
    return digest([name, _server_fields(pins)])


def _pin_digest(server: str, what: str, name: str, pin: Pin) -> str:
    return digest([server, what, name, _pin_fields(pin)])
