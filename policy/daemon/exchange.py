"""What a hook process sends to the daemon, and the answer it gets: one line of JSON each way.

Everything here is imported by every hook call, so it needs only what Python starts with.
"""

from __future__ import annotations

import json
from typing import Any, NamedTuple

# One request is one hook input, which the agent has in memory already; the rest of a line is small.
LONGEST_INPUT = 16 * 1024 * 1024
LONGEST_LINE = 6 * LONGEST_INPUT + 65_536


class Malformed(ValueError):
    """A line that is not one of ours."""


class Request(NamedTuple):
    """One hook call: what the agent wrote to standard input, and where the hook process stands.

    `policy` is an absolute path. `workspace`, `caller` and `audit` are what the command line says;
    None leaves them to the configuration. `project` is the folder the agent says it works on.
    `denies_asks` turns every ask into a denial.
    """

    agent: str
    policy: str
    cwd: str
    home: str
    input: str
    workspace: str | None = None
    project: str | None = None
    caller: str | None = None
    audit: str | None = None
    denies_asks: bool = False


class Answer(NamedTuple):
    """What the hook process prints, and its exit status."""

    status: int
    stdout: str = ""
    stderr: str = ""


# The exit status that blocks the call, in every agent that is supported.
BLOCKED = 2


def blocked(why: str) -> Answer:
    """Return the answer that blocks a call in every supported agent, with the reason.

    Codex ignores the status without a reason, so there always is one.
    """
    return Answer(status=BLOCKED, stderr=f"placet: {why or 'the call is denied'}\n")


def line_of(kind: str, **fields: Any) -> bytes:
    """Return one message as a line of ASCII JSON."""
    return json.dumps({"kind": kind, **fields}).encode("ascii") + b"\n"


def message_in(line: bytes) -> dict[str, Any]:
    """Return the message in a line; raise Malformed where it is none."""
    try:
        message = json.loads(line)
    except ValueError as error:
        raise Malformed("not JSON") from error
    if not isinstance(message, dict) or not isinstance(message.get("kind"), str):
        raise Malformed("not a message")
    return message


def request_in(message: dict[str, Any]) -> Request:
    """Return the request in a message; raise Malformed where a field is missing or wrong."""
    given: dict[str, Any] = {name: message.get(name) for name in Request._fields}
    for name in ("agent", "policy", "cwd", "home", "input"):
        if not isinstance(given[name], str):
            raise Malformed(f"no {name}")
    for name in ("workspace", "project", "caller", "audit"):
        if not isinstance(given[name], str | None):
            raise Malformed(f"wrong {name}")
    if type(given["denies_asks"]) is not bool:
        raise Malformed("wrong denies_asks")
    return Request(**given)


def answer_in(message: dict[str, Any]) -> Answer:
    """Return the answer in a message; raise Malformed where a field is missing or wrong."""
    status, stdout, stderr = (message.get(name) for name in Answer._fields)
    if type(status) is not int or not isinstance(stdout, str) or not isinstance(stderr, str):
        raise Malformed("no answer")
    return Answer(status=status, stdout=stdout, stderr=stderr)
