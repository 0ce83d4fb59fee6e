"""`Unreadable`: the result of a parser for a text that it rejects."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Unreadable:
    """A text that could not be parsed as the required type.

    `reason` is one short sentence without a full stop that quotes at most 40 escaped characters.
    """

    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MayBeRedirected(Unreadable):
    """A host that a program may be redirected to, which is not named in the call."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ByInlineCode(Unreadable):
    """What code that is written out in a command accesses: `python -c "…"`."""
