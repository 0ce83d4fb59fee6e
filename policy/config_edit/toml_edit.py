"""Sets or removes one key in the text of a TOML file; all else stays.

tomlkit keeps comments, blank lines, order, quoting and line endings. A new key is added below the
last one of its table, a new table at the end of the file. With an entry, the comment on its line is
removed, and its table if that becomes empty. tomllib then reads the result: it is refused unless it
has exactly that change, and all other comments.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import tomlkit
from tomlkit.container import Container
from tomlkit.exceptions import TOMLKitError
from tomlkit.items import AoT, InlineTable, Item, SingleKey, Table, Whitespace

from policy.config_edit.toml_values import Path, write_item, write_key, write_value
from policy.generation import comments
from policy.values import Unreadable

_IN_THE_WAY = "the key cannot be edited in this file as it is written; edit the file"
_COMMENTS = "the edit would drop comments within the value; edit the file"

# The containers on the way to an entry, each with the index of the next one in its body.
Way: TypeAlias = tuple[tuple[Container, int], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Missing:
    """The key that should be removed is not set."""


class _RefusedError(Exception):
    """The edit cannot be made; the message says why."""


def value_at(table: Mapping[str, Any], path: Path) -> Any:
    """Return the value at a path of parsed TOML; None, which TOML does not have, if not set."""
    found: Any = table
    for name in path:
        if not isinstance(found, Mapping) or name not in found:
            return None
        found = found[name]
    return found


def set_value(text: str, path: Path, value: Any) -> str | Unreadable:
    """Return the text with `value` at `path`; `text` is TOML."""
    literal = write_value(value)
    return literal if isinstance(literal, Unreadable) else _edited(text, path, value)


def unset_value(text: str, path: Path) -> str | Unreadable | Missing:
    """Return the text without the entry at `path`; `text` is TOML."""
    if value_at(tomllib.loads(text), path) is None:
        return Missing()
    return _edited(text, path, None)


def _edited(text: str, path: Path, value: Any) -> str | Unreadable:
    """Return the text with the edit; the value None removes the entry."""
    ending = "\r\n" if "\r\n" in text else "\n"
    whole = text if not text or text.endswith("\n") else text + ending
    try:
        document = tomlkit.parse(whole)
        if document.as_string() != whole:
            return Unreadable(reason=_IN_THE_WAY)
        way = _way(document, path)
        if value is None:
            _remove(way, path)
        elif way:
            _replace(way, path, value)
        elif (table := _table(document, path[:-1])) is not None:
            _add(table, path[-1], value, ending)
        else:
            document = tomlkit.parse(whole + _new_table(whole, path, value, ending))
        return _checked(text, document.as_string(), path, value)
    except _RefusedError as refused:
        return Unreadable(reason=str(refused))
    except (TOMLKitError, ValueError, RecursionError):
        return Unreadable(reason=_IN_THE_WAY)


def _way(container: Container, path: Path) -> Way:
    """Return the way to the entry at a path, or to the value that contains it; else empty."""
    for place, (key, item) in enumerate(container.body):
        if key is None or key.key != path[0]:
            continue
        if not isinstance(item, Table) or len(path) == 1:
            return ((container, place),)
        if below := _way(item.value, path[1:]):
            return ((container, place), *below)
    return ()


def _end(way: Way, path: Path) -> tuple[Item, Path]:
    """Return the value that a way leads to, and the rest of the path within it."""
    container, place = way[-1]
    item = container.body[place][1]
    if isinstance(item, AoT):
        raise _RefusedError("a list of tables cannot be edited by key; edit the file")
    if isinstance(item, Table):
        raise _RefusedError(f"`{write_key(path)}` is a table: edit its keys one by one")
    return item, path[len(way) :]


def _replace(way: Way, path: Path, value: Any) -> None:
    item, rest = _end(way, path)
    if rest:
        _inline(item, rest[:-1], path)[rest[-1]] = value
    else:
        way[-1][0][path[-1]] = write_item(value)


def _remove(way: Way, path: Path) -> None:
    item, rest = _end(way, path)
    if rest:
        del _inline(item, rest[:-1], path)[rest[-1]]
        return
    container, place = way[-1]
    del container.body[place]
    for above, place in reversed(way[:-1]):  # the tables that become empty, up to a header
        key, table = above.body[place]
        if table.trivia.comment or not all(
            isinstance(left, Whitespace) for _, left in container.body
        ):
            return
        del above.body[place]
        if key is None or not key.is_dotted():
            return
        container = above


def _inline(item: Any, names: Path, path: Path) -> InlineTable:
    """Return the inline table below an inline table, created if it is missing."""
    for name in names:
        if isinstance(item, InlineTable):
            item = item.setdefault(name, tomlkit.inline_table())
    if not isinstance(item, InlineTable):
        raise _RefusedError(f"`{write_key(path[:-1])}` is not a table")
    return item


def _table(container: Container, path: Path) -> Container | None:
    """Return the table at a path to which entries can be added: with a header, or dotted keys."""
    if not path:
        return container
    for key, item in reversed(container.body):
        if isinstance(item, Table) and key is not None and key.key == path[0]:
            below = _table(item.value, path[1:])
            hidden = len(path) == 1 and item.is_super_table() and not key.is_dotted()
            if below is not None and not hidden:
                return below
    return None


def _add(table: Container, name: str, value: Any, ending: str) -> None:
    """Add an entry below the last one of a table, above the comments that follow it."""
    place, indent = 0, ""
    for index, (key, item) in enumerate(table.body, start=1):
        if key is not None and (key.is_dotted() or not isinstance(item, (Table, AoT))):
            place, indent = index, item.trivia.indent
    new = write_item(value)
    new.trivia.indent, new.trivia.trail = indent, ending
    table.body.insert(place, (SingleKey(name), new))


def _new_table(text: str, path: Path, value: Any, ending: str) -> str:
    """Return the lines of a table with one entry, for the end of a text."""
    blank = "" if not text or text.endswith((2 * ending, "\n\n")) else ending
    entry = f"{write_key(path[-1:])} = {write_item(value).as_string()}"
    return f"{blank}[{write_key(path[:-1])}]{ending}{entry}{ending}"


def _checked(before: str, after: str, path: Path, value: Any) -> str | Unreadable:
    """Return the new text if tomllib finds exactly that change in it."""
    wanted = tomllib.loads(before)
    _change(wanted, path, value)
    if _comparable(tomllib.loads(after)) != _comparable(wanted):
        return Unreadable(reason=_IN_THE_WAY)
    # The comment on the line of an entry is removed with it; all others stay.
    dropped = len(comments(before)) - len(comments(after))
    return Unreadable(reason=_COMMENTS) if dropped > (value is None) else after


def _change(table: dict[str, Any], path: Path, value: Any) -> None:
    for name in path[:-1]:
        table = table.setdefault(name, {})
    if value is None:
        del table[path[-1]]
    else:
        table[path[-1]] = value


def _comparable(value: Any) -> Any:
    """Return a value in a form that distinguishes types, but neither order nor empty tables."""
    match value:
        case Mapping():
            parts = {key: _comparable(part) for key, part in value.items()}
            return {key: part for key, part in parts.items() if part != {}}
        case list() | tuple():
            return [_comparable(part) for part in value]
        case _:
            return (type(value).__name__, repr(value))
