"""The group of commands `placet sandbox`."""

from __future__ import annotations

import click

from policy.cli.sandbox.explain import explain_command
from policy.cli.sandbox.print import print_command
from policy.cli.sandbox.run import run_command


@click.group("sandbox")
def command() -> None:
    """Show what confines the commands of `bash_exec`, and try it.

    The sandbox is that of `[sandbox]` in the policy's placet.toml, with the current folder as the
    workspace if none is configured.

    \b
    Examples:
      placet sandbox explain
      placet sandbox run -- pytest -q
    """


for each in (explain_command, run_command, print_command):
    command.add_command(each)
