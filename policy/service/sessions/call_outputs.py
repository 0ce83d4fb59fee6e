"""What an agent gets from a call, as the history of its session keeps it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

from policy.model import SUCCEEDED, CallOutput, Outcome, Timeout, freeze
from policy.program import texts_of_result
from policy.tools import RelayedResult, ToolOutput, parts_of


def told_by(output: ToolOutput, told: tuple[str, ...] = ()) -> CallOutput | None:
    """Return what an output tells, and what was `told` before it; None if it cannot be kept.

    The result of a call that reports an error is a text like any other: rules read no fields of it.
    """
    try:
        value = freeze(output.value)
        beside = (*told, *_texts_beside(output))
        if not output.is_error:
            # Without a value there is nothing to find in it; None would mean that it is not known.
            return CallOutput(result="" if value is None else value, texts=beside)
        return CallOutput(texts=(*beside, *texts_of_result(value)))
    except (RecursionError, ValueError):
        return None


def told_by_error(error: BaseException, told: tuple[str, ...] = ()) -> CallOutput:
    """Return what an agent is told of an error, and what it was `told` before."""
    return CallOutput(texts=(*told, str(error)))


def outcome_of(error: BaseException | None) -> Outcome:
    """Return the outcome of a call that ended with this error; None: it succeeded."""
    if error is None:
        return SUCCEEDED
    if isinstance(error, asyncio.CancelledError):
        return "cancelled"
    return "timeout" if isinstance(error, Timeout) else "failed"


def _texts_beside(output: ToolOutput) -> tuple[str, ...]:
    """Return the texts of a server's result that its value does not have, each once.

    Beside structured content these are all: a label may mark fields of that alone.
    """
    result = output.relayed
    if result is None:
        return ()
    of_value = set(texts_of_result(output.value, decodes=False))
    known: set[str] = set()
    if result.structured is None:
        known = {*of_value, *_joined_texts(result)}
    beside = (
        text
        for part in parts_of(result)
        for text in texts_of_result(part.value, words=part.words)
        # Structured content is the value: only what its encoded parts say is not in it.
        if part.name != "structured" or text not in of_value
    )
    return tuple(text for text in dict.fromkeys(beside) if text not in known)


def _joined_texts(result: RelayedResult) -> Iterator[str]:
    """Yield the texts that the value of a result without structured content is joined of."""
    if all(block.get("type") == "text" for block in result.content):
        yield from (str(block.get("text", "")) for block in result.content)
