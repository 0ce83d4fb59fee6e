"""The table of one server in the text of placet.toml: added at the end, and taken out again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from policy.config_edit import write_key, write_value
from policy.values import Unreadable

# A file that has nothing else was made for it.
HEADER = "# The MCP servers behind the gateway. `placet gateway --unwrap` takes them out again.\n"


def with_table(text: str, name: str, table: Mapping[str, Any]) -> str:
    """Return the settings with the table of one more server; raises ValueError."""
    return text + _block(text, name, table)


def without_table(text: str, name: str, table: Mapping[str, Any]) -> str | None:
    """Return the settings without a table, if it is there as it was added; else None."""
    ending, body = _ending(text), _body(text, name, table)
    for block in (f"{ending}{body}{ending}", f"{ending * 2}{body}", f"{body}{ending}"):
        at = text.rfind(block)
        after = text[at + len(block) :]
        if at >= 0 and _begins_a_table(after):
            return text[:at] + after
    return None


def _begins_a_table(text: str) -> bool:
    """Return whether what is in a text does not belong to the table before it."""
    lines = (line.strip() for line in text.splitlines())
    first = next((line for line in lines if line and not line.startswith("#")), "[")
    return first.startswith("[")


def _block(text: str, name: str, table: Mapping[str, Any]) -> str:
    """Return what is added to a text: with a line end at its end if the text has one there."""
    ending, body = _ending(text), _body(text, name, table)
    if not text:
        return f"{body}{ending}"
    return f"{ending}{body}{ending}" if text.endswith("\n") else f"{ending * 2}{body}"


def _body(text: str, name: str, table: Mapping[str, Any]) -> str:
    lines = [f"[{write_key(('mcp', 'servers', name))}]"]
    for key, value in table.items():
        shown = write_value(value)
        if isinstance(shown, Unreadable):
            raise ValueError(f"`{key}`: {shown.reason}")
        lines.append(f"{write_key((key,))} = {shown}")
    return _ending(text).join(lines)


def _ending(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"
