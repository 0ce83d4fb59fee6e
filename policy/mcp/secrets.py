"""Reads secrets where the configuration refers to them; they are in no message and no setting."""

from __future__ import annotations

import os
from collections.abc import Mapping

from policy.diagnostics import visible
from policy.generation import SecretReference
from policy.mcp.errors import NotSent

_LARGEST = 65_536  # bytes


def read_value(value: str | SecretReference) -> str:
    """Return a value, or the secret that it refers to; raise NotSent if there is none."""
    if isinstance(value, str):
        return value
    if value.env is not None:
        found = os.environ.get(value.env)
        if not found:
            raise NotSent(f"the environment variable `{visible(value.env, 80)}` is not set")
        return found
    path = value.file or ""
    try:
        with open(path, encoding="utf-8") as file:
            text = file.read(_LARGEST).strip()
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise NotSent(f"the secret in `{visible(path, 200)}` cannot be read: {why}") from error
    if not text or "\n" in text:
        raise NotSent(f"`{visible(path, 200)}` is not a file with one secret in one line")
    return text


def read_values(values: Mapping[str, str | SecretReference]) -> dict[str, str]:
    """Return values by name, each read; raise NotSent."""
    return {name: read_value(value) for name, value in values.items()}
