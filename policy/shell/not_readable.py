"""Why a script is given up: the one exception of its readers, which never leaves them."""

from __future__ import annotations


class NotReadable(Exception):
    """Carries the reason out of the readers of a script."""
