"""Reads secrets where the configuration refers to them; they are in no message and no setting."""

from __future__ import annotations

import os
from collections.abc import Mapping

from policy.diagnostics import visible
from policy.generation.mcp_servers import SecretReference, Value

_LARGEST = 65_536  # bytes


class SecretUnreadable(Exception):
    """A secret cannot be read; the message says why."""


def read_secret(reference: SecretReference) -> str:
    """Return the secret that is referred to; raise SecretUnreadable if there is none."""
    if reference.env is not None:
        found = os.environ.get(reference.env)
        if not found:
            name = visible(reference.env, 80)
            raise SecretUnreadable(f"the environment variable `{name}` is not set")
        return found
    path = reference.file or ""
    try:
        with open(path, encoding="utf-8") as file:
            text = file.read(_LARGEST).strip()
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        name = visible(path, 200)
        raise SecretUnreadable(f"the secret in `{name}` cannot be read: {why}") from error
    if not text or "\n" in text:
        raise SecretUnreadable(f"`{visible(path, 200)}` is not a file with one secret in one line")
    return text


def read_value(value: Value) -> str:
    """Return a value, or the secret that it refers to; raise SecretUnreadable if there is none."""
    return value if isinstance(value, str) else read_secret(value)


def read_values(values: Mapping[str, Value]) -> dict[str, str]:
    """Return values by name, each read; raise SecretUnreadable."""
    return {name: read_value(value) for name, value in values.items()}
