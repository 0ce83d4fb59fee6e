"""What a call would do, one line per effect, for those who approve it.

They list declared arguments and, for commands, what they run, read, write and connect to, as the
policy sees it. The lines are part of what an approval is bound to: a path that leads elsewhere by
the time of the answer makes it another call. They are facts about the call, not about the rules.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from policy.catalog import VERBS, ToolSpec
from policy.decision import ValuePlace
from policy.diagnostics import visible
from policy.evaluation import CallEffects, DeclaredResources, Evaluation, KnownResource
from policy.generation import Generation
from policy.model import Caller
from policy.programs import NO_PROFILES, Invocation
from policy.service.judging.adjudicator import Judgement
from policy.values import Endpoint, Path, Unreadable

_LONGEST = 500
_MOST = 50
_TO = {"connects": "connects to", "sends": "sends to"}


def resource_lines(
    judgement: Judgement, caller: Caller, *, input: Mapping[str, Any] | None = None
) -> tuple[str, ...]:
    """Return everything that is known of what the call does, each access once, unescaped.

    With an `input`, what the call would do with this input instead of its own.
    """
    asked = judgement.decision.call.input if input is None else input
    return tuple(dict.fromkeys(_lines(judgement, caller, asked)))


def shown_lines(lines: tuple[str, ...]) -> tuple[str, ...]:
    """Return lines for people: bounded, cuts marked, hidden characters escaped."""
    shown = tuple(visible(line, _LONGEST) for line in lines[:_MOST])
    more = len(lines) - len(shown)
    return (*shown, f"and {more} more") if more else shown


def value_lines(values: tuple[ValuePlace, ...]) -> tuple[str, ...]:
    """Return lines for people about where values of the call stand, or that they stand nowhere.

    They are no part of what an approval is bound to: another call changes them.
    """
    said = (f"{json.dumps(one.value, ensure_ascii=False)} stands {one.place}" for one in values)
    return shown_lines(tuple(dict.fromkeys(said)))


def _lines(judgement: Judgement, caller: Caller, input: Mapping[str, Any]) -> Iterator[str]:
    for effects in _effects(judgement, caller, input):
        for verb in VERBS:
            yield from (_line(verb, item) for item in effects.each(verb))
            not_shown = effects.not_shown(verb)
            if not_shown:
                yield f"{_said(verb)} resources that the call does not name ({not_shown})"
        for command in (one for one in effects.unprofiled if not one.profiled):
            yield f"may do anything with its arguments: {command.command.text}"
        if effects.unseen:
            yield "runs code, whose effects are not known from its arguments"
        if not effects.complete:
            yield "may do more, as its effects are not fully declared"


def _effects(
    judgement: Judgement, caller: Caller, input: Mapping[str, Any]
) -> Iterator[CallEffects]:
    """Yield what the call does, by each layer's declarations of the tool's arguments."""
    spec, judge, facts = judgement.spec, judgement.judge, judgement.facts
    if spec is None:
        return
    known: list[DeclaredResources] = []
    slots = 0
    if isinstance(judge, Generation):
        facts, slots = judge.complete(facts), judge.program.slots
        for one in caller.chain():
            plan = judge.program.plan(spec, agent=one.agent, role=one.role)
            known += [layer.declared for layer in plan.layers]
    root = Evaluation(spec, input, caller=caller, facts=facts, slots=slots)
    for declared in known or [_of_tool(spec)]:
        yield root.effects(declared)


def _of_tool(spec: ToolSpec) -> DeclaredResources:
    """Return a tool's own declarations, where no policy adds any."""
    return DeclaredResources(
        spec.resources, complete=spec.complete, unseen=spec.unseen, profiles=NO_PROFILES
    )


def _line(verb: str, item: KnownResource) -> str:
    access = item.access
    by = ""
    if access is not None and access.by is not None and access.by.program:
        by = f", by {' '.join(access.by.program)}"
    return f"{_said(verb)} {_what(item)}{by}"


def _said(verb: str) -> str:
    return _TO.get(verb, verb)


def _what(item: KnownResource) -> str:
    thing = item.thing
    match thing:
        case Path():
            return _path(thing)
        case Endpoint():
            path = thing.path if thing.path is not None else "/… (unclear)"
            host = f"[{thing.host}]" if ":" in thing.host else thing.host
            return f"{thing.scheme}://{host}:{thing.port}{path}"
        case Unreadable(reason=reason):
            return f"{item.shown} (cannot be read: {reason})"
        case Invocation() | str():
            return item.shown


def _path(path: Path) -> str:
    below = ""
    if path.tree:
        below = f" and what matches {path.names} below it" if path.names else " and all below"
    if path.resolved is not None and path.resolved != path.lexical:
        return f"{path.resolved}{below} (through {path.lexical})"
    return f"{path.lexical}{below}"
