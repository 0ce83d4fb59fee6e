"""The shapes in which a tool can be written, as protocols."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol, runtime_checkable


class Tool(Protocol):
    """A tool as a class: three class attributes, and a method `call`.

    `call` takes the validated arguments, and optionally a context. `Args` may be a union of models
    distinguished by `operation` or `type`; see `OperationsTool` for a method for each.

    These may be set as well: `Output`, a type; `CATEGORY`, `REQUIRES_CONFIRMATION`,
    `STRICT_SCHEMA`, `EXAMPLES`, `USAGE_RULE`, and every other field of `Traits`, in capitals.
    """

    @property
    def NAME(self) -> str:  # noqa: N802
        """The name agents call it by."""
        ...

    @property
    def DESCRIPTION(self) -> str:  # noqa: N802
        """Its description for models."""
        ...

    @property
    def Args(self) -> Any:  # noqa: N802
        """The model of its arguments, or a union of models."""
        ...

    @property
    def call(self) -> Callable[..., Any]:
        """Run the tool: `call(args)` or `call(args, ctx)`, plain or a coroutine function."""
        ...


class OperationsTool(Protocol):
    """A tool as a class with a method for each operation, with the operation's name.

    `Args` is a union of models distinguished by `operation` or `type`. The rest is as in `Tool`.
    """

    @property
    def NAME(self) -> str:  # noqa: N802
        """The name agents call it by."""
        ...

    @property
    def Args(self) -> Any:  # noqa: N802
        """The models of its operations, as a union."""
        ...


class AiTool(Protocol):
    """A tool as an object with models of its input and output.

    It may have `usage_rule()`, `category`, `traits` and so on as well; `Output` may be left out.
    """

    @property
    def Input(self) -> Any:  # noqa: N802
        """The model of its input, or a union of models."""
        ...

    @property
    def Output(self) -> Any:  # noqa: N802
        """The type of what it returns."""
        ...

    @property
    def name(self) -> str:
        """The name agents call it by."""
        ...

    @property
    def description(self) -> str:
        """Its description for models."""
        ...

    @property
    def execute(self) -> Callable[..., Any]:
        """Run the tool: `execute(params)` or `execute(params, ctx)`, plain or a coroutine."""
        ...


class ContextTool(Protocol):
    """A tool with its own schema, which is run with a JSON object and the call's context."""

    @property
    def name(self) -> str:
        """The name agents call it by."""
        ...

    @property
    def description(self) -> str:
        """Its description for models."""
        ...

    @property
    def schema(self) -> Any:
        """The JSON Schema of its input, or a method that returns it."""
        ...

    @property
    def execute(self) -> Callable[..., Any]:
        """Run the tool: `execute(input, ctx)`, plain or a coroutine function."""
        ...


@runtime_checkable
class DynamicTool(Protocol):
    """A tool described by its JSON Schema alone: the common form of tools of different types."""

    @property
    def name(self) -> str:
        """The name agents call it by."""
        ...

    @property
    def description(self) -> str:
        """Its description for models."""
        ...

    def parameters_schema(self) -> Mapping[str, Any]:
        """Return the JSON Schema of the tool's input."""
        ...

    def usage_rule(self) -> str | None:
        """Return a line for the prompt of models that have the tool."""
        ...

    async def execute_dynamic(self, params: Mapping[str, Any]) -> Any:
        """Run the tool on a JSON object and return a JSON value."""
        ...
