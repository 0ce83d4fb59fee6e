"""The shapes in which a tool can be written, as protocols."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol, runtime_checkable


class Tool(Protocol):
    """A tool as a class: three class attributes, and a method `call`.

    `call` takes the validated arguments, and a context if it wants one. `Args` may be a union of
    models told apart by `operation` or `type`; see `OperationsTool` for a method for each.

    These may be set as well: `Output`, a type; `CATEGORY`, `REQUIRES_CONFIRMATION`,
    `STRICT_SCHEMA`, `EXAMPLES`, `USAGE_RULE`, and whatever else `Traits` has, in capitals.
    """

    @property
    def NAME(self) -> str:  # noqa: N802
        """The name agents call it by."""
        ...

    @property
    def DESCRIPTION(self) -> str:  # noqa: N802
        """What models are told of it."""
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
    """A tool as a class with a method for each operation, which is named like it.

    `Args` is a union of models told apart by `operation` or `type`. The rest is as for `Tool`.
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
    """A tool as an object with models for both sides.

    It may have `usage_rule()`, `category`, `traits` and so on as well; `Output` may be left out.
    """

    @property
    def Input(self) -> Any:  # noqa: N802
        """The model of what it takes, or a union of models."""
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
        """What models are told of it."""
        ...

    @property
    def execute(self) -> Callable[..., Any]:
        """Run the tool: `execute(params)` or `execute(params, ctx)`, plain or a coroutine."""
        ...


class ContextTool(Protocol):
    """A tool that says its own schema, and is run with a JSON object and the call's context."""

    @property
    def name(self) -> str:
        """The name agents call it by."""
        ...

    @property
    def description(self) -> str:
        """What models are told of it."""
        ...

    @property
    def schema(self) -> Any:
        """The JSON Schema of what it takes, or a method that returns it."""
        ...

    @property
    def execute(self) -> Callable[..., Any]:
        """Run the tool: `execute(input, ctx)`, plain or a coroutine function."""
        ...


@runtime_checkable
class DynamicTool(Protocol):
    """A tool of which nothing is known but its JSON Schema. Tools of unlike types are alike so."""

    @property
    def name(self) -> str:
        """The name agents call it by."""
        ...

    @property
    def description(self) -> str:
        """What models are told of it."""
        ...

    def parameters_schema(self) -> Mapping[str, Any]:
        """Return the JSON Schema of what the tool takes."""
        ...

    def usage_rule(self) -> str | None:
        """Return a line for the prompt of whoever has the tool."""
        ...

    async def execute_dynamic(self, params: Mapping[str, Any]) -> Any:
        """Run the tool on a JSON object and return a JSON value."""
        ...
