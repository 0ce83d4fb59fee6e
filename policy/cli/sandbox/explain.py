"""`placet sandbox explain`: what commands may touch in the sandbox, and what gets out of it."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, Literal

import click

from policy.cli.loading import as_json
from policy.cli.options import format_option, path_argument
from policy.cli.sandbox.configured import ConfiguredSandbox, configured_sandbox, workspace_option
from policy.diagnostics import visible
from policy.sandbox import (
    NOT_TRIED,
    NotTried,
    driver_named,
    escapes,
    fix_for,
    note_of_own_address,
    weak_limit,
)

_LONGEST = 500
_NETWORK = {
    "none": "no network, not even this machine's own",
    "hosts": "the hosts that are permitted, by a proxy that judges each connection",
    "all": "the network, as this machine reaches it",
}


@click.command("explain")
@path_argument
@workspace_option
@format_option
def explain_command(path: Path, *, workspace: str | None, format: Literal["text", "json"]) -> None:
    """Show what commands may touch in the sandbox of the policy at PATH, and try to get out of it.

    A program runs in the sandbox and tries to read, write, connect and look outside. What it
    reached is marked by `!`.

    \b
    Examples:
      placet sandbox explain
      placet sandbox explain policy/ --workspace /srv/project --format json

    Exit status: 0 if programs can be confined here, 1 if not, 2 wrong usage.
    """
    configured = configured_sandbox(path, workspace)
    found = sandbox_report(configured)
    if format == "json":
        click.echo(as_json(found))
    else:
        for line in _lines(found):
            click.echo(line)
    if found["problem"] is not None:
        raise SystemExit(1)


def sandbox_report(configured: ConfiguredSandbox) -> dict[str, Any]:
    """Return what a sandbox is configured to be, and what was reached from inside it."""
    plan = configured.plan
    driver = driver_named(configured.settings.reach.driver)
    problem, reached = driver.problem(), None
    if problem is None:
        try:
            reached = escapes(driver, plan)
        except NotTried as error:
            problem = f"nothing could be tried in the sandbox: {error}"
    return {
        "driver": configured.settings.driver,
        "named": configured.settings.named,
        "in_use": driver.name,
        "required": configured.settings.required,
        "problem": problem,
        "fix": None if problem is None else fix_for(driver.name, problem),
        "plan": asdict(plan),
        "links": dict(configured.links),
        "narrowed": [] if problem else [*driver.narrowed(plan)],
        "several_names": [path for path in plan.kept if _has_several_names(path)],
        "weak_limit": weak_limit(plan.limits),
        "connects": list(configured.settings.reach.connects),
        "reached": reached,
        "not_tried": [*NOT_TRIED],
    }


def _has_several_names(path: str) -> bool:
    try:
        found = os.lstat(path)
    except OSError:
        return False
    return stat.S_ISREG(found.st_mode) and found.st_nlink > 1


def _lines(found: Mapping[str, Any]) -> Iterator[str]:
    plan = found["plan"]
    yield from _whether_confined(found)
    for title, key in (("read", "reads"), ("write", "writes"), ("read only", "kept")):
        yield from (f"{title:<10}{visible(each, _LONGEST)}" for each in plan[key])
    yield f"{'network':<10}{_NETWORK[plan['network']]}"
    yield from (f"{'connect':<10}{visible(each, _LONGEST)}" for each in found["connects"])
    yield from (
        f"note: {note}" for each in found["connects"] if (note := note_of_own_address(each))
    )
    for name, limit in plan["limits"].items():
        if limit is not None:
            yield f"{'limit':<10}{name.replace('_', ' ')}: {limit}"
    for path, real in found["links"].items():
        named, leads_to = visible(path, _LONGEST), visible(real, _LONGEST)
        yield f"note: {named} leads over a symbolic link to {leads_to}"
    for each in found["narrowed"]:
        yield f"note: nothing can be made, renamed or removed directly in {visible(each, _LONGEST)}"
    if found["weak_limit"] is not None:
        yield f"! {found['weak_limit']}"
    yield from _not_there(plan["unkept"], plan["writes"])
    for each in found["several_names"]:
        yield f"! {visible(each, _LONGEST)} has another name (a hard link), which may be written"
    if found["reached"] is not None:
        yield from _attempts(found["reached"])
        yield from (f"! not stopped, and not tried: {name}" for name in found["not_tried"])


def _not_there(unkept: Iterable[str], writes: Iterable[str]) -> Iterator[str]:
    """Say what would be read-only if it existed, a line for each folder that may be written."""
    left = list(unkept)
    for folder in writes:
        inside = folder.rstrip("/") + "/"
        names = [each.removeprefix(inside) for each in left if each.startswith(inside)]
        left = [each for each in left if not each.startswith(inside)]
        if names:
            where, what = visible(folder, _LONGEST), visible(", ".join(names), _LONGEST)
            yield f"note: these do not exist in {where}, so commands may make them: {what}"


def _whether_confined(found: Mapping[str, Any]) -> Iterator[str]:
    so = "are not run" if found["required"] else "run unconfined"
    if found["driver"] == "off":
        yield f'commands {so}: `[sandbox] driver` is "off". It would be so:'
    elif found["problem"] is None:
        yield f"commands are confined by {found['in_use']}"
    else:
        yield f"commands {so}: no sandbox works here. It would be so:"
    if found["problem"] is not None:
        yield f"! {visible(found['problem'], _LONGEST)}"
        if found["fix"] is not None:
            yield f"  {found['fix']}"
    if not found["named"]:
        yield "note: `[sandbox]` names no `driver`, so what rules deny is not hidden from code"


def _attempts(reached: Mapping[str, bool]) -> Iterator[str]:
    stopped = ", ".join(name for name, got_out in reached.items() if not got_out)
    yield f"tried inside, and stopped: {stopped}"
    yield from (f"! not stopped: {name}" for name, got_out in reached.items() if got_out)
