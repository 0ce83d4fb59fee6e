"""Translates exceptions that tools raise to Placet's errors.

An exception of a tool is an object of the tool's, with whatever attributes and class the tool gave
it. Only the type of failure and one message are taken from it; the decision, the code and the id
of the call are not. Messages contain no secrets that can be recognised.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping

from policy.diagnostics import visible
from policy.environment import WorkspaceFull
from policy.model import SENTENCES, Execution, Timeout, ToolError, Transport, ValidationFailed
from policy.runtime import NoThreadFree
from policy.sandbox import SandboxDenied, SandboxMissing, SandboxTooWide
from policy.tools.exception_text import exception_text, without_secrets
from policy.tools.install_failed import InstallFailed
from policy.tools.output_invalid import OutputInvalid

_LOG = logging.getLogger(__name__)
_LONGEST = 1_000


def failure(
    error: Exception, name: str, *, quoted: bool, environment: Mapping[str, str]
) -> ToolError:
    """Return the error for the caller, from an error in the tool `name`.

    With `quoted`, the message contains the text of an exception of any class. The values of
    `environment` are in no message.
    """
    if type(error) is NoThreadFree:
        return Execution(name, str(error))
    caused = _by_surroundings(error, name, environment)
    if caused is not None:
        return caused
    if not isinstance(error, ToolError):
        text = exception_text(error, environment) if quoted else ""
        named = f"{name} failed: {_named(error)}"
        return Execution(name, f"{named}: {text}" if text else named)
    said = _text(error, "message")
    if said is None:
        return Execution(name, f"{name} failed: {_named(error)}")
    message = without_secrets(said, environment)
    if not isinstance(error, _OF_TOOLS) or _text(error, "tool") != name:
        # The error of another tool that this one called is not about this call.
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


def _by_surroundings(
    error: Exception, name: str, environment: Mapping[str, str]
) -> ToolError | None:
    """Return the error that what is around a tool has caused; None for others."""
    if type(error) is SandboxMissing:
        said = f": {visible(str(error), _LONGEST)}" if error.for_caller else ""
        return Execution(name, f"{SENTENCES['sandbox-missing']}{said}", code="sandbox-missing")
    if type(error) is SandboxTooWide:
        return Execution(name, SENTENCES["sandbox-too-wide"], code="sandbox-too-wide")
    if type(error) is SandboxDenied:
        full = f"{name} failed: {error}. {error.denial.sentence()}"
        kind = Transport if error.uncertain else Execution
        return kind(name, without_secrets(full, environment), code=error.denial.code)
    if type(error) is WorkspaceFull:
        _LOG.warning("%s does not run in a full workspace: %s", name, error)
        return Execution(name, SENTENCES["workspace-full"], code="workspace-full")
    if type(error) is InstallFailed:
        why = without_secrets(str(error), environment)
        return Execution(name, f"{SENTENCES['install-failed']}: {why}", code="install-failed")
    if type(error) is OutputInvalid:
        why = without_secrets(str(error), environment)
        return Execution(name, f"{SENTENCES['output-invalid']}: {why}", code="output-invalid")
    return None


_OF_TOOLS = (Execution, Transport, Timeout, ValidationFailed)


def _named(error: Exception) -> str:
    return visible(type(error).__name__, 120)


def _text(error: ToolError, name: str) -> str | None:
    """Return a text attribute of an error; None if it is not a string."""
    try:
        value: object = getattr(error, name, None)
    except Exception:  # noqa: BLE001 - a class of the tool may raise anything
        return None
    return value if type(value) is str else None


def _seconds(error: Timeout) -> float:
    seconds: object = getattr(error, "seconds", None)
    return float(seconds) if type(seconds) in (int, float) else 0.0  # type: ignore[arg-type]
