"""Calls that differ from a given call in one thing each, which a proposal must not allow."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from policy.model import Caller, Facts, ToolCall, thaw
from policy.verify.proposal.exact_condition import ExactCall

_OTHER = "other"
_MOST = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class NearMiss:
    """One such call, and how it differs: `of_input` if only in the input."""

    call: ToolCall
    caller: Caller
    facts: Facts
    differs_in: str
    of_input: bool = False


def near_misses(asked: ExactCall, tools: tuple[str, ...]) -> Iterator[NearMiss]:
    """Yield calls close to this one: by others, elsewhere, with one value changed or added.

    The same input for each of `tools` is included as well.
    """
    caller, facts = asked.caller, asked.facts
    for tool in tools:
        if tool != asked.call.tool:
            same = ToolCall(tool=tool, input=asked.call.input)
            yield NearMiss(call=same, caller=caller, facts=facts, differs_in="tool")
    for other, what in _callers(caller):
        yield NearMiss(call=asked.call, caller=other, facts=facts, differs_in=what)
    if facts.workspace is not None:
        elsewhere = replace(facts, workspace=f"{facts.workspace}-{_OTHER}", cwd=None)
        yield NearMiss(call=asked.call, caller=caller, facts=elsewhere, differs_in="workspace")
    inputs = _changed(thaw(asked.call.input), "input")
    for number, (input, what) in enumerate((*inputs, *_added(asked))):
        if number >= _MOST:
            return
        call = ToolCall(tool=asked.call.tool, input=input)
        yield NearMiss(call=call, caller=caller, facts=facts, differs_in=what, of_input=True)


def _callers(caller: Caller) -> Iterator[tuple[Caller, str]]:
    yield replace(caller, agent=f"{caller.agent}-{_OTHER}"), "agent"
    yield replace(caller, user=f"{caller.user or ''}{_OTHER}"), "user"
    yield replace(caller, role=f"{caller.role}-{_OTHER}"), "role"
    if caller.user is not None:
        yield replace(caller, user=None), "user"


def _added(asked: ExactCall) -> Iterator[tuple[Any, str]]:
    """Yield the input with each field that it leaves out, as values of several types."""
    known = asked.spec.schema.get("properties")
    for name, schema in (known if isinstance(known, Mapping) else {}).items():
        if name in asked.call.input:
            continue
        for value in _of(schema):
            yield {**thaw(asked.call.input), name: value}, f"input.{name}"


def _of(schema: Any) -> tuple[Any, ...]:
    choices = schema.get("enum") if isinstance(schema, Mapping) else None
    if isinstance(choices, list | tuple) and choices:
        return tuple(thaw(choice) for choice in choices[:3])
    return (_OTHER, 1, True, [_OTHER], {_OTHER: _OTHER})


def _changed(value: Any, place: str) -> Iterator[tuple[Any, str]]:
    """Yield `value` with one change in it."""
    match value:
        case dict():
            for name, item in value.items():
                rest = {key: kept for key, kept in value.items() if key != name}
                yield rest, f"{place}.{name}"
                for other, what in _changed(item, f"{place}.{name}"):
                    yield {**value, name: other}, what
            yield {**value, f"x_{_OTHER}": _OTHER}, place
        case list():
            for index, item in enumerate(value):
                for other, what in _changed(item, f"{place}[{index}]"):
                    yield [*value[:index], other, *value[index + 1 :]], what
            yield [*value, *(value[-1:] or [_OTHER])], place
            if value:
                yield value[:-1], place
        case bool():
            yield not value, place
        case int() | float():
            yield value + 1, place
            yield value - 1, place
        case str():
            yield from ((other, place) for other in _texts(value))
        case _:
            yield _OTHER, place


def _texts(value: str) -> Iterator[str]:
    yield f"{value}{_OTHER}"
    yield f"{_OTHER}{value}"
    yield f"{value}/{_OTHER}"
    if value:
        yield value[:-1]
    if value.swapcase() != value:
        yield value.swapcase()
