"""`placet sandbox`: what confines the programs that Placet starts."""

from policy.cli.sandbox.group import command

__all__ = ["command"]
