"""A tool's definition without some of its operations, which nothing in it mentions.

An operation that a caller may never use is left out with its fields, its values and every sentence
that names it. Where the operations have schemas of their own, the fields that belong to it alone
are known; of a single schema with a list of operations, they are not, and its fields stay.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

import orjson

from policy.catalog.operation_tag import OperationTag
from policy.catalog.schemas.flat_union import (
    ConflictingFields,
    flat_object,
    have_distinct_tags,
    tag_values,
)
from policy.catalog.schemas.model_form import schema_strictify, union_branches
from policy.catalog.schemas.walk import Schema, mapping
from policy.catalog.tool import ToolSpec

# Keywords of a schema that hold values.
_VALUES = frozenset({"enum", "const", "default", "examples", "required"})
_SENTENCE_END = re.compile(r"(?<=[.!?;])[ \t]+")
# Names that are no words of a language: `max_results`, `toAddress`.
_CODE_LIKE = re.compile(r"[_0-9]|[a-z][A-Z]")


@dataclass(frozen=True, slots=True, kw_only=True)
class FewerOperations:
    """The `kept` operations of a tool whose operations the field `tag` distinguishes."""

    tag: OperationTag
    kept: tuple[str, ...]
    branches: tuple[Schema, ...] = ()

    @classmethod
    def of(cls, spec: ToolSpec, tag: OperationTag, kept: Collection[str]) -> FewerOperations:
        """Return the operations of `kept`, in the order of the tool's own list."""
        ordered = tuple(value for value in tag.values if value in kept)
        branches = spec.operations or union_branches(spec.schema)
        own = [tag_values(mapping(one.get("properties")).get(tag.name)) for one in branches]
        return cls(tag=tag, kept=ordered, branches=branches if have_distinct_tags(own) else ())

    @property
    def hidden(self) -> tuple[str, ...]:
        """The operations that are left out."""
        return tuple(value for value in self.tag.values if value not in self.kept)

    @property
    def hidden_fields(self) -> tuple[str, ...]:
        """The fields that only operations have which are left out."""
        kept = {name for branch in self._kept_branches() for name in _fields(branch)}
        every = dict.fromkeys(name for branch in self.branches for name in _fields(branch))
        return tuple(name for name in every if name not in kept)

    def schema(self, given: Schema) -> dict[str, Any]:
        """Return a tool's schema with the operations that are kept, in its plain form."""
        plain = schema_strictify(given)
        said = {"description": plain["description"]} if "description" in plain else {}
        try:
            branches = self._kept_branches()
            flat = {**flat_object(branches, self.tag.name), **said} if branches else None
        except ConflictingFields:
            flat = None
        return self._without_mentions(flat or self._narrowed(plain))

    def text(self, said: str) -> str:
        """Return a text without the sentences that name what is left out."""
        named = self._names()
        if named.search(said) is None:
            return said
        lines = []
        for line in said.split("\n"):
            sentences = _SENTENCE_END.split(line)
            kept = [sentence for sentence in sentences if named.search(sentence) is None]
            if kept or not line:
                lines.append(" ".join(kept))
        return "\n".join(lines).strip()

    def described(self, said: str) -> str:
        """Return a tool's description; if nothing is left of it, the list of its operations."""
        text = self.text(said)
        listed = ", ".join(f"`{value}`" for value in self.kept)
        return text if text or not said else f"Operations: {listed}."

    def examples(self, said: str) -> str | None:
        """Return the lines of examples that are not examples of what is left out."""
        head, *lines = said.split("\n")
        kept = [line for line in lines if not self._is_hidden_example(line)]
        return "\n".join((head, *kept)) if kept else None

    def output(self, schema: Schema) -> dict[str, Any]:
        """Return the schema of a tool's result without sentences that name what is left out."""
        return self._without_mentions(dict(schema))

    def _kept_branches(self) -> tuple[dict[str, Any], ...]:
        """Return the schemas of the operations that are kept, each with its own values only."""
        found = []
        for branch in self.branches:
            tag = branch["properties"][self.tag.name]
            values = [value for value in tag_values(tag) if value in self.kept]
            if values:
                rest = {key: said for key, said in tag.items() if key != "const"}
                properties = {**branch["properties"], self.tag.name: {**rest, "enum": values}}
                found.append({**branch, "properties": properties})
        return tuple(found)

    def _narrowed(self, plain: dict[str, Any]) -> dict[str, Any]:
        properties = dict(plain["properties"])
        tag = {**properties[self.tag.name], "enum": list(self.kept)}
        return {**plain, "properties": {**properties, self.tag.name: tag}}

    def _is_hidden_example(self, line: str) -> bool:
        try:
            example = orjson.loads(line)
        except orjson.JSONDecodeError:
            return self._names().search(line) is not None
        return isinstance(example, dict) and example.get(self.tag.name) in self.hidden

    def _names(self) -> re.Pattern[str]:
        """Return the pattern of what names an operation or a field that is left out."""
        operations = [rf"(?<![\w-]){re.escape(name)}(?![\w-])" for name in self.hidden]
        fields = [_field_pattern(name) for name in self.hidden_fields]
        return re.compile("|".join((*operations, *fields)), re.IGNORECASE)

    def _without_mentions(self, schema: Schema) -> dict[str, Any]:
        """Return a schema whose descriptions name nothing that is left out."""
        parts = {key: self._part(key, part) for key, part in schema.items()}
        return {key: part for key, part in parts.items() if (key, part) != ("description", "")}

    def _part(self, key: str, part: Any) -> Any:
        if key == "description" and isinstance(part, str):
            return self.text(part)
        if key == "properties" and isinstance(part, Mapping):
            return {name: self._below(below) for name, below in part.items()}
        return part if key in _VALUES else self._below(part)

    def _below(self, part: Any) -> Any:
        if isinstance(part, Mapping):
            return self._without_mentions(part)
        return [self._below(each) for each in part] if isinstance(part, (list, tuple)) else part


def _fields(branch: Schema) -> tuple[str, ...]:
    return tuple(mapping(branch.get("properties")))


def _field_pattern(name: str) -> str:
    """Return the pattern of a field that is named as one: `to` alone is a word of any sentence."""
    escaped = re.escape(name)
    if _CODE_LIKE.search(name):
        return rf"(?<!\w){escaped}(?!\w)"
    return rf"""[`'"]{escaped}[`'"]|(?<!\w){escaped}[=:]"""
