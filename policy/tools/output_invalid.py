"""`OutputInvalid`: a tool has run, and its result is not what it declares."""

from __future__ import annotations


class OutputInvalid(Exception):
    """The result does not satisfy the output schema; the message says which part of the schema."""
