"""What a server reports on standard error, one line each."""

from __future__ import annotations

import logging
import sys
from contextlib import suppress

import click

from policy.approvals import Filed
from policy.cli.serving.governed_service import GovernedServices
from policy.decision import GenerationId
from policy.diagnostics import visible
from policy.store import Reloaded, Status


def welcome(how: str, governed: GovernedServices) -> str:
    """Return the line of the start: how, for whom and where tools are served."""
    serving = governed.serving
    caller = governed.caller
    who = visible(f"{caller.role} as agent {caller.agent}", 200)
    asks = visible(governed.approving.description, 300)
    if serving.over_http:
        known = _known(governed)
        if serving.token is None and not known:
            who, asks = "anonymous callers", "every call is denied without --token-file"
        elif known:
            who = ", ".join((*known, *((who,) if serving.token is not None else ())))
    return f"serving on {how} for {who}; {governed.workspace_line}; {asks}"


def _known(governed: GovernedServices) -> list[str]:
    """Return who has tokens of their own, in words."""
    clients = governed.clients
    count = len(clients.clients)
    found = [f"{count} client{'s' if count > 1 else ''}"] if count else []
    if clients.jwt is not None:
        found.append(f"users of {visible(clients.jwt.issuer, 200)}")
    return found


class ReloadReporter:
    """Reports changes of the policy: a line for each that makes a difference.

    Files that are read again without a change, and the start of watching them, make none.
    """

    def __init__(self) -> None:
        self._reported: tuple[object, ...] | None = None
        self._digest: str | None = None

    def __call__(self, outcome: Reloaded) -> None:
        """Report the outcome of a reload."""
        status, force = outcome.status, outcome.status.generation
        state = (force and force.number, status.stale, status.because)
        if state == self._reported:
            return
        self._reported = state
        say(f"{self._state(status, force)} ({outcome.milliseconds:.0f} ms)")
        self._digest = None if force is None else force.digest

    def _state(self, status: Status, force: GenerationId | None) -> str:
        because = visible(status.because or "", 500)
        if force is None:
            return f"no policy in force, everything is denied: {because}"
        named = f"generation {force.number} {force.digest[:19]}"
        if status.stale:
            return f"stale: {named} stays in force: {because}"
        if force.digest == self._digest and force.number > 1:
            return f"{named} in force: the tools have changed, and the rules have not"
        return f"{named} in force"


def say_question(filed: Filed) -> None:
    """Report a new question, and how it is answered."""
    request = filed.request
    if filed.state != "pending" or filed.people:
        return
    what = visible(f"agent {request.caller.agent} asks to run {request.tool}", 300)
    say(f"{what}: placet approvals show {visible(request.id[:8])}")


def say(line: str) -> None:
    """Report a line."""
    with suppress(OSError):  # standard error may be closed
        click.echo(f"placet: {line}", err=True)


class _OneLine(logging.Formatter):
    """Log records as single lines, with the kind of an exception instead of its traceback."""

    def format(self, record: logging.LogRecord) -> str:
        kind = record.exc_info[0] if record.exc_info else None
        why = "" if kind is None else f" ({kind.__name__})"
        return f"placet: {visible(record.getMessage(), 500)}{why}"


def log_to_stderr() -> None:
    """Report warnings of libraries in the same way."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_OneLine())
    logging.basicConfig(level=logging.WARNING, handlers=[handler], force=True)
