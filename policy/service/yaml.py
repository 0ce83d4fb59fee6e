"""Tool definitions and JSON values as YAML, which reads back as the same value.

A description comes from the tool's author, and may try to end the block that it is shown in. So
every string and key is a double-quoted scalar in printable ASCII without line breaks; characters
with a meaning in prose, prompts or templates are escaped. The only other scalars are `null`,
`true`, `false` and numbers, and there are no tags, anchors or document marks.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

import yaml

from policy.model import thaw
from policy.tools import ToolDefinition

_DEEPEST = 100
# Printable characters with a meaning in Markdown, templates, shells or markup.
_MARKING = frozenset('"\\`$<>{}|&#~')
_NAMED = {"\n": "\\n", "\t": "\\t", "\r": "\\r", '"': '\\"', "\\": "\\\\"}


def yaml_of(value: Any) -> str:
    """Return definitions, one or several, or a JSON value, as YAML in printable ASCII.

    Raises ValueError for a value that is not JSON, or is nested too deeply.
    """
    plain = _plain(value, 0)
    return yaml.dump(plain, Dumper=_Dumper, sort_keys=False, allow_unicode=False, width=_ENDLESS)


def definition_as_json(definition: ToolDefinition) -> dict[str, Any]:
    """Return a definition as a JSON object, without empty fields."""
    said = {
        "name": definition.name,
        "version": definition.version,
        "description": definition.description,
        "category": definition.category,
        "source": definition.source,
        "may_ask": definition.may_ask,
        "requires_confirmation": definition.requires_confirmation,
        "strict": definition.strict,
        "parameters": thaw(definition.parameters),
        "output": thaw(definition.output),
        "usage_rule": definition.usage_rule,
        "llm_context": definition.llm_context,
    }
    return {key: value for key, value in said.items() if value is not None}


class _Number(str):
    """A number as it is written."""

    __slots__ = ()


def _plain(value: Any, depth: int) -> Any:
    """Return a value in the few types that the writer supports; ValueError for any other."""
    if depth > _DEEPEST:
        raise ValueError("the value is nested too deeply")
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return str(value)
    if isinstance(value, (int, float, Decimal)):
        return _Number(_number(value))
    if isinstance(value, ToolDefinition):
        return _plain(definition_as_json(value), depth)
    if isinstance(value, Mapping):
        if not all(isinstance(key, str) for key in value):
            raise ValueError("a key is not a string")
        return {str(key): _plain(item, depth + 1) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item, depth + 1) for item in value]
    raise ValueError(f"a {type(value).__name__} is not a JSON value")


def _number(value: int | float | Decimal) -> str:
    if isinstance(value, int):
        return int.__repr__(value)
    if not (value.is_finite() if isinstance(value, Decimal) else math.isfinite(value)):
        raise ValueError("the number is not one that JSON has")
    text = repr(float(value)) if isinstance(value, float) else format(value, "E")
    mantissa, _, exponent = text.lower().partition("e")
    # Without a point, or a sign of the exponent, YAML 1.1 reads a string.
    point = mantissa if "." in mantissa else f"{mantissa}.0"
    sign = "" if exponent[:1] in ("-", "+") else "+"
    return f"{point}e{sign}{exponent}" if exponent else point


def _escaped(character: str) -> str:
    if character in _NAMED:
        return _NAMED[character]
    code = ord(character)
    if " " <= character <= "~" and character not in _MARKING:
        return character
    if code <= 0xFF:
        return f"\\x{code:02X}"
    return f"\\u{code:04X}" if code <= 0xFFFF else f"\\U{code:08X}"


# A string is never folded, so that every line is one entry.
_ENDLESS = 2**31


class _Dumper(yaml.SafeDumper):
    """Writes strings in one way only, and no document end mark."""

    def ignore_aliases(self, data: Any) -> bool:
        return True

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:  # noqa: FBT001, FBT002
        # A list is indented deeper than the key that it belongs to.
        super().increase_indent(flow=flow, indentless=False)

    def write_double_quoted(self, text: str, split: bool = True) -> None:  # noqa: FBT001, FBT002
        self.write_indicator('"' + "".join(map(_escaped, text)) + '"', need_whitespace=True)

    def write_plain(self, text: str, split: bool = True) -> None:  # noqa: FBT001, FBT002
        super().write_plain(text, split)
        self.open_ended = False


def _text(dumper: yaml.SafeDumper, value: str) -> yaml.Node:
    return dumper.represent_scalar("tag:yaml.org,2002:str", value, style='"')


def _written_number(dumper: yaml.SafeDumper, value: _Number) -> yaml.Node:
    kind = "int" if value.lstrip("-").isdigit() else "float"
    return dumper.represent_scalar(f"tag:yaml.org,2002:{kind}", str(value))


_Dumper.add_representer(str, _text)
_Dumper.add_representer(_Number, _written_number)
