"""What `placet freeze` and `placet unfreeze` share: who does it, its record, its output."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Literal, TypeAlias

import click

from policy.audit import AuditFileUnfit, JsonlSink
from policy.cli.config_edit import audit_file
from policy.cli.loading import exit_with
from policy.cli.person import person_of
from policy.diagnostics import visible
from policy.generation import state_folder, state_folders
from policy.model import Caller
from policy.service import ExecAuditLayer, Freezes, GuardCell
from policy.store import Freezer, Freezing

Shape: TypeAlias = Literal["text", "json"]
_AGENT = "placet freeze"
_LONGEST = 300
_APPEND = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NONBLOCK


def rules_option(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add the option that names the policy."""
    return click.option(
        "--rules",
        "path",
        type=click.Path(path_type=Path),
        default="rules",
        show_default=True,
        help="The policy that is served.",
    )(function)


class EmergencyStop:
    """The emergency stop of one policy, for the user of the operating system who runs a command."""

    def __init__(self, path: Path, sink: JsonlSink | None) -> None:
        self.path = path
        self.place = state_folder(path)
        self._freezes = Freezes(
            Freezer.of(path),
            GuardCell(),
            recorded=lambda inner: ExecAuditLayer(inner, sink=sink),
        )
        self._caller = Caller(agent=_AGENT, user=person_of(None).id)

    def freeze(self, tools: Iterable[str], *, because: str, cancel: bool) -> Freezing:
        """Freeze tools, and record it."""
        done = self._freezes.freeze(self._caller, tools, because=because, cancel=cancel)
        return asyncio.run(done)

    def unfreeze(self) -> Freezing:
        """Lift every freeze, and record it; return what was frozen."""
        return asyncio.run(self._freezes.unfreeze(self._caller))


def emergency_stop_of(path: Path, *, always: bool) -> EmergencyStop:
    """Return the emergency stop of a policy.

    With `always`, it works even if no record can be written, with a warning.
    """
    is_there = os.path.exists(path)
    if not is_there and not any(folder.exists() for folder in state_folders(path)):
        exit_with(f"there is no policy at {path}: name the policy that is served with --rules")
    audit = audit_file(path) if is_there else None
    if audit is None:
        return EmergencyStop(path, None)
    try:
        sink = JsonlSink(audit)
        # Non-blocking: the path may have become a pipe that has no reader.
        os.close(os.open(audit, _APPEND, 0o600))
    except (AuditFileUnfit, OSError) as error:
        reason = error.strerror if isinstance(error, OSError) else None
        why = f"it cannot be recorded in {audit}: {reason or error}"
        if not always:
            exit_with(why)
        click.echo(f"placet: {visible(why, 1000)}", err=True)
        return EmergencyStop(path, None)
    return EmergencyStop(path, sink)


def shown(freezing: Freezing, format: Shape) -> str:
    """Return what is frozen, as lines for people or as JSON."""
    if format == "json":
        return json.dumps(as_json(freezing))
    return "\n".join(lines(freezing))


def lines(freezing: Freezing) -> Iterable[str]:
    """Yield a line for each freeze."""
    for one in freezing.freezes:
        tools = "every tool" if one.tools == ("*",) else ", ".join(one.tools)
        since = "" if one.at is None else f" since {one.at:%Y-%m-%dT%H:%M:%SZ}"
        by = f" by {visible(one.by, 80)}" if one.by else ""
        cancel = "; calls that ran were ended" if one.cancel else ""
        because = visible(one.because, _LONGEST)
        yield f"frozen{since}{by}: {visible(tools, 1000)}, because {because}{cancel}"


def as_json(freezing: Freezing) -> dict[str, Any]:
    """Return what is frozen, as JSON."""
    return {
        "frozen": bool(freezing),
        "broken": freezing.broken,
        "freezes": [one.as_json() for one in freezing.freezes],
    }
