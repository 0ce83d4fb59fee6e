"""What a server shows to a user, made so that it cannot pass for anything else.

The text comes from a program that nobody here trusts. It is quoted under a line that names the
server, without hidden characters, and a form has only the fields that the protocol knows.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from policy.diagnostics import visible

_LONGEST_MESSAGE = 4_000  # characters
_MOST_LINES = 60
_MOST_FIELDS = 50
_MOST_CHOICES = 500
_LONGEST_NAME = 100
_LONGEST_TEXT = 500
_LONGEST_URL = 2_000

# The keys of a field, by its type, whose values show nothing or are compared with the answer.
_PLAIN = {
    "string": ("minLength", "maxLength", "format", "default"),
    "number": ("minimum", "maximum", "default"),
    "integer": ("minimum", "maximum", "default"),
    "boolean": ("default",),
    "array": ("minItems", "maxItems", "default"),
}
_FORMATS = ("email", "uri", "date", "date-time")


class BadForm(ValueError):
    """What a server wants to show cannot be shown; the message says why."""


def quoted_message(server: str, message: str, *, does: str) -> str:
    """Return a server's message under a line that names the server. Raises BadForm."""
    if len(message) > _LONGEST_MESSAGE:
        raise BadForm(f"the message has more than {_LONGEST_MESSAGE:,} characters")
    lines = message.splitlines() or [""]
    if len(lines) > _MOST_LINES:
        raise BadForm(f"the message has more than {_MOST_LINES} lines")
    head = (
        f"The MCP server `{visible(server, 100)}` {does}. These are its words, not Placet's; your "
        "answer goes to that server, and approves no call."
    )
    return "\n".join((head, *(f"> {visible(line)}" for line in lines)))


def host_of(url: str) -> str:
    """Return the host of a page that a user may be sent to. Raises BadForm."""
    if len(url) > _LONGEST_URL or not url.isascii() or not url.isprintable() or " " in url:
        raise BadForm("the URL is too long, or has characters that it has to escape")
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
        known = parts.scheme in ("https", "http") and bool(host) and (parts.port or 1) > 0
    except ValueError:
        known = False
    if not known or "\\" in url:
        raise BadForm("the URL is no address of a page, such as `https://host/path`")
    if "@" in parts.netloc:
        raise BadForm("the URL has a user name in it, which could pass for its host")
    return host


def checked_form(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema of a form with what the protocol knows, and no more. Raises BadForm."""
    properties = schema.get("properties", {})
    if schema.get("type") != "object" or not isinstance(properties, Mapping):
        raise BadForm("the form is not an object with `properties`")
    if len(properties) > _MOST_FIELDS:
        raise BadForm(f"the form has more than {_MOST_FIELDS} fields")
    required = schema.get("required", ())
    if not isinstance(required, list | tuple) or any(name not in properties for name in required):
        raise BadForm("`required` of the form names fields that it does not have")
    return {
        "type": "object",
        "properties": {_name(name): _field(name, said) for name, said in properties.items()},
        **({"required": list(required)} if required else {}),
    }


def _name(name: str) -> str:
    if not name or len(name) > _LONGEST_NAME or visible(name) != name:
        raise BadForm("a field of the form has a name that cannot be shown")
    return name


def _field(name: str, said: Any) -> dict[str, Any]:
    if not isinstance(said, Mapping):
        raise BadForm(f"the field `{name}` of the form has no schema")
    kind = said.get("type", "string" if "enum" in said or "oneOf" in said else None)
    if kind not in _PLAIN:
        raise BadForm(f"the field `{name}` of the form is no text, number, yes or no, or choice")
    found = {key: said[key] for key in _PLAIN[kind] if key in said}
    if found.get("format") not in (None, *_FORMATS):
        del found["format"]
    if isinstance(found.get("default"), str | list | tuple | Mapping):
        found["default"] = _value(name, found["default"])
    for key in ("title", "description"):
        if isinstance(said.get(key), str):
            found[key] = visible(said[key], _LONGEST_TEXT)
    if kind == "string":
        found |= _choices(name, said, "oneOf")
    if kind == "array":
        items = said.get("items")
        choices = _choices(name, items, "anyOf") if isinstance(items, Mapping) else {}
        if not choices:
            raise BadForm(f"the field `{name}` of the form is a list of anything")
        found["items"] = choices if "anyOf" in choices else {"type": "string", **choices}
    return {"type": kind, **found}


def _choices(name: str, said: Mapping[str, Any], titled: str) -> dict[str, Any]:
    """Return the choices of a field: plain, with names beside them, or with titles."""
    found: dict[str, Any] = {}
    for key in ("enum", "enumNames"):
        if key in said:
            found[key] = [_value(name, each) for each in _listed(name, said[key])]
    if titled in said:
        found[titled] = [_titled(name, each) for each in _listed(name, said[titled])]
    return found


def _titled(name: str, said: Any) -> dict[str, Any]:
    if not isinstance(said, Mapping):
        raise BadForm(f"the field `{name}` of the form has a choice without `const`")
    value, title = said.get("const"), said.get("title", "")
    return {"const": _value(name, value), "title": _value(name, title)}


def _listed(name: str, values: Any) -> list[Any]:
    if not isinstance(values, list | tuple) or not 0 < len(values) <= _MOST_CHOICES:
        raise BadForm(f"the field `{name}` of the form has no choices, or too many")
    return list(values)


def _value(name: str, value: Any) -> Any:
    """Return a text, or a list of them, that is shown as it is, since the answer repeats it."""
    if isinstance(value, list | tuple):
        return [_value(name, each) for each in value]
    if not isinstance(value, str) or visible(value, _LONGEST_TEXT) != value:
        raise BadForm(f"the field `{name}` of the form has a value that cannot be shown")
    return value
