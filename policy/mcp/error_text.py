"""What went wrong with a server, in one line, from whatever the SDK or a transport raises."""

from __future__ import annotations

from mcp import MCPError
from mcp.types import CONNECTION_CLOSED, URL_ELICITATION_REQUIRED
from pydantic import ValidationError

from policy.diagnostics import visible
from policy.mcp.errors import McpFailure
from policy.processes import Unavailable

# What the SDK reports in place of an answer. Servers use the code for errors of their own, too.
_ENDED = (CONNECTION_CLOSED, "Connection closed")
_LONGEST = 300
# Of what a server says, whole: it is redacted later, which finds no secret that was cut in two.
_LONGEST_ANSWER = 20_000


def is_end_of_connection(error: MCPError) -> bool:
    """Return whether the SDK reports that the connection has ended."""
    return (error.error.code, error.error.message) == _ENDED


def text_of(error: BaseException) -> str:
    """Return in one line, without control characters, what went wrong."""
    match error:
        case BaseExceptionGroup():
            return text_of(error.exceptions[0])
        case McpFailure() | Unavailable():
            return str(error)
        case MCPError() if is_end_of_connection(error):
            return "the connection to the server has ended"
        case MCPError() if error.error.code == URL_ELICITATION_REQUIRED:
            return (
                f"the server wants pages to be opened first (error {URL_ELICITATION_REQUIRED}), "
                "and such requests are not relayed"
            )
        case MCPError():
            return _answered(str(error))
        case ValidationError():
            first = error.errors(include_url=False, include_input=False)[0]
            place = ".".join(map(str, first["loc"]))
            what = visible(f"{place}: {first['msg']}", _LONGEST)
            return f"the server's answer is not valid: {what}"
        case OSError():
            name = f"`{error.filename}`: " if isinstance(error.filename, str) else ""
            what = visible(f"{name}{error.strerror or error}", _LONGEST)
            return f"the server cannot be started or reached: {what}"
        case _:
            what = visible(f"{type(error).__name__}: {error}", _LONGEST)
            return f"the connection to the server failed: {what}"


def _answered(said: str) -> str:
    if len(said) > _LONGEST_ANSWER:
        return (
            f"the server answered with an error of {len(said):,} characters, too long to be shown"
        )
    return f"the server answered with an error: {visible(said)}"
