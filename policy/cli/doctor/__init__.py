"""`placet doctor`: how Placet is installed here, and how its MCP servers are."""

from policy.cli.doctor.command import command

__all__ = ["command"]
