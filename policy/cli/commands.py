"""The commands, as click finds and runs them."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import click

from policy.cli.exit import with_errors_reported
from policy.version import VERSION

# The commands in the order of a first use; each has a module of its name with a `command`. The
# line for the list of commands stands here, so that the list is there without importing them.
_COMMANDS = {
    "demo": "A tour that governs real calls and edits a rule meanwhile.",
    "check": "Everything that is wrong with a policy, all of it at once.",
    "fmt": "Rewrite rule files in canonical form.",
    "test": "Run the tests written in the rule files.",
    "decide": "Calls as JSON lines in, one decision a line out.",
    "explain": "One decision for people: which rules, which clauses, why not others.",
    "serve": "Offer the governed tools to MCP clients.",
    "hook": "Decide one tool call of a coding agent, in the agent's own format.",
    "daemon": "The processes that answer hooks: status, stop.",
    "config": "Show and change the configuration, checked first, while it is in force.",
    "approvals": "The questions that wait for people, and their answers.",
    "status": "Whether a policy is in force and fresh, and what is frozen.",
    "freeze": "Stop calls of tools at once, until `unfreeze`: the emergency stop.",
    "unfreeze": "Let calls of tools that were frozen be decided again.",
    "plugins": "What plugins declare, and what the configuration grants them.",
}


class _Commands(click.Group):
    """Imports a command's module when that command is called for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            return None
        command = import_module(f"policy.cli.{cmd_name}").command
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(_COMMANDS.items()))

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if not args or args[0] in _COMMANDS or args[0].startswith("-"):
            return super().resolve_command(ctx, args)
        from policy.diagnostics import nearest, visible

        near = nearest(args[0], _COMMANDS)
        hint = f" Did you mean '{near}'?" if near else ""
        raise click.UsageError(f"No such command '{visible(args[0], 80)}'.{hint}", ctx)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; whatever ends it early is told in one line, never by a traceback."""
        left = (click.ClickException, click.exceptions.Exit, click.Abort)
        return with_errors_reported(lambda: super(_Commands, self).invoke(ctx), left=left)


@click.group(
    cls=_Commands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(VERSION, prog_name="placet")
def commands() -> None:
    """Placet decides what an AI agent's tools may do.

    \b
    A first look:
      placet demo                  a tour that runs by itself
      placet check rules/          what is wrong with a policy, all of it
      placet explain rules/ --tool file_read --input '{"path": "/etc/passwd"}'

    Exit status: 0 fine, 1 the policy or a test is wrong, 2 wrong usage or unreadable input.
    """
