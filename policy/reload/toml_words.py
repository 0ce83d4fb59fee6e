"""What a person writes for a key or a value in; a path of names, or a value of TOML, out.

A key is TOML's, dotted, its parts quoted where needed; a part without blanks, dots, quotes and
brackets needs no quotes (`permissions.tools.memory_*`). A value is TOML's too; a single word that
is none is a text (`ask`).
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from datetime import date, datetime, time
from typing import Any, TypeAlias

import tomlkit
from tomlkit.items import InlineTable

from policy.values import Unreadable, quote

Path: TypeAlias = tuple[str, ...]

_LONGEST_KEY = 1_000
_LONGEST_VALUE = 100_000
_DEEPEST = 16
_PART = re.compile(
    r"""[ \t]*("(?:[^"\\\n]|\\[^\n])*"|'[^'\n]*'|[^\s."'=#\[\]{},\\\x00-\x1f\x7f]+)[ \t]*"""
)
_BARE = re.compile(r"[A-Za-z0-9_-]+")
_WORD = re.compile(r"[^\s\"'=#\[\]{},\\\x00-\x1f\x7f]+")


def read_key(text: str) -> Path | Unreadable:
    """Return the path that a dotted key names."""
    if not text.strip() or len(text) > _LONGEST_KEY or not _is_text(text):
        return Unreadable(reason="a key is written like `permissions.tools.code_exec`")
    path: list[str] = []
    at = 0
    while True:
        part = _PART.match(text, at)
        if part is None:
            return Unreadable(reason=f"{quote(text)} is no dotted key")
        name = _name(part.group(1))
        if isinstance(name, Unreadable):
            return name
        path.append(name)
        at = part.end()
        if at == len(text):
            break
        if text[at] != ".":
            return Unreadable(reason=f"{quote(text)} is no dotted key")
        at += 1
    if len(path) > _DEEPEST:
        return Unreadable(reason="the key has too many parts")
    return tuple(path)


def _is_text(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _name(written: str) -> str | Unreadable:
    if written[0] not in "\"'":
        return written
    try:
        return next(iter(tomllib.loads(f"{written} = 0")))
    except ValueError:
        return Unreadable(reason=f"{quote(written)} is no quoted part of a key")


def write_key(path: Path) -> str:
    """Return a path as TOML writes it."""
    return ".".join(name if _BARE.fullmatch(name) else _quoted(name) for name in path)


def _quoted(name: str) -> str:
    return str(tomlkit.item(name).as_string())


def read_value(text: str) -> Any | Unreadable:
    """Return the value that a text stands for: a literal of TOML, or a single word."""
    if len(text) > _LONGEST_VALUE or not _is_text(text):
        return Unreadable(reason="the value is too long, or no text")
    try:
        read = tomllib.loads(f"value = {text}") if "\n" not in text and "\r" not in text else {}
    except (ValueError, RecursionError):
        read = {}
    if read.keys() == {"value"} and "#" not in _outside_texts(text):
        return read["value"]
    if _WORD.fullmatch(text):
        return text
    return Unreadable(
        reason=f'{quote(text)} is no value: write a word, or TOML such as "two words"'
    )


def _outside_texts(text: str) -> str:
    return re.sub(r""""(?:[^"\\]|\\.)*"|'[^']*'""", "", text)


def write_value(value: Any) -> str | Unreadable:
    """Return a value as TOML writes it, in one line."""
    problem = _problem(value, depth=0)
    if problem is not None:
        return Unreadable(reason=problem)
    return str(tomlkit.item(_plain(value)).as_string())


def _problem(value: Any, *, depth: int) -> str | None:
    """Return why a value cannot stand in the configuration, None if it can."""
    if depth > _DEEPEST:
        return "the value is nested too deeply"
    match value:
        case str():
            if len(value) <= _LONGEST_VALUE and _is_text(value):
                return None
            return "the value is too long, or no text"
        case bool() | int() | float() | datetime() | date() | time():
            return None
        case list() | tuple():
            parts = value
        case Mapping():
            if not all(isinstance(key, str) and _is_text(key) for key in value):
                return "keys are texts"
            parts = tuple(value.values())
        case _:
            return f"{type(value).__name__} is no kind of value that TOML has"
    return next((found for part in parts if (found := _problem(part, depth=depth + 1))), None)


def plain_value(value: Any) -> Any:
    """Return a value in the kinds that TOML's reader gives, such as a text for an enum's member."""
    match value:
        case str():
            return str.__str__(value)
        case Mapping():
            return {plain_value(key): plain_value(part) for key, part in value.items()}
        case list() | tuple():
            return [plain_value(part) for part in value]
        case _:
            return value


def _plain(value: Any) -> Any:
    """Return a value with lists and inline tables as tomlkit writes them in one line."""
    match value:
        case Mapping():
            table: InlineTable = tomlkit.inline_table()
            for key, part in value.items():
                table.append(key, _plain(part))
            return table
        case list() | tuple():
            return [_plain(part) for part in value]
        case _:
            return value
