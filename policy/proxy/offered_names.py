"""What clients call the resources and prompts of servers: by names that begin with the server's.

No server can give a resource or prompt the name of another's, since the first part of a name is the
one by which the server is configured. What follows is the server's own name, unchanged, so that a
client can fill in a template.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

_SCHEME = "placet://"
_SEPARATOR = "__"
# A block of content that points to a resource, and one that contains it.
_LINK, _EMBEDDED = "resource_link", "resource"


@dataclass(frozen=True, slots=True)
class Named:
    """A server, and what it calls one of its resources or prompts."""

    server: str
    name: str


def shown_uri(server: str, uri: str) -> str:
    """Return what clients call a resource or a template."""
    return f"{_SCHEME}{server}/{uri}"


def named_uri(shown: str) -> Named | None:
    """Return the resource or template that a client means; None if there can be no such."""
    if not shown.startswith(_SCHEME):
        return None
    server, _, uri = shown.removeprefix(_SCHEME).partition("/")
    return Named(server, uri) if server and uri else None


def shown_prompt(server: str, name: str) -> str:
    """Return what clients call a prompt."""
    return f"{server}{_SEPARATOR}{name}"


def named_prompt(shown: str) -> Named | None:
    """Return the prompt that a client means; None if there can be no such."""
    server, _, name = shown.partition(_SEPARATOR)
    return Named(server, name) if server and name else None


def shown_entry(server: str, entry: Mapping[str, Any], key: str) -> dict[str, Any]:
    """Return an entry of a list with the names that clients see, `key` being what it is asked by.

    People read the title, or the name: both begin with the server's.
    """
    shown = dict(entry)
    for label in ("name", "title"):
        if isinstance(entry.get(label), str):
            shown[label] = f"{server}: {entry[label]}"
    name = str(entry[key])
    shown[key] = shown_prompt(server, name) if key == "name" else shown_uri(server, name)
    return shown


def shown_block(server: str, block: Any) -> Any:
    """Return a block of content in which a resource has the name that clients can read it by."""
    if not isinstance(block, Mapping):
        return block
    if block.get("type") == _LINK:
        return shown_contents(server, block)
    if block.get("type") == _EMBEDDED and isinstance(block.get("resource"), Mapping):
        return {**block, "resource": shown_contents(server, block["resource"])}
    return block


def shown_contents(server: str, contents: Any) -> Any:
    """Return the contents of a resource, or a link to it, with the name that clients know."""
    uri = contents.get("uri") if isinstance(contents, Mapping) else None
    return {**contents, "uri": shown_uri(server, uri)} if isinstance(uri, str) else contents
