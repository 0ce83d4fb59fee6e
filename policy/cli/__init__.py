"""The command line: one file per command, imported when it is called for."""

from __future__ import annotations

import os
import sys

from policy.cli import collector, importing


def main() -> None:
    """Run the command line of this process: a plain decision at once, anything else by click."""
    importing.at_once(os.environ)
    collector.wait()
    from policy.cli import plain

    if not plain.decided(sys.argv[1:], os.environ):
        from policy.cli.group import commands

        commands()


__all__ = ["main"]
