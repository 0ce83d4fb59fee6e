"""The group of commands `placet pin`."""

from __future__ import annotations

import click

from policy.cli.pin.accept import accept_command, forget_command
from policy.cli.pin.listing import list_command
from policy.cli.pin.review import review_command


@click.group("pin")
def command() -> None:
    """Review the tools of MCP servers, and accept them as they are now.

    What is accepted is in `tools.lock` beside the rules, PATH, by default rules/. A tool that is
    changed afterwards is denied until it is accepted again.

    \b
    Examples:
      placet pin review --server git -- uvx mcp-server-git
      placet pin accept --server git -- uvx mcp-server-git
      placet pin list
    """


for each in (review_command, accept_command, list_command, forget_command):
    command.add_command(each)
