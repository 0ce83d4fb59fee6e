"""`placet freeze`: the emergency stop, which takes effect even if the policy is invalid."""

from __future__ import annotations

from pathlib import Path

import click

from policy.cli.emergency_stop import Shape, emergency_stop_of, rules_option, shown
from policy.cli.loading import exit_with
from policy.cli.options import format_option
from policy.cli.people_only import refuse_agents
from policy.cli.unknown_tools import unknown_names
from policy.diagnostics import visible
from policy.store import FreezeRefused


@click.command("freeze")
@click.argument("tools", nargs=-1)
@click.option("--because", required=True, metavar="TEXT", help="The reason, for callers and logs.")
@click.option("--cancel", is_flag=True, help="Also end running calls of these tools.")
@rules_option
@format_option
def command(
    tools: tuple[str, ...], *, because: str, cancel: bool, path: Path, format: Shape
) -> None:
    """Deny every call of TOOLS from now on; of all tools if none is named.

    TOOLS are names or patterns. The freeze takes effect at once in every process that serves these
    rules on this machine for this user, even if the rules do not load, and lasts over restarts
    until `placet unfreeze`. Pending requests are denied, and approved calls that have not started
    do not run. Tools that are already frozen stay frozen. A name that these rules do not know is
    frozen too, with a warning.

    \b
    Examples:
      placet freeze --because "something is deleting the archive" --cancel
      placet freeze "mcp *" web_fetch --because "the network is being looked at"

    Exit status: 0 frozen, 2 wrong usage.
    """
    refuse_agents("freezing tools")
    emergency = emergency_stop_of(path, always=True)
    try:
        freezing = emergency.freeze(tools, because=because, cancel=cancel)
    except FreezeRefused as error:
        exit_with(str(error))
    except OSError as error:
        exit_with(f"the state in {emergency.place} cannot be written: {error.strerror or error}")
    click.echo(shown(freezing, format))
    for note in unknown_names(tools, path):
        click.echo(f"placet: {visible(note, 1000)}", err=True)
