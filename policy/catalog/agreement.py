"""Whether a list of tools describes a tool as the program that runs it defines it.

The program's definition is the one that calls are validated with and rules are checked against. A
list may leave things out, word them otherwise, and add to what policies know of the tool; it may
not contradict it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from policy.catalog.schemas.differences import schema_differences
from policy.catalog.schemas.model_form import schema_strictify
from policy.catalog.tool import Resource, ToolSpec
from policy.model import thaw
from policy.values import quote

_FACTS = ("category", "read_only", "destructive", "idempotent")


@dataclass(frozen=True, slots=True, kw_only=True)
class RunningTool:
    """A tool that a program runs; `defined_at` is where the program defines it, for messages."""

    spec: ToolSpec
    defined_at: str


def contradictions(listed: ToolSpec, own: ToolSpec) -> tuple[str, ...]:
    """Return what a list declares of a tool beyond its own definition, one sentence each."""
    if listed.fault is not None or own.fault is not None:
        return ()
    return (*schema_differences(listed.schema, own.schema), *_facts(listed, own))


def _outputs_differ(listed: ToolSpec, own: ToolSpec) -> bool:
    """Return whether both declare what the tool returns, and not the same."""
    if not listed.output or not own.output:
        return False
    return bool(thaw(schema_strictify(listed.output)) != thaw(schema_strictify(own.output)))


def _facts(listed: ToolSpec, own: ToolSpec) -> Iterator[str]:
    for name in _FACTS:
        theirs, mine = getattr(listed, name), getattr(own, name)
        if None not in (theirs, mine) and theirs != mine:
            yield f"`{name}` is {_value(theirs)} in the list, {_value(mine)} in the tool"
    if _outputs_differ(listed, own):
        yield "what it returns is declared otherwise in the list"
    if not listed.resources:
        return
    named = set(map(_argument, listed.resources))
    for verb, path in sorted(set(map(_argument, own.resources)) - named):
        yield f"the list does not say that the tool {verb} {quote(path)}"


def completed(own: ToolSpec, listed: ToolSpec) -> ToolSpec:
    """Return a tool's own definition with what a list adds to it."""
    facts = {
        name: getattr(listed, name) if getattr(own, name) is None else getattr(own, name)
        for name in _FACTS
    }
    found = replace(
        own,
        **facts,
        output=own.output or listed.output,
        resources=tuple(dict.fromkeys((*own.resources, *listed.resources))),
        complete=own.complete or listed.complete,
        unseen=own.unseen or listed.unseen,
        exec_class=own.exec_class or listed.exec_class,
        requires_confirmation=own.requires_confirmation or listed.requires_confirmation,
    )
    return own if found == own else found


def _argument(resource: Resource) -> tuple[str, str]:
    return resource.verb, ".".join(resource.steps)


def _value(fact: object) -> str:
    return quote(fact) if isinstance(fact, str) else str(fact).lower()
