"""The command line: one file per command, imported when it is called for."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from io import TextIOWrapper
from typing import Any

import click

from policy.cli import collector
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
    "config": "Show and change the configuration, checked first, while it is in force.",
    "approvals": "The questions that wait for people, and their answers.",
    "plugins": "What plugins declare, and what the configuration grants them.",
}

# The commands that build a policy first of all; then the collector begins.
_BUILDING = frozenset({"check", "test", "decide", "explain"})

_INTERRUPTED = 130
_NOBODY_READS = 141
_WRONG_USAGE = 2


class _Commands(click.Group):
    """Finds a command's module only when it is needed: start-up is paid by every hook call."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            return None
        command = import_module(f"policy.cli.{cmd_name}").command
        assert isinstance(command, click.Command)
        if cmd_name not in _BUILDING:
            collector.settle()
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

    def main(self, args: Sequence[str] | None = None, *given: Any, **named: Any) -> Any:
        """Run the command line; without arguments of the caller's, the process is ours alone."""
        if args is None:
            collector.wait()
        return super().main(args, *given, **named)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; whatever ends it early is told in one line, never by a traceback."""
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, TextIOWrapper):
                # A terminal that cannot show a character is no reason to stop.
                stream.reconfigure(errors="backslashreplace")
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            raise SystemExit(_INTERRUPTED) from None
        except (click.ClickException, click.exceptions.Exit, click.Abort):
            raise
        except OSError as error:
            _drop_output()
            if error.errno == errno.EPIPE:
                raise SystemExit(_NOBODY_READS) from None
            _end(f"{error.filename or 'the output'}: {error.strerror or error}")
        except Exception as error:  # noqa: BLE001 — a flaw of ours is told like any other trouble
            _end(f"internal error, please report it: {type(error).__name__}: {error}")


def _end(message: str) -> None:
    from policy.diagnostics import visible

    with suppress(OSError):
        click.echo(f"placet: {visible(message, 500)}", err=True)
    raise SystemExit(_WRONG_USAGE)


def _drop_output() -> None:
    """Let what could not be written go, so that the interpreter does not try again at its end."""
    with suppress(OSError, ValueError, AttributeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


@click.group(
    cls=_Commands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(VERSION, prog_name="placet")
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
