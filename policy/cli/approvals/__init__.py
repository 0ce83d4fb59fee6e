"""`placet approvals`: pending requests, answers to them, and standing approvals."""

from policy.cli.approvals.group import command
from policy.cli.approvals.store_path import store_path

__all__ = ["command", "store_path"]
