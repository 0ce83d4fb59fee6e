"""`placet approvals`: the questions that wait for people, their answers, and what still serves."""

from policy.cli.approvals.group import command
from policy.cli.approvals.store_path import store_path

__all__ = ["command", "store_path"]
