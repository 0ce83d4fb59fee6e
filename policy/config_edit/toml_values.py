"""Keys and values of TOML: as a person types them, and as the file has them.

A key is a dotted key of TOML, its parts quoted if needed; a part without blanks, dots, quotes and
brackets needs no quotes (`permissions.tools.memory_*`). A value is TOML too; a single word that is
not TOML is a string (`ask`).
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from typing import Any, TypeAlias

import tomlkit
from tomlkit.exceptions import TOMLKitError
from tomlkit.items import Item

from policy.values import Unreadable, quote

Path: TypeAlias = tuple[str, ...]

_LONGEST_KEY = 1_000
_LONGEST_VALUE = 100_000
_MOST_PARTS = 16
_PART = r"""[ \t]*("(?:[^"\\\n]|\\[^\n])*"|'[^'\n]*'|[^\s."'=#\[\]{},\\\x00-\x1f\x7f]+)[ \t]*"""
_KEY = rf"{_PART}(?:\.{_PART})*"
_WORD = r"[^\s\"'=#\[\]{},\\\x00-\x1f\x7f]+"


def read_key(text: str) -> Path | Unreadable:
    """Return the path that a dotted key names."""
    if len(text) > _LONGEST_KEY or not re.fullmatch(_KEY, text) or not _is_unicode(text):
        return Unreadable(
            reason=f"{quote(text)} is not a dotted key such as `permissions.tools.code_exec`"
        )
    parts = re.findall(_PART, text)
    if len(parts) > _MOST_PARTS:
        return Unreadable(reason="the key has too many parts")
    try:
        return tuple(_unquoted(part) if part[0] in "\"'" else part for part in parts)
    except ValueError:
        return Unreadable(reason=f"{quote(text)} is not a dotted key")


def _unquoted(part: str) -> str:
    return next(iter(tomllib.loads(f"{part} = 0")))


def write_key(path: Path) -> str:
    """Return a path as TOML writes it."""
    return tomlkit.key(path).as_string()


def read_value(text: str) -> Any | Unreadable:
    """Return the value of a text: a literal of TOML, or a single word."""
    if len(text) <= _LONGEST_VALUE and "\n" not in text and _is_unicode(text):
        try:
            return tomlkit.value(text.strip(" \t")).unwrap()
        except (TOMLKitError, ValueError, RecursionError):
            if re.fullmatch(_WORD, text):
                return text
    return Unreadable(
        reason=f'{quote(text)} is not a value: write a word, or TOML such as "two words"'
    )


def write_item(value: Any) -> Item:
    """Return a value as tomlkit writes it in one line."""
    table = tomlkit.inline_table()
    table["value"] = value
    return table.value.body[0][1]


def write_value(value: Any) -> str | Unreadable:
    """Return a value as TOML writes it, in one line."""
    try:
        written = write_item(value).as_string()
    except (TOMLKitError, TypeError, ValueError, RecursionError):
        return Unreadable(reason=f"a value of type {type(value).__name__} is not TOML")
    if len(written) > _LONGEST_VALUE or not _is_unicode(written):
        return Unreadable(reason="the value is too long, or is not Unicode text")
    return written


def _is_unicode(text: str) -> bool:
    """Return whether a string can be encoded, as it has no lone surrogates."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def plain_value(value: Any) -> Any:
    """Return a value in the types that tomllib returns: a string for a member of an enum."""
    match value:
        case str():
            return str.__str__(value)
        case Mapping():
            return {plain_value(key): plain_value(part) for key, part in value.items()}
        case list() | tuple():
            return [plain_value(part) for part in value]
        case _:
            return value
