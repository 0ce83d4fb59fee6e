"""`placet sandbox run`: runs a command as `bash_exec` would, confined."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import click

from policy.cli.loading import exit_with
from policy.cli.sandbox.configured import configured_sandbox, rules_option, workspace_option
from policy.diagnostics import visible
from policy.environment import look_up_host
from policy.processes import Launcher, ProgramToStart
from policy.sandbox import ConfinedLauncher, ListedHosts, driver_named, refused_connections

_LONGEST = 500


@click.command("run", context_settings={"allow_interspersed_args": False})
@rules_option
@workspace_option
@click.argument("arguments", metavar="-- COMMAND", nargs=-1, required=True, type=click.UNPROCESSED)
def run_command(path: Path | None, *, workspace: str | None, arguments: tuple[str, ...]) -> None:
    """Run a command confined as `[sandbox]` says, whether it is switched on or not.

    It gets the same environment as the commands of `bash_exec`: PATH, HOME and LANG. Its exit
    status is that of the command. With `network = "hosts"` it reaches the hosts of `connects`:
    there is no call whose rules could permit others. Connections that it is refused are listed.

    \b
    Examples:
      placet sandbox run -- git status
      placet sandbox run --rules policy/ -- bash -c 'ls -la ~'

    Exit status: that of the command; 1 if nothing can be confined here, 2 wrong usage.
    """
    configured = configured_sandbox(path, workspace)
    plan = configured.plan
    env = {"HOME": plan.home, "LANG": "C.UTF-8", "PATH": os.environ.get("PATH", os.defpath)}
    program = ProgramToStart(arguments=arguments, env=env, folder=plan.folder)
    reach = configured.settings.reach
    connect = ListedHosts(reach.connects, look_up_host)
    launcher = ConfinedLauncher(
        driver_named(reach.driver), lambda _: plan, connect_for=lambda _: connect
    )
    try:
        status = asyncio.run(_finished(launcher, program))
    except (OSError, ValueError) as error:
        exit_with(f"the command was not run: {error}", code=1)
    # A shell says it so, too, where a signal has ended a command.
    raise SystemExit(status if status >= 0 else 128 - status)


async def _finished(launcher: Launcher, program: ProgramToStart) -> int:
    """Run a program on the streams of this process, and return its exit status.

    The connections that it was refused are listed at the end.
    """
    started = await launcher.launch(program, stdin=0, stdout=1, stderr=2)
    try:
        return await started.wait()
    finally:
        await started.end()
        for refused in refused_connections(started):
            said = f"! no connection to {refused.target}: {refused.why}"
            click.echo(visible(said, _LONGEST), err=True)
