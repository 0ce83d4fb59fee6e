"""`placet approvals`: pending requests, answers to them, and standing approvals."""

from policy.cli.approvals.group import command

__all__ = ["command"]
