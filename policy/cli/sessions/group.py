"""The group of commands `placet sessions`."""

from __future__ import annotations

import click

from policy.cli.sessions.clearing import clear_command
from policy.cli.sessions.listing import list_command, show_command


@click.group("sessions")
def command() -> None:
    """Show what is kept of sessions, for rules about earlier calls, and clear it.

    It is read from the store of `[history]`: a file, or a Redis server; by default from the file
    of the hooks of coding agents. A service without a store keeps its sessions in memory, where no
    command sees them.

    \b
    Examples:
      placet sessions list
      placet sessions show desk --user ada
      placet sessions clear desk --user ada --because "the mail was a drill"

    Exit status: 0 success, 1 the policy has errors or the answer is no, 2 wrong usage, or the store
    cannot be read.
    """


for each in (list_command, show_command, clear_command):
    command.add_command(each)
