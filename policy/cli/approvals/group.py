"""The group of commands `placet approvals`; without a command's name it lists."""

from __future__ import annotations

import os

import click

from policy.cli.approvals.answer import approve_command, deny_command, revoke_command
from policy.cli.approvals.listing import grants_command, list_command, show_command
from policy.cli.approvals.propose import propose_command
from policy.diagnostics import nearest, visible


class _Approvals(click.Group):
    """Lists requests if a policy's path, or nothing, is given in place of a command's name."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        first = args[0] if args else ""
        helps = first in ctx.help_option_names
        if first not in self.commands and not helps:
            if first and not first.startswith("-") and not os.path.exists(first):
                near = nearest(first, self.commands)
                hint = f" Did you mean '{near}'?" if near else ""
                raise click.UsageError(f"No such command '{visible(first, 80)}'.{hint}", ctx)
            args = ["list", *args]
        return super().parse_args(ctx, args)


@click.group("approvals", cls=_Approvals)
def command() -> None:
    """List the approval requests of agents' calls, and answer them.

    `serve --approve queue` creates them. PATH is the policy, by default rules/. The person who
    answers is the user of the operating system who runs the command, with the groups of
    `[approvals.groups]`.

    \b
    Examples:
      placet approvals                 the pending requests under rules/
      placet approvals show 3f9a1c2b   the details of one request
      placet approvals approve 3f9a1c2b

    Exit status: 0 success, 1 the answer was refused or the policy is invalid, 2 wrong usage.
    """


for each in (
    list_command,
    show_command,
    approve_command,
    deny_command,
    propose_command,
    grants_command,
    revoke_command,
):
    command.add_command(each)
