"""What a text could not be read as: every reader here returns its value or an `Unreadable`."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Unreadable:
    """A text that could not be read as what was needed.

    `reason` is one short sentence without a full stop that quotes at most 40 escaped characters.
    """

    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MayBeRedirected(Unreadable):
    """A host that a program may be redirected to, and that nothing in the call names."""
