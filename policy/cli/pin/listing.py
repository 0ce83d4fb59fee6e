"""`placet pin list`: the servers and tools of a lock."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal

import click

from policy.catalog import VERBS
from policy.cli.loading import as_json, counted
from policy.cli.options import format_option, path_argument
from policy.cli.pin.lock_at import lock_at
from policy.diagnostics import visible
from policy.model import thaw
from policy.pins import Lock, Pin, ServerPins


@click.command("list")
@path_argument
@format_option
def list_command(path: Path, *, format: Literal["text", "json"]) -> None:
    """List the servers and tools that are pinned, and who accepted each of them last.

    \b
    Examples:
      placet pin list
      placet pin list rules/ --format json
    """
    at = lock_at(path)
    if format == "json":
        click.echo(as_json({name: _server(pins) for name, pins in at.lock.servers.items()}))
        return
    if not at.lock.servers:
        click.echo(f"nothing is pinned in {at.shown}")
    for line in _lines(at.lock):
        click.echo(line)


def _lines(lock: Lock) -> Iterator[str]:
    for name, pins in lock.servers.items():
        count = f"{counted(len(pins.tools), 'tool')}, {counted(len(pins.prompts), 'prompt')}"
        yield f"{visible(name, 80)}: {count}, accepted by {_who(pins)}"
        program = pins.about.program
        if program is not None:
            package = f" ({visible(program.package, 200)})" if program.package else ""
            yield f"  program {visible(' '.join(program.command), 500)}{package}"
        for tool, pin in pins.tools.items():
            who = "" if pin.reviewed == pins.reviewed else f"accepted by {_who(pin)}"
            said = "; ".join(filter(None, (_resources(pin.resources), who)))
            yield f"  {visible(tool, 80)}{f'  {said}' if said else ''}"


def _who(pins: ServerPins | Pin) -> str:
    return f"{visible(pins.reviewed.by, 80)} at {visible(pins.reviewed.at, 40)}"


def _resources(declared: Mapping[str, Any]) -> str:
    parts = [
        f"{verb} {', '.join(visible(_path(entry), 80) for entry in declared[verb])}"
        for verb in VERBS
        if verb in declared
    ]
    return "; ".join([*parts, *(["complete"] if declared.get("complete") else [])])


def _path(entry: Any) -> str:
    return str(entry["path"]) if isinstance(entry, Mapping) else str(entry)


def _server(pins: ServerPins) -> dict[str, Any]:
    return {
        **pins.about.as_json(),
        "reviewed": {"by": pins.reviewed.by, "at": pins.reviewed.at},
        "tools": {name: _pin(pin) for name, pin in pins.tools.items()},
        "prompts": {name: _pin(pin) for name, pin in pins.prompts.items()},
    }


def _pin(pin: Pin) -> dict[str, Any]:
    return {
        "resources": thaw(pin.resources),
        "reviewed": {"by": pin.reviewed.by, "at": pin.reviewed.at},
    }
