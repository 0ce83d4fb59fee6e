"""The commands, as click finds and runs them."""

from __future__ import annotations

import os
from importlib import import_module
from typing import Any

import click
from click.shell_completion import CompletionItem

from policy.cli.exit import with_errors_reported
from policy.version import VERSION

# The commands in the order of a first use; each has a module of its name with a `command`. The
# summaries are here, so that the list of commands is printed without importing them.
_COMMANDS = {
    "demo": "Take a tour with real calls and an edited rule.",
    "init": "Write a small policy to start from.",
    "check": "Check a policy and show every problem.",
    "fmt": "Rewrite rule files in canonical form.",
    "test": "Run the tests written in the rule files.",
    "prove": "Prove the claims of a policy for every possible call.",
    "diff": "Compare two policies: which calls they decide differently.",
    "decide": "Decide calls given as JSON lines.",
    "explain": "Explain one decision: which rules match, and why others do not.",
    "serve": "Serve the governed tools to MCP clients.",
    "gateway": "Serve the tools of MCP servers, governed, to MCP clients.",
    "hook": "Decide one tool call of a coding agent, in the agent's own format.",
    "daemon": "Show or stop the processes that answer hooks.",
    "catalog": "Write lists of tools: of a Python program, or of an MCP server.",
    "pin": "Review the tools of MCP servers, and accept them as they are.",
    "config": "Show and edit the configuration; edits are checked first.",
    "approvals": "List pending approval requests and answer them.",
    "sessions": "Show what is kept of sessions, and clear it.",
    "limits": "Show what is used and what is left of limits.",
    "sandbox": "Show what confines the commands of `bash_exec`, and try it.",
    "doctor": "Show how Placet is installed here, and how its MCP servers are.",
    "status": "Show whether a policy is in force and up to date, and what is frozen.",
    "acknowledge": "Let an edit take effect under which calls may do more.",
    "freeze": "Deny calls of tools at once, until `unfreeze`: the emergency stop.",
    "unfreeze": "End the emergency stop.",
    "plugins": "Show what plugins declare and what the configuration grants them.",
}


class _Commands(click.Group):
    """Imports a command's module when that command is called."""

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

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Complete the name of a command without importing the commands."""
        found = [
            CompletionItem(name, help=summary)
            for name, summary in _COMMANDS.items()
            if name.startswith(incomplete)
        ]
        return found + click.Command.shell_complete(self, ctx, incomplete)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; an error that ends it is reported in one line, never as a traceback."""
        left = (click.ClickException, click.exceptions.Exit, click.Abort)
        return with_errors_reported(lambda: super(_Commands, self).invoke(ctx), left=left)


@click.group(
    cls=_Commands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(VERSION, prog_name="placet")
@click.pass_context
def commands(ctx: click.Context) -> None:
    """Placet decides what an AI agent's tools may do.

    \b
    A first look:
      placet demo                  a tour that runs by itself
      placet check rules/          every problem in a policy
      placet explain rules/ --tool file_read --input '{"path": "/etc/passwd"}'

    Exit status: 0 success, 1 an invalid policy or a failed test, 2 wrong usage or unreadable input.
    """
    if os.environ.get("NO_COLOR"):
        ctx.color = False
