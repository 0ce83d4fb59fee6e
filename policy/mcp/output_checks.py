"""Checks results of one server against the output schemas that it declares for its tools.

A schema comes from elsewhere, and so does the result: nothing is fetched, patterns are searched in
linear time, and the work is bounded. What cannot be checked within that is reported as such.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from policy.catalog import output_schema_problem, unfolded_size
from policy.diagnostics import visible
from policy.generation import OutputSchema
from policy.model import thaw
from policy.pins import Definition
from policy.tools import OutputInvalid
from policy.values import quote

if TYPE_CHECKING:
    from jsonschema_rs import Validator

_LOG = logging.getLogger(__name__)
# Nodes of the schema times values of the result: a tenth of a second at most.
_MOST_STEPS = 1_000_000
_CHARACTERS = 32  # that count as one value
_LONGEST = 200


class OutputChecks:
    """The checks of the tools of one server; `mode` says what a result leads to that fails one.

    `problems` are what was wrong with the results of each tool last.
    """

    def __init__(self, server: str, mode: OutputSchema) -> None:
        self._server = server
        self._mode = mode
        self._checks: dict[str, tuple[Definition, _Check]] = {}
        self.problems: dict[str, str] = {}

    def require_valid(self, tool: str, definition: Definition, result: Mapping[str, Any]) -> None:
        """Raise OutputInvalid for a result that does not satisfy the schema, if configured."""
        if self._mode == "off" or "outputSchema" not in definition or result.get("isError"):
            return
        problem = self._check_of(tool, definition).problem(result)
        if problem is None:
            return
        if self._mode == "strict":
            raise OutputInvalid(problem)
        said = f"a result of tool {quote(tool)} is not what it declares: {problem}"
        if self.problems.get(tool) != said:
            _LOG.warning("the MCP server %s: %s", self._server, said)
        self.problems[tool] = said

    def _check_of(self, tool: str, definition: Definition) -> _Check:
        known = self._checks.get(tool)
        # Keeping the definition prevents reuse of its identity.
        if known is None or known[0] is not definition:
            known = self._checks[tool] = (definition, _Check(definition["outputSchema"]))
        return known[1]


class _Check:
    """One output schema, compiled; `fault` is why results cannot be checked against it."""

    def __init__(self, schema: Any) -> None:
        self._validator: Validator | None = None
        self._size = 1
        self.fault = _fault(schema)
        if self.fault is None:
            self._compile(schema)

    def _compile(self, schema: Any) -> None:
        from jsonschema_rs import RegexOptions, ValidationError, validator_for

        self._size = unfolded_size(schema)[0]
        try:
            self._validator = validator_for(
                thaw(schema), offline=True, pattern_options=RegexOptions(), validate_formats=False
            )
        except (ValidationError, ValueError) as error:
            said = visible(str(error).partition("\n")[0], _LONGEST)
            self.fault = f"its output schema cannot be used: {said}"

    def problem(self, result: Mapping[str, Any]) -> str | None:
        """Return why a result does not satisfy the schema; None if it does.

        No key or value of the result is in the sentence: no label or redaction has seen them.
        """
        structured = result.get("structuredContent")
        if structured is None:
            return "it has no structured content"
        if self._validator is None:
            return self.fault
        if _weight(structured, _MOST_STEPS // self._size) is None:
            return "it is too large to be checked"
        error = next(self._validator.iter_errors(structured), None)
        if error is None:
            return None
        rule = "/".join(map(str, error.schema_path))
        return f"it does not satisfy {quote(f'/{rule}')} of the output schema"


def _fault(schema: Any) -> str | None:
    problem = output_schema_problem(schema)
    if problem is None and unfolded_size(schema)[1]:
        # Its alternatives can multiply at each level of a result.
        return "its output schema refers to itself"
    return problem


def _weight(value: Any, most: int) -> int | None:
    """Return about how many steps a value takes; None for more than `most`."""
    weight, todo = 0, [value]
    while todo:
        part = todo.pop()
        weight += 1
        if isinstance(part, str):
            weight += len(part) // _CHARACTERS
        elif isinstance(part, dict):
            todo.extend(part.values())
        elif isinstance(part, list):
            todo.extend(part)
        if weight + len(todo) > most:
            return None
    return weight
