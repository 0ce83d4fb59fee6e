"""Reads what a server answered from a recording, in place of asking it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from policy.pins.definitions import ServerDefinitions, UnusableDefinitions, definitions_of


def recorded_definitions(server: str, value: Any) -> ServerDefinitions:
    """Return a server's definitions from its recorded answers; raises UnusableDefinitions.

    A recording is an object of answers by their method, `initialize`, `tools/list` and
    `prompts/list`; or an answer to `tools/list`, or a list of tools.
    """
    answers = value if isinstance(value, Mapping) else {}
    tools = _entries(answers.get("tools/list", value), "tools")
    if tools is None:
        raise UnusableDefinitions("this is neither a list of tools nor a record of answers")
    prompts = _entries(_answer(answers, "prompts/list"), "prompts")
    if prompts is None:
        raise UnusableDefinitions("`prompts/list` is no list of prompts")
    hello = answers.get("initialize", {})
    return definitions_of(
        server,
        tools=tools,
        prompts=prompts,
        instructions=hello.get("instructions") if isinstance(hello, Mapping) else None,
    )


def _answer(answers: Mapping[str, Any], method: str) -> Any:
    """Return an answer, that of a server without the method as an empty list."""
    answer = answers.get(method, [])
    return [] if isinstance(answer, Mapping) and "error" in answer else answer


def _entries(value: Any, key: str) -> list[Any] | None:
    for inside in ("result", key):
        if isinstance(value, Mapping) and inside in value:
            value = value[inside]
    return value if isinstance(value, list) else None
