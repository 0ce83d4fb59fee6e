"""`placet hook`: one tool call of a coding agent, decided in the agent's own format."""

from __future__ import annotations

import click

from policy.cli.hook_call import run_hook


@click.command(
    "hook",
    context_settings={"ignore_unknown_options": True, "help_option_names": []},
    add_help_option=False,
)
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def command(*, arguments: tuple[str, ...]) -> None:
    """Decide one tool call of a coding agent. The options are read by the hook itself."""
    run_hook(list(arguments))
