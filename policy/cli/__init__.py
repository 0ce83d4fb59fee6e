"""The command line: one file per command, imported when it is called for."""

from __future__ import annotations


def main() -> None:
    """Run the command line of this process."""
    from policy.cli.group import commands

    commands()


__all__ = ["main"]
