"""`placet sandbox print`: the sandbox as a command for another program that confines."""

from __future__ import annotations

import os
import shlex
from pathlib import Path
from typing import Literal

import click

from policy.cli.loading import exit_with
from policy.cli.sandbox.configured import configured_sandbox, rules_option, workspace_option
from policy.diagnostics import visible
from policy.sandbox import CannotConfine, docker_command, seatbelt_command, single_files

_LONGEST = 500


@click.command("print", context_settings={"allow_interspersed_args": False})
@rules_option
@workspace_option
@click.option(
    "--for",
    "confiner",
    type=click.Choice(["docker", "seatbelt"]),
    required=True,
    help="What confines: Docker, or the sandbox of macOS.",
)
@click.option("--image", default="", help="For Docker: the image that has the programs.")
@click.argument("arguments", metavar="-- COMMAND", nargs=-1, required=True, type=click.UNPROCESSED)
def print_command(
    path: Path | None,
    *,
    workspace: str | None,
    confiner: Literal["docker", "seatbelt"],
    image: str,
    arguments: tuple[str, ...],
) -> None:
    """Print the command line that confines a command as `[sandbox]` says, by another program.

    Placet does not run it, and its tests do not either. What the other program cannot express, such
    as a limit, is an error.

    \b
    Examples:
      placet sandbox print --for docker --image python:3.13 -- pytest -q
      placet sandbox print --for seatbelt -- git status

    Exit status: 0 if it was printed, 1 if the sandbox cannot be expressed, 2 wrong usage.
    """
    if (confiner == "docker") != bool(image):
        raise click.UsageError("Docker needs an `--image`, and nothing else takes one.")
    plan = configured_sandbox(path, workspace).plan
    try:
        if confiner == "docker":
            user, group = os.getuid(), os.getgid()
            command = docker_command(plan, arguments, image=image, user=user, group=group)
        else:
            command = seatbelt_command(plan, arguments)
    except CannotConfine as error:
        exit_with(str(error), code=1)
    if confiner == "docker":
        for file in single_files(plan):
            said = (
                f"note: Docker protects {file} by a mount on a single file, until another program "
                "replaces it: nothing ends the container then"
            )
            click.echo(visible(said, _LONGEST), err=True)
    click.echo(shlex.join(command))
