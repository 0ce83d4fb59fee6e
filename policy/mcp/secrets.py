"""Values that servers get, some of them secrets that the configuration refers to."""

from __future__ import annotations

from collections.abc import Mapping

from policy.generation import SecretReference, SecretUnreadable
from policy.generation import read_value as configured_value
from policy.mcp.errors import NotSent


def read_value(value: str | SecretReference) -> str:
    """Return a value, or the secret that it refers to; raise NotSent if there is none."""
    try:
        return configured_value(value)
    except SecretUnreadable as error:
        raise NotSent(str(error)) from error


def read_values(values: Mapping[str, str | SecretReference]) -> dict[str, str]:
    """Return values by name, each read; raise NotSent."""
    return {name: read_value(value) for name, value in values.items()}
