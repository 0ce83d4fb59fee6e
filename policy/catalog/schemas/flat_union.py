"""Joins objects that a tag distinguishes into one flat object with the fields of all.

The tag is a string with its values listed; the description of every other field names the objects
that have it, and a field is required only if all of them require it. So the flat object accepts
every input that one of them accepts, and the tool checks which fields belong together.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from policy.catalog.schemas.walk import Schema

TAGS = ("operation", "type")
_SAID = frozenset({"description", "default", "examples"})
_OBJECT = frozenset({"type", "properties", "required", "additionalProperties", "description"})


class ConflictingFields(ValueError):
    """Fields of one name that no simple schema covers; `field` is that name."""

    def __init__(self, field: str) -> None:
        super().__init__(f"`{field}` is a different type of object or list in each")
        self.field = field


def flat_union(branches: Sequence[Schema], tag: str | None = None) -> dict[str, Any] | None:
    """Return the flat object of plain schemas, which keeps a null among them; None if impossible.

    Without a `tag`, the first field is used that all require and whose values distinguish them.
    """
    objects = [branch for branch in branches if branch != {"type": "null"}]
    if len(objects) < 2 or not all(_is_closed_object(branch) for branch in objects):
        return None
    names = (tag,) if tag else dict.fromkeys((*TAGS, *objects[0]["properties"]))
    for name in names:
        if not tag and not all(name in branch.get("required", ()) for branch in objects):
            continue
        values = [tag_values(branch["properties"].get(name)) for branch in objects]
        if have_distinct_tags(values):
            try:
                flat = flat_object(objects, name)
            except ConflictingFields:
                return None
            return flat if len(objects) == len(branches) else _or_null(flat)
    return None


def flat_object(branches: Sequence[Schema], tag: str) -> dict[str, Any]:
    """Return one object for all branches, each of which has different values of `tag`.

    Raises ConflictingFields if fields of one name are not a union of simple types.
    """
    labels = ["`, `".join(tag_values(branch["properties"][tag])) for branch in branches]
    names = dict.fromkeys(name for branch in branches for name in branch["properties"])
    fields = {name: _Field(name, branches, labels) for name in names if name != tag}
    return {
        "type": "object",
        "properties": {
            tag: _tag_field(branches, labels, tag),
            **{name: field.written() for name, field in fields.items()},
        },
        "required": [tag, *(name for name, field in fields.items() if field.is_required)],
        "additionalProperties": False,
    }


def tag_values(schema: object) -> tuple[str, ...]:
    """Return the strings that are a field's only values; empty if it can have other values."""
    if not isinstance(schema, Mapping):
        return ()
    values = [schema["const"]] if "const" in schema else schema.get("enum", ())
    texts = tuple(value for value in values if isinstance(value, str))
    return texts if len(texts) == len(values) else ()


def have_distinct_tags(values: Iterable[Sequence[str]]) -> bool:
    """Return whether each has a value, and no value occurs twice."""
    each = list(values)
    listed = [value for some in each for value in some]
    return all(each) and len(set(listed)) == len(listed)


def _is_closed_object(schema: Schema) -> bool:
    return (
        schema.get("type") == "object"
        and schema.get("additionalProperties") is False
        and isinstance(schema.get("properties"), Mapping)
        and not set(schema) - _OBJECT
    )


def _or_null(flat: dict[str, Any]) -> dict[str, Any]:
    return {"anyOf": [flat, {"type": "null"}]}


def _tag_field(branches: Sequence[Schema], labels: list[str], tag: str) -> dict[str, Any]:
    parts = [branch["properties"][tag] for branch in branches]
    said = [part.get("description") for part in parts if part.get("description")]
    each = [
        f"`{label}`: {branch['description']}" if branch.get("description") else f"`{label}`"
        for label, branch in zip(labels, branches, strict=True)
    ]
    return {
        "type": "string",
        "enum": [value for part in parts for value in tag_values(part)],
        "description": " ".join((*dict.fromkeys(said), *each)),
    }


class _Field:
    """The declarations of all branches for the field of one name."""

    def __init__(self, name: str, branches: Sequence[Schema], labels: list[str]) -> None:
        having = [
            (label, branch)
            for label, branch in zip(labels, branches, strict=True)
            if name in branch["properties"]
        ]
        self.name = name
        self.parts = {label: branch["properties"][name] for label, branch in having}
        self.by = [label for label, branch in having if name in branch.get("required", ())]
        self.is_required = len(self.by) == len(branches)

    def written(self) -> dict[str, Any]:
        """Return the field's schema.

        It has no default: filling it in would set a field of another operation.
        """
        bare = [{k: v for k, v in p.items() if k not in _SAID} for p in self.parts.values()]
        return {**_union(bare, self.name), "description": f"{self._said()} {self._whose()}".strip()}

    def _said(self) -> str:
        said: dict[str, list[str]] = {}
        for label, part in self.parts.items():
            said.setdefault(str(part.get("description", "")), []).append(f"`{label}`")
        if len(said) == 1:
            return next(iter(said))
        return " ".join(f"{', '.join(whose)}: {text}" for text, whose in said.items() if text)

    def _whose(self) -> str:
        required = ", ".join(f"`{label}`" for label in self.by)
        optional = ", ".join(
            f"`{label}`{_default(part)}"
            for label, part in self.parts.items()
            if label not in self.by
        )
        whose = [f"required by {required}"] * bool(required)
        whose += [f"optional in {optional}"] * bool(optional)
        text = "; ".join(whose)
        return f"({text[0].upper()}{text[1:]}.)"


def _default(part: Schema) -> str:
    value = part.get("default")
    if isinstance(value, bool):
        return f" (default {str(value).lower()})"
    return f" (default {value})" if isinstance(value, (int, float, str)) and value != "" else ""


def _union(parts: Sequence[Schema], name: str) -> dict[str, Any]:
    found: list[Schema] = []
    for part in parts:
        inner = part["anyOf"] if set(part) == {"anyOf"} else (part,)
        found.extend(branch for branch in inner if branch not in found)
    if len(found) == 1:
        return dict(found[0])
    if all(tag_values(part) for part in found):
        values = dict.fromkeys(value for part in found for value in tag_values(part))
        return {"type": "string", "enum": list(values)}
    if sum(not _is_simple(part) for part in found) > 1:
        raise ConflictingFields(name)
    return {"anyOf": [dict(part) for part in found]}


def _is_simple(part: Schema) -> bool:
    types = part.get("type")
    named = (types,) if isinstance(types, str) else types or ()
    return bool(tag_values(part)) or (bool(named) and not {"object", "array"} & set(named))
