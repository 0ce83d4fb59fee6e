"""The standard named tuple, under the name by which some modules still import it."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["NamedTuple"]
