"""What an agent gets from a call, as the history of its session keeps it."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from policy.model import SUCCEEDED, CallOutput, Outcome, Timeout, freeze
from policy.tools import RelayedResult, ToolOutput


def told_by(output: ToolOutput) -> CallOutput | None:
    """Return what an output tells; None if it cannot be kept.

    The result of a call that reports an error is a text like any other: rules read no fields of it.
    """
    try:
        value = freeze(output.value)
        beside = () if output.relayed is None else _texts_beside(output.relayed)
    except RecursionError:
        return None
    if not output.is_error:
        # Without a value there is nothing to find in it; None would mean that it is not known.
        return CallOutput(result="" if value is None else value, texts=beside)
    return CallOutput(texts=(*beside, *_texts_in(value)))


def told_by_error(error: BaseException) -> CallOutput:
    """Return what an agent is told of an error."""
    return CallOutput(texts=(str(error),))


def outcome_of(error: BaseException | None) -> Outcome:
    """Return the outcome of a call that ended with this error; None: it succeeded."""
    if error is None:
        return SUCCEEDED
    if isinstance(error, asyncio.CancelledError):
        return "cancelled"
    return "timeout" if isinstance(error, Timeout) else "failed"


def _texts_beside(relayed: RelayedResult) -> tuple[str, ...]:
    """Return the texts of a server's result that stand beside its structured content."""
    parts = (relayed.meta, relayed.more)
    if relayed.structured is None:
        return tuple(text for part in parts for text in _texts_in(part))
    return tuple(text for part in (relayed.content, *parts) for text in _texts_in(part))


def _texts_in(value: Any) -> tuple[str, ...]:
    """Return every text in a value, keys included."""
    if isinstance(value, str):
        return (value,)
    if isinstance(value, Mapping):
        return tuple(text for key, item in value.items() for text in (str(key), *_texts_in(item)))
    if isinstance(value, (list, tuple)):
        return tuple(text for item in value for text in _texts_in(item))
    return () if value is None or isinstance(value, bool) else (str(value),)
