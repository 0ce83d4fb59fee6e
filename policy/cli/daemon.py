"""`placet daemon`: the resident processes that answer hooks of coding agents."""

from __future__ import annotations

import json
from typing import Any

import click

from policy.cli.loading import stop as fail
from policy.cli.people_only import refuse_agents
from policy.daemon import DaemonStatus, daemons, stop_daemon
from policy.diagnostics import visible


@click.group("daemon")
def command() -> None:
    """Look at the processes that answer hooks of coding agents, and stop them.

    One is started by the first hook call of a policy, and ends after half an hour without calls.

    \b
    Examples:
      placet daemon status
      placet daemon stop
    """


@command.command("status")
@click.option("--format", "format", type=click.Choice(["text", "json"]), default="text")
def status(*, format: str) -> None:
    """Show each daemon: its policy, how long it has run, and how many calls it has decided."""
    found = _found()
    if format == "json":
        click.echo(json.dumps({"daemons": [_document(each) for each in found]}))
        return
    if not found:
        click.echo("no daemon is running")
    for each in found:
        click.echo(_line(each))


@command.command("stop")
def stop() -> None:
    """End every daemon of this user; the next hook call starts a new one."""
    refuse_agents("stopping a daemon")
    found = [each for each in _found() if each.problem is None]
    for each in found:
        problem = stop_daemon(each)
        if problem is not None:
            fail(f"the daemon of {each.policy} does not stop: {problem}", code=1)
        click.echo(f"stopped the daemon of {visible(each.policy, 500)}")
    if not found:
        click.echo("no daemon is running")


def _found() -> list[DaemonStatus]:
    try:
        return daemons()
    except OSError as error:
        fail(str(error))


def _line(each: DaemonStatus) -> str:
    if each.problem is not None:
        return f"{visible(each.socket, 500)}: does not answer: {visible(each.problem, 500)}"
    lines = [
        f"{visible(each.policy, 500)}: process {each.pid}, running {each.seconds} s,"
        f" {each.calls} calls"
    ]
    lines += [
        f"  {visible(project['folder'], 500)}: {visible(project['policy'], 1000)}"
        for project in each.projects
    ]
    return "\n".join(lines)


def _document(each: DaemonStatus) -> dict[str, Any]:
    return each._asdict()
