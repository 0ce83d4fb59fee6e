"""The command line: one file per command, imported when it is called for."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line of this process."""
    # Agents run a hook before each of their tools, so it runs without click and its imports.
    if sys.argv[1:2] == ["hook"]:
        from policy.cli.import_path import leave_out_what_the_environment_names

        leave_out_what_the_environment_names()
        from policy.cli.hook_call import run_hook

        run_hook(sys.argv[2:])
    from policy.cli.commands import commands

    commands()


__all__ = ["main"]
