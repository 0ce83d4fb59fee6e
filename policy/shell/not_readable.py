"""`NotReadable`: why a script cannot be read; raised and caught inside this package."""

from __future__ import annotations


class NotReadable(Exception):
    """Carries the reason out of the readers of a script."""
