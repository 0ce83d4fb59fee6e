"""The command line: one file per command, imported when it is called for."""

from __future__ import annotations

from importlib import import_module

import click

# The commands in the order of a first use, and the module and function behind each.
_COMMANDS = {
    "demo": "policy.cli.demo",
    "check": "policy.cli.check",
    "fmt": "policy.cli.fmt",
    "test": "policy.cli.test",
    "decide": "policy.cli.decide",
    "explain": "policy.cli.explain",
    "serve": "policy.cli.serve",
}


class _Commands(click.Group):
    """Finds a command's module only when it is needed: start-up is paid by every hook call."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            return None
        command = import_module(_COMMANDS[cmd_name]).command
        assert isinstance(command, click.Command)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            from policy.diagnostics import nearest

            near = nearest(args[0], _COMMANDS) if args else None
            if near is None:
                raise
            raise click.UsageError(f"{error.message} Did you mean '{near}'?", ctx) from error


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="placet", prog_name="placet")
def main() -> None:
    """Placet decides what an AI agent's tools may do.

    \b
    A first look:
      placet demo                  a tour that runs by itself
      placet check rules/          what is wrong with a policy, all of it
      placet explain rules/ --tool file_read --input '{"path": "/etc/passwd"}'

    Exit status: 0 fine, 1 the policy or a test is wrong, 2 wrong usage or unreadable input.
    """


__all__ = ["main"]
