"""The command `placet doctor`."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import click

from policy.cli.doctor.installation import hooks_of, installation
from policy.cli.doctor.plugins import plugins_of
from policy.cli.doctor.sandbox import sandbox_of
from policy.cli.doctor.servers import servers_of
from policy.cli.doctor.text import lines
from policy.cli.loading import WRONG_POLICY, as_json
from policy.cli.options import format_option
from policy.cli.status import status_of_files
from policy.cli.wrapping.client_variables import variables_from, wrapped_option


@click.command("doctor")
@click.argument("path", type=click.Path(path_type=Path), default="rules")
@click.option(
    "--no-servers", is_flag=True, help="Start and ask no MCP server; show how they are configured."
)
@click.option("--no-sandbox", is_flag=True, help="Try no sandbox.")
@click.option(
    "--timeout",
    type=click.FloatRange(min=0.1, max=3600),
    default=30.0,
    show_default=True,
    help="How many seconds each server may take.",
)
@wrapped_option
@format_option
def command(
    path: Path,
    *,
    no_servers: bool,
    no_sandbox: bool,
    timeout: float,
    wrapped: Path | None,
    format: Literal["text", "json"],
) -> None:
    """Show what is installed, whether the policy at PATH is in force, and how its servers are.

    What can confine programs on this machine is tried, from inside: what gets out is shown.
    Each MCP server is asked for its tools as a gateway would ask it, and they are compared with
    their pins: new ones need a review, changed ones are denied.

    \b
    Examples:
      placet doctor
      placet doctor rules/ --wrapped .mcp.json
      placet doctor --no-servers --format json

    Exit status: 0 if all is well, 1 if the policy is not in force, a server cannot be reached, has
    other tools than were accepted, a hook or a plugin does not run, or the configured sandbox does
    not work; 2 wrong usage.
    """
    with variables_from(wrapped):
        servers = servers_of(path, seconds=None if no_servers else timeout)
    hooks = hooks_of(path)
    # An agent in front of which there is a hook runs its commands itself.
    served = not any(hook.get("of_this_policy") for hook in hooks)
    found: dict[str, Any] = {
        "installation": installation(),
        "policy": {"path": str(path), **status_of_files(path)},
        "hooks": hooks,
        "servers": servers,
        "plugins": plugins_of(path),
        "sandbox": None if no_sandbox else sandbox_of(path, served=served),
    }
    troubles = [
        found["policy"]["state"] == "down",
        *(hook["problem"] is not None for hook in found["hooks"]),
        *(server["problems"] for server in servers),
        *(server["pins"].get("changed", 0) for server in servers),
        *(plugin["problem"] for plugin in found["plugins"]),
        found["sandbox"] is not None and found["sandbox"]["wrong"],
    ]
    found["well"] = not any(troubles)
    if format == "json":
        click.echo(as_json(found))
    else:
        for line in lines(found):
            click.echo(line)
    if not found["well"]:
        raise SystemExit(WRONG_POLICY)
