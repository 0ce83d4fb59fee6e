"""`InstallFailed`: the packages that a program needs could not be installed."""

from __future__ import annotations


class InstallFailed(Exception):
    """What an installer, its sandbox or a limit said; nothing of the program has run."""
