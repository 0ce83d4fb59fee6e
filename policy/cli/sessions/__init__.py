"""`placet sessions`: what is kept of the sessions of a policy, and clearing it."""

from policy.cli.sessions.group import command

__all__ = ["command"]
