"""Checks inputs against a tool's schema, which is compiled once."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

from jsonschema_rs import (
    FancyRegexOptions,
    ValidationError,
    ValidationErrorKind,
    Validator,
    validator_for,
)

from policy.admission.coercion import is_whole, shown_path
from policy.admission.schema_node import SchemaNode
from policy.catalog import (
    ToolSpec,
    as_validated,
    has_defaults,
    json_type_of,
    schema_problem,
    unfolded_size,
)
from policy.model import thaw
from policy.values import escape_for_display

_MOST_PROBLEMS = 5
# Listing all problems takes far longer than finding the first.
_LARGEST_LISTED = 2_000
# A pattern from a tool's schema may use look-around; its search time is limited.
_MOST_STEPS_BACK = 100_000
_WORDS = {
    "string": "text",
    "number": "a number",
    "integer": "a whole number",
    "boolean": "true or false",
    "array": "a list",
    "list": "a list",
    "object": "an object",
    "null": "null",
}


class InputCheck:
    """The input check of one tool; with a `fault`, the reason why there is none, calls are refused.

    `fills` is whether any field may have a default.
    """

    def __init__(self, spec: ToolSpec) -> None:
        self.fault = spec.fault or schema_problem(spec.schema)
        self.place = SchemaNode({}, {})
        self.fills = False
        if self.fault is not None:
            return
        schema = thaw(spec.schema)
        try:
            self._validator = _validator(schema)
            validated = as_validated(schema)
            self.place = SchemaNode(validated, validated, top=True)
        except Exception as error:  # noqa: BLE001  (an untrusted schema may make it raise anything)
            self.fault = f"its schema is not valid: {_first_line(str(error))}"
            return
        self.fills = has_defaults(schema)
        size, is_cyclic = unfolded_size(schema)
        self._lists = size <= _LARGEST_LISTED and not is_cyclic

    def accepts(self, value: Any) -> bool:
        """Return whether the schema accepts a value."""
        return self._validator.is_valid(value)

    def problems(self, value: dict[str, Any]) -> tuple[str, ...]:
        """Return why the schema rejects `value`, one sentence each, a few at most."""
        found = list(islice(_plain_problems(value, self.place, ()), _MOST_PROBLEMS))
        if not found and self._lists:
            errors = islice(self._validator.iter_errors(value), _MOST_PROBLEMS)
            found = [_sentence(error) for error in errors]
        return tuple(found) or ("the input does not match the tool's schema",)


def _validator(schema: Any) -> Validator:
    patterns = FancyRegexOptions(backtrack_limit=_MOST_STEPS_BACK)
    return validator_for(schema, offline=True, mask="the value", pattern_options=patterns)


_GATES: dict[int, tuple[ToolSpec, InputCheck]] = {}
_MOST_GATES = 4096


def input_check_of(spec: ToolSpec) -> InputCheck:
    """Return the check of a tool, created on first use."""
    known = _GATES.get(id(spec))
    # Keeping the definition prevents reuse of its id.
    if known is not None and known[0] is spec:
        return known[1]
    gate = InputCheck(spec)
    if len(_GATES) >= _MOST_GATES:
        _GATES.clear()
    _GATES[id(spec)] = (spec, gate)
    return gate


def input_fault(spec: ToolSpec) -> str | None:
    """Return why calls of a tool cannot be checked, None if they can."""
    return input_check_of(spec).fault


def _plain_problems(value: Any, place: SchemaNode, path: tuple[str | int, ...]) -> Iterator[str]:
    """Yield the problems of types and required fields."""
    kind = json_type_of(value)
    wanted = place.types
    if "any" not in wanted and kind not in wanted and not _is_number(value, wanted):
        yield f"{shown_path(path)} must be {_either(wanted)}, not {_WORDS[kind]}"
    elif isinstance(value, dict):
        for name in place.names:
            if name not in value and place.requires(name):
                yield f"{shown_path((*path, name))} is missing"
        for name, item in value.items():
            below = place.field(name)
            if below is not None:
                yield from _plain_problems(item, below, (*path, name))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _plain_problems(item, place.element(index), (*path, index))


def _is_number(value: Any, wanted: frozenset[str]) -> bool:
    if isinstance(value, (str, bool, list, dict)) or value is None:
        return False
    return "number" in wanted or (
        "integer" in wanted and (isinstance(value, int) or is_whole(value))
    )


def _sentence(error: ValidationError) -> str:
    where = shown_path(tuple(error.instance_path))
    match error.kind:
        case ValidationErrorKind.Required(property=name):
            return f"{shown_path((*error.instance_path, str(name)))} is missing"
        case ValidationErrorKind.Type(types=kinds):
            return f"{where} must be {_either(frozenset(map(str, kinds)))}"
        case ValidationErrorKind.Enum(options=options):
            listed = ", ".join(f"`{escape_for_display(str(o), 40)}`" for o in list(options)[:8])
            return f"{where} must be one of {listed}"
        case ValidationErrorKind.Constant(expected_value=value):
            return f"{where} must be `{escape_for_display(str(value), 40)}`"
        case _:
            said = _first_line(error.message).replace("the value ", "")
            return f"{where} {said}"


def _either(kinds: frozenset[str]) -> str:
    words = sorted(_WORDS.get(kind, kind) for kind in kinds)
    return " or ".join(words) if words else "left out"


def _first_line(text: str) -> str:
    return escape_for_display(text.partition("\n")[0], 160)
