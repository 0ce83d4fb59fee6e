"""`placet pin`: reviews and accepts the tools of MCP servers."""

from policy.cli.pin.group import command

__all__ = ["command"]
