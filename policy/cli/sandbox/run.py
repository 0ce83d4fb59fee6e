"""`placet sandbox run`: runs a command as `bash_exec` would, confined."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import click

from policy.cli.loading import exit_with
from policy.cli.sandbox.configured import configured_sandbox, rules_option
from policy.sandbox import Bubblewrap, CannotConfine


@click.command("run", context_settings={"ignore_unknown_options": True})
@rules_option
@click.argument("arguments", metavar="-- COMMAND", nargs=-1, required=True, type=click.UNPROCESSED)
def run_command(path: Path, *, arguments: tuple[str, ...]) -> None:
    """Run a command confined as `[sandbox]` says, whether it is switched on or not.

    It gets the same environment as the commands of `bash_exec`: PATH, HOME and LANG. Its exit
    status is that of the command.

    \b
    Examples:
      placet sandbox run -- git status
      placet sandbox run --rules policy/ -- bash -c 'ls -la ~'

    Exit status: that of the command; 1 if nothing can be confined here, 2 wrong usage.
    """
    driver, plan = Bubblewrap(), configured_sandbox(path).plan
    problem = driver.problem()
    if problem is not None:
        exit_with(problem, code=1)
    env = {"HOME": plan.home, "LANG": "C.UTF-8", "PATH": os.environ.get("PATH", os.defpath)}
    try:
        with driver.confined(plan, arguments) as start:
            done = subprocess.run(  # noqa: S603 - what was asked for
                start.arguments, env=env, pass_fds=start.descriptors, check=False
            )
    except (CannotConfine, OSError, ValueError) as error:
        exit_with(f"the command was not run: {error}", code=1)
    # A shell says it so, too, where a signal has ended a command.
    raise SystemExit(done.returncode if done.returncode >= 0 else 128 - done.returncode)
