"""Suggests the `tool` statement for a tool whose resources nobody has declared.

It goes by the names of its fields and by what the rules ask, and is only ever shown as help.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType

from policy.catalog import VERBS, ToolSpec, Verb, fields_of

_TO = {"connects": " to", "sends": " to"}
# The last word of a field's name, and what a resource of this name is for.
_PATHS = frozenset(
    "path paths file files filename folder folders dir directory source src destination dest "
    "target attachment attachments document documents".split()
)
_VERBS: Mapping[str, Verb] = MappingProxyType(
    {
        **dict.fromkeys(
            "url urls uri link links host hosts hostname endpoint domain webhook hook".split(),
            "connects",
        ),
        **dict.fromkeys("command commands cmd script".split(), "runs"),
        **dict.fromkeys(
            "to cc bcc recipient recipients email emails address addresses mailto channel".split(),
            "sends",
        ),
    }
)
_WORDS = re.compile(r"[A-Z]?[a-z0-9]+|[A-Z]+(?![a-z])")
_TEXTS = frozenset({"string", "list", "any"})


def likely_declaration(spec: ToolSpec, asked: Iterable[Verb]) -> str:
    """Return a `tool` statement for a tool; `asked` are the verbs of the rule that needs one."""
    verbs = list(dict.fromkeys(asked)) or ["reads"]
    found: dict[Verb, list[str]] = {}
    for name, verb in _likely(spec, verbs):
        found.setdefault(verb, []).append(f"input.{name}")
    if not found:
        found = {verbs[0]: ["input.…"]}
    effects = " ".join(
        f"{verb}{_TO.get(verb, '')} {', '.join(found[verb])}" for verb in VERBS if verb in found
    )
    return f"tool {spec.name} {effects} and nothing else"


def _likely(spec: ToolSpec, asked: list[Verb]) -> Iterator[tuple[str, Verb]]:
    """Yield the fields that are probably resources, each with its verb."""
    path_verb: Verb = next((verb for verb in asked if verb in ("reads", "writes")), "reads")
    for name, info in (fields_of(spec.schema) or {}).items():
        words = _WORDS.findall(name)
        last = words[-1].lower() if words else ""
        if info.types.isdisjoint(_TEXTS) or not name.isidentifier():
            continue
        if last in _PATHS:
            yield name, path_verb
        elif last in _VERBS:
            yield name, _VERBS[last]
