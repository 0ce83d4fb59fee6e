"""`placet demo`: a tour that governs real calls, edits a rule while they run, and checks itself."""

from policy.cli.demo.command import command

__all__ = ["command"]
