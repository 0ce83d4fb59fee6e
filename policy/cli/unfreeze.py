"""`placet unfreeze`: ends the emergency stop."""

from __future__ import annotations

from pathlib import Path

import click

from policy.cli.emergency_stop import Shape, emergency_stop_of, rules_option, shown
from policy.cli.loading import exit_with
from policy.cli.options import format_option
from policy.cli.people_only import refuse_agents
from policy.model import ToolError


@click.command("unfreeze")
@rules_option
@format_option
def command(*, path: Path, format: Shape) -> None:
    """Lift every freeze, and show what was frozen; the rules decide calls again.

    \b
    Examples:
      placet unfreeze
      placet unfreeze --rules /srv/rules

    Exit status: 0 success, 2 wrong usage, or the command could not be recorded and had no effect.
    """
    refuse_agents("unfreezing tools")
    emergency = emergency_stop_of(path, always=False)
    try:
        before = emergency.unfreeze()
    except ToolError as error:
        exit_with(error.message)
    except OSError as error:
        exit_with(f"the state in {emergency.place} cannot be written: {error.strerror or error}")
    if format == "text":
        click.echo("unfrozen:" if before else "nothing was frozen")
    if before or format == "json":
        click.echo(shown(before, format))
