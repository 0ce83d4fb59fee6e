"""Errors that a tool raised, as errors of Placet's own.

An exception of a tool is an object of the tool's, with whatever attributes and class the tool gave
it. What it may say is how the call failed, and one message; the decision, the code and the id of
the call are not its to say.
"""

from __future__ import annotations

from policy.diagnostics import visible
from policy.model import Execution, Timeout, ToolError, Transport, ValidationFailed
from policy.runtime import NoThreadFree


def failure(error: Exception, name: str) -> ToolError:
    """Return what an error in the tool `name` is to its caller."""
    if type(error) is NoThreadFree:
        return Execution(name, str(error))
    if not isinstance(error, ToolError):
        return Execution(name, f"{name} failed: {_named(error)}")
    message = _text(error, "message")
    if message is None:
        return Execution(name, f"{name} failed: {_named(error)}")
    if not isinstance(error, _OF_TOOLS) or _text(error, "tool") != name:
        # What another tool said to this one is no statement about this call.
        return Execution(name, f"{name} failed: {message}")
    made: ToolError
    if isinstance(error, Timeout):
        made = Timeout(name, message, seconds=_seconds(error))
    elif isinstance(error, Transport):
        made = Transport(name, message)
    elif isinstance(error, ValidationFailed):
        made = ValidationFailed(name, message)
    else:
        made = Execution(name, message)
    return made


_OF_TOOLS = (Execution, Transport, Timeout, ValidationFailed)


def _named(error: Exception) -> str:
    return visible(type(error).__name__, 120)


def _text(error: ToolError, name: str) -> str | None:
    """Return a text that an error carries; None where it holds something else by now."""
    try:
        value: object = getattr(error, name, None)
    except Exception:  # noqa: BLE001 - a class of the tool's own may answer as it likes
        return None
    return value if type(value) is str else None


def _seconds(error: Timeout) -> float:
    seconds: object = getattr(error, "seconds", None)
    return float(seconds) if type(seconds) in (int, float) else 0.0  # type: ignore[arg-type]
