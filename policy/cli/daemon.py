"""`placet daemon`: the resident processes that answer hooks of coding agents."""

from __future__ import annotations

import json
import os
from typing import Any

import click

from policy.cli.loading import exit_with as fail
from policy.cli.people_only import refuse_agents
from policy.daemon import daemons, stop_daemon
from policy.diagnostics import visible


@click.group("daemon")
def command() -> None:
    """Show or stop the processes that answer hooks of coding agents.

    One is started by the first hook call of a policy, and ends after 30 minutes without calls.

    \b
    Examples:
      placet daemon status
      placet daemon stop
      placet daemon stop ~/agent-rules
    """


@command.command("status")
@click.option("--format", "format", type=click.Choice(["text", "json"]), default="text")
def status(*, format: str) -> None:
    """Show each daemon: its policy, how long it has run, and how many calls it has decided."""
    found = _found()
    if format == "json":
        click.echo(json.dumps({"daemons": found}))
        return
    for line in [_line(each) for each in found] or ["no daemon is running"]:
        click.echo(line)


@command.command("stop")
@click.argument("policy", metavar="[POLICY]", required=False)
def stop(policy: str | None) -> None:
    """End the daemon of a policy, or every daemon of this user; the next call starts a new one."""
    refuse_agents("stopping a daemon")
    found = [each for each in _found() if each["problem"] is None]
    if policy is not None:
        path = os.path.abspath(policy)
        running = [each["policy"] for each in found]
        found = [each for each in found if each["policy"] == path]
        if not found:
            listed = ", ".join(visible(each, 500) for each in running) or "none"
            fail(f"no daemon of {visible(path, 500)} is running; those that run: {listed}", code=1)
    for each in found:
        try:
            stop_daemon(each["socket"])
        except OSError as error:
            fail(f"the daemon at {each['socket']} does not stop: {error}", code=1)
        click.echo(f"stopped the daemon of {visible(each['policy'], 500)}")
    if not found:
        click.echo("no daemon is running")


def _found() -> list[dict[str, Any]]:
    try:
        return daemons()
    except OSError as error:
        fail(str(error))


def _line(each: dict[str, Any]) -> str:
    if each["problem"] is not None:
        return f"{each['socket']} does not answer: {visible(each['problem'], 500)}"
    policy, pid, seconds, calls = (each[name] for name in ("policy", "pid", "seconds", "calls"))
    decided = "1 call" if calls == 1 else f"{calls} calls"
    lines = [f"{visible(policy, 500)}: process {pid}, running {seconds} s, {decided}"]
    lines += [
        f"  {visible(project['folder'], 500)}: {visible(project['policy'], 1000)}"
        for project in each["projects"]
    ]
    return "\n".join(lines)
