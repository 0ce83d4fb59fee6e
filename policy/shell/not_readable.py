"""The exception of the shell parser, which never leaves this package."""

from __future__ import annotations


class NotReadable(Exception):
    """Carries the reason why a script cannot be parsed."""
