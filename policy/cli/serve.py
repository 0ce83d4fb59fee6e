"""`placet serve`: serves the governed tools over MCP, on stdio or HTTP."""

from __future__ import annotations

import click

from policy.cli.python_tools import python_tools
from policy.cli.serving.options import ServingOptions, serving_options
from policy.cli.serving.running import nothing_behind, run_server
from policy.cli.serving.starting import start


@click.command("serve")
@serving_options(
    click.option(
        "--tools",
        "targets",
        multiple=True,
        metavar="MODULE:OBJECT",
        help="Serve these tools of your own as well: a tool, or a list of them.",
    )
)
def command(options: ServingOptions, *, targets: tuple[str, ...]) -> None:
    """Serve the tools to MCP clients, governed by the policy at PATH, until the client disconnects.

    The files are watched: an edit takes effect with the next call; an invalid one changes nothing.
    Changes of the policy are reported on standard error, one a line.

    \b
    Examples:
      placet serve rules/ --workspace ~/project
      placet serve rules/ --workspace ~/project --tools shop:tools
      placet serve rules/ --workspace ~/project --http 127.0.0.1:8642 --token-file token
    """
    program = python_tools(targets, beside_builtin=True)
    store, governed = start(options, program)
    run_server(options, store, governed, behind=nothing_behind)
