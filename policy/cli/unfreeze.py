"""`placet unfreeze`: ends the emergency stop."""

from __future__ import annotations

from pathlib import Path

import click

from policy.cli.clicked import format_option
from policy.cli.frozen import Shape, rules_option, shown, stop_of
from policy.cli.loading import stop
from policy.cli.people_only import refuse_agents
from policy.errors import ToolError


@click.command("unfreeze")
@rules_option
@format_option
def command(*, path: Path, format: Shape) -> None:
    """Lift every freeze, and show what was frozen; calls are decided by the rules again.

    \b
    Examples:
      placet unfreeze
      placet unfreeze --rules /srv/rules

    Exit status: 0 fine, 2 wrong usage, or it could not be recorded and stays frozen.
    """
    refuse_agents("unfreezing tools")
    emergency = stop_of(path, always=False)
    try:
        before = emergency.unfreeze()
    except ToolError as error:
        stop(error.message)
    except OSError as error:
        stop(f"the state in {emergency.place} cannot be written: {error.strerror or error}")
    if format == "text":
        click.echo("no longer frozen:" if before else "nothing was frozen")
    if before or format == "json":
        click.echo(shown(before, format))
