"""The messages between a hook process and the daemon: one line of JSON each way.

A hook call imports this, so it needs only what Python starts with, and no types at run time.
"""

from __future__ import annotations

import json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeAlias

    # A message is an object with a `kind`. What else it holds depends on that.
    Message: TypeAlias = dict[str, Any]

# One request is one hook input, which the agent has in memory already; the rest of a line is small.
LONGEST_INPUT = 16 * 1024 * 1024
LONGEST_LINE = 6 * LONGEST_INPUT + 65_536
# The exit status that blocks the call, in every agent that is supported.
BLOCKED = 2


class Malformed(ValueError):
    """A line that is not a message, or a message without a required key."""


def answered(status: int, *, stdout: str = "", stderr: str = "") -> Message:
    """Return the message with the output and exit status of a hook process."""
    return {"kind": "answer", "status": status, "stdout": stdout, "stderr": stderr}


def blocked(why: str) -> Message:
    """Return the answer that blocks a call in every supported agent, with the reason.

    Codex ignores the status without a reason, so there always is one.
    """
    return answered(BLOCKED, stderr=f"placet: {why or 'the call is denied'}\n")


def line_of(message: Message) -> bytes:
    """Return one message as a line of ASCII JSON."""
    return json.dumps(message).encode("ascii") + b"\n"


def message_in(line: bytes) -> Message:
    """Return the message in a line; raise Malformed if it is not valid."""
    try:
        message = json.loads(line)
    except ValueError as error:
        raise Malformed("not JSON") from error
    if not isinstance(message, dict) or not isinstance(message.get("kind"), str):
        raise Malformed("not a message")
    if message["kind"] == "answer":
        status, out, err = (message.get(name) for name in ("status", "stdout", "stderr"))
        if type(status) is not int or not isinstance(out, str) or not isinstance(err, str):
            raise Malformed("not a whole answer")
    return message
