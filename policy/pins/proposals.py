"""Proposes which arguments of a tool are resources, for a person to confirm.

Names and formats of arguments are hints, and a server chooses them. So nothing is proposed as
complete while an argument is left whose text could name anything.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from policy.catalog import FOLDERS, VERBS, Verb, is_of_folders, snake_case
from policy.pins.definitions import Definition

_PATHS = frozenset(
    "path file filename filepath directory dir folder root cwd repo repository workdir".split()
)
_FILES = frozenset("file filename filepath".split())
_URLS = frozenset("url uri href endpoint host hostname domain link".split())
_COMMANDS = frozenset("command cmd script shell".split())
_RECIPIENTS = frozenset("recipient email to cc bcc".split())
# Arguments whose text is content, or a choice that names no resource.
_CONTENT = frozenset(
    "content contents text body message messages title description query pattern patterns encoding "
    "format language timezone unit name label comment".split()
)
_TARGETS = frozenset("destination dest target output".split())
_READING = frozenset(
    "read get list search find show view fetch stat status diff log look info describe".split()
)
_WRITING = frozenset(
    "write create delete remove move rename edit update set put add commit reset checkout append "
    "upload save patch insert drop clear replace copy send push apply".split()
)
_FORMATS: Mapping[str, Verb] = {
    "uri": "connects",
    "url": "connects",
    "uri-reference": "connects",
    "hostname": "connects",
    "email": "sends",
}
_IN_WORDS: Mapping[Verb, str] = {
    "reads": "reads",
    "writes": "writes",
    "runs": "runs",
    "connects": "connects to",
    "sends": "sends to",
}
_DEEPEST = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class ProposedResources:
    """What a tool's arguments seem to be, for a reviewer to confirm.

    `resources` is as a list of tools declares them. `unknown` are arguments that could name
    anything; while there are any, the resources are not proposed as complete.
    """

    resources: Mapping[str, Any]
    unknown: tuple[str, ...]

    @property
    def sentence(self) -> str:
        """The proposal in words, empty if there is nothing to propose."""
        parts = [
            f"{_IN_WORDS[verb]} {_listed(self.resources[verb], verb)}"
            for verb in VERBS
            if verb in self.resources
        ]
        if not parts:
            return ""
        said = ", ".join(parts)
        if self.resources.get("complete"):
            return f"{said}, and nothing else"
        if not self.unknown:
            return f"{said}; the server does not say that this is all"
        return f"{said}; what {_listed([*self.unknown])} may name is not known"


def proposal_of(definition: Definition) -> ProposedResources:
    """Return what the names and formats of a tool's arguments suggest."""
    found: dict[str, list[Any]] = {}
    unknown: list[str] = []
    only_reads = _only_reads(definition)
    deep = is_of_folders(str(definition.get("name")))
    for steps, schema in _strings(definition.get("inputSchema"), ()):
        uses = _uses(steps, schema, only_reads=only_reads, deep=deep)
        if uses is None:
            unknown.append(".".join(steps))
        for verb, tree in uses or ():
            path = ".".join(steps)
            found.setdefault(verb, []).append({"path": path, "tree": True} if tree else path)
    resources: dict[str, Any] = {verb: found[verb] for verb in VERBS if verb in found}
    if resources and not unknown and _is_closed_world(definition):
        resources["complete"] = True
    return ProposedResources(resources=resources, unknown=tuple(unknown))


def _only_reads(definition: Definition) -> bool:
    """Return whether a tool seems to write nothing: by its name, and what the server says."""
    hints = definition.get("annotations")
    said = hints.get("readOnlyHint") if isinstance(hints, Mapping) else None
    words = set(_words(str(definition.get("name"))))
    if said is False or words & _WRITING:
        return False
    return said is True or bool(words & _READING)


def _is_closed_world(definition: Definition) -> bool:
    """Return whether the server itself does not say that the tool reaches further."""
    hints = definition.get("annotations")
    return isinstance(hints, Mapping) and hints.get("openWorldHint") is False


def _strings(
    schema: Any, steps: tuple[str, ...]
) -> Iterator[tuple[tuple[str, ...], Mapping[str, Any]]]:
    """Yield every argument that may be any string, by the steps that lead to it."""
    if not isinstance(schema, Mapping) or len(steps) > _DEEPEST:
        yield steps, {}
        return
    properties, items = schema.get("properties"), schema.get("items")
    if isinstance(properties, Mapping):
        for name, inner in properties.items():
            yield from _strings(inner, (*steps, name))
    elif isinstance(items, Mapping):
        yield from _strings(items, (*steps, "*"))
    elif steps and _may_be_any_string(schema):
        yield steps, schema


def _may_be_any_string(schema: Mapping[str, Any]) -> bool:
    if "enum" in schema or "const" in schema:
        return False
    if "type" not in schema:
        return True  # a reference, a union, or nothing said
    types = schema["type"] if isinstance(schema["type"], tuple) else (schema["type"],)
    return bool({"string", "object", "array"} & set(types))


def _uses(
    steps: tuple[str, ...], schema: Mapping[str, Any], *, only_reads: bool, deep: bool
) -> tuple[tuple[Verb, bool], ...] | None:
    """Return how an argument is used, each verb with whether for a tree; None if unknown."""
    name = next((step for step in reversed(steps) if step != "*"), "")
    words = _words(name)
    last = words[-1]
    verb = _FORMATS.get(str(schema.get("format")))
    if verb is None and last in _URLS:
        verb = "connects"
    if verb is None and last in _COMMANDS:
        verb = "runs"
    if verb is None and last in _RECIPIENTS:
        verb = "sends"
    if verb is not None:
        return ((verb, False),)
    if last in _TARGETS:
        return None if only_reads else (("writes", False),)
    if last in _PATHS or last == "source":
        tree = deep or bool(FOLDERS & set(words))
        return (("reads", tree),) if only_reads else (("reads", tree), ("writes", tree))
    return () if last in _CONTENT else None


def _words(name: str) -> list[str]:
    """Return the words of a name, in the singular."""
    words = re.split(r"[^a-z0-9]+", snake_case(name))
    return [word if word in _CONTENT else word.removesuffix("s") for word in words]


def _listed(entries: list[Any], verb: str = "") -> str:
    return " and ".join(_shown(entry, verb) for entry in entries)


def _shown(entry: Any, verb: str) -> str:
    if isinstance(entry, Mapping):
        return f"`{entry['path']}` and all below it"
    if verb not in ("reads", "writes") or _words(entry)[-1] in _FILES:
        return f"`{entry}`"
    return f"`{entry}` (with all below it if that is a folder)"
