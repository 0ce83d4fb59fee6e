"""Renames fields that the schema does not have to those that they can only mean.

Models write `filePath` or `Path` for `path_file` and `path`. A field is renamed if exactly one
field of the same object has that name apart from case, separators and style, and the input does not
have that field as well. Nothing is guessed from similarity: a mistyped field is refused with a
hint.
"""

from __future__ import annotations

from typing import Any

from policy.admission.coercion import Path, shown_path
from policy.admission.schema_node import SchemaNode
from policy.catalog import spellings

# Longer strings are not names, and normalizing them takes time.
_LONGEST = 80


def rename(value: dict[str, Any], node: SchemaNode) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Return the input with the field names of the schema, and a note for each renamed field."""
    notes: list[str] = []
    renamed = _renamed(value, node, (), notes=notes)
    return (renamed, tuple(notes)) if notes else (value, ())


def _renamed(value: Any, node: SchemaNode, path: Path, *, notes: list[str]) -> Any:
    if isinstance(value, list):
        return [
            _renamed(item, node.element(i), (*path, i), notes=notes)
            if isinstance(item, (dict, list))
            else item
            for i, item in enumerate(value)
        ]
    meant = _meant(value, node)
    result: dict[str, Any] = {}
    for name, item in value.items():
        now = meant.get(name, name)
        if now != name:
            notes.append(f"{shown_path((*path, name))} read as `{now}`")
        below = node.field(now) if isinstance(item, (dict, list)) else None
        result[now] = item if below is None else _renamed(item, below, (*path, now), notes=notes)
    return result


def _meant(value: dict[str, Any], node: SchemaNode) -> dict[str, str]:
    """Return the names to change: each means one field, and no two mean the same."""
    foreign = [n for n in value if node.field(n) is None and len(n) <= _LONGEST]
    if not foreign:
        return {}
    free = [name for name in node.names if name not in value]
    found = {name: _only_fit(name, free) for name in foreign}
    taken = [name for name in found.values() if name is not None]
    return {old: new for old, new in found.items() if new is not None and taken.count(new) == 1}


def _only_fit(name: str, known: list[str]) -> str | None:
    wanted = spellings(name)
    spelled = [(k, spellings(k)) for k in known]
    for way in wanted:
        matching = [k for k, ways in spelled if way in ways]
        if matching:
            # Names equal but for case must not be split into other words than another match.
            loosest = [k for k, ways in spelled if wanted[-1] in ways] or matching
            return matching[0] if len(matching) == 1 and matching[0] in loosest else None
    return None
