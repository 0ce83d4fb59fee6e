"""A tool as its author writes it, in; the handler that a registry holds, out.

Two ways to write one: a class with `NAME`, `DESCRIPTION`, `Args` (a pydantic model) and `call`,
or a typed function under `@tool`. Schema, defaults, coercion and resources all come from the
types, so an author writes no schema and no permission code.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol, TypeVar, get_type_hints, overload

import orjson
from pydantic import BaseModel, create_model

from policy.catalog import Arguments, Origin, ToolSpec, coercion_of, strict_schema, tool_of
from policy.service.handler import ExecutionContext
from policy.service.service import ToolDefinition, ToolSource

_SOURCES: dict[str, ToolSource] = {"host": "builtin", "mcp": "mcp", "ext": "extension"}
Example = Mapping[str, Any]


class Tool(Protocol):
    """A tool as a class: three class attributes, and a method `call`.

    `call` takes the validated arguments, and a context if it wants one.

    These may be set as well: `CATEGORY`, `REQUIRES_CONFIRMATION`, `STRICT_SCHEMA`, `EXAMPLES`,
    `EXEC_CLASS`, `UNSEEN`, `COMPLETE`, `READ_ONLY`, `DESTRUCTIVE`.
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
    def Args(self) -> type[BaseModel]:  # noqa: N802
        """The model of its arguments."""
        ...

    @property
    def call(self) -> Callable[..., Any]:
        """Run the tool: `call(args)` or `call(args, ctx)`, plain or a coroutine function."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Traits:
    """What an author may say of a tool besides its arguments; see `ToolSpec`."""

    category: str | None = None
    read_only: bool | None = None
    destructive: bool | None = None
    complete: bool = False
    unseen: bool = False
    exec_class: bool = False
    requires_confirmation: bool = False
    strict_schema: bool = False
    examples: tuple[Example, ...] = ()


class BuiltinHandler:
    """Runs a tool of this process: makes its arguments of the judged input and calls it."""

    def __init__(
        self,
        *,
        spec: ToolSpec,
        model: type[BaseModel],
        call: Callable[..., Any],
        strict: bool = False,
        examples: Sequence[Example] = (),
    ) -> None:
        self._spec = spec
        self._definition = define(spec, strict=strict, examples=examples)
        self._model = model
        self._call = call
        self._takes_context = _takes_context(call)

    @property
    def spec(self) -> ToolSpec:
        """The tool's definition for policies."""
        return self._spec

    @property
    def definition(self) -> ToolDefinition:
        """The tool's definition for models."""
        return self._definition

    async def invoke(self, input: dict[str, Any], ctx: ExecutionContext) -> Any:
        """Call the tool and return what it returns, as a JSON value."""
        arguments = self._model.model_validate(input)
        given = (arguments, ctx) if self._takes_context else (arguments,)
        if inspect.iscoroutinefunction(self._call):
            return as_json(await self._call(*given))
        # What is not written for the loop must not stop it: other calls, time limits and
        # approvals go on beside it.
        result = await asyncio.to_thread(self._call, *given)
        if inspect.isawaitable(result):
            result = await result
        return as_json(result)


def handler_of(authored: Tool) -> BuiltinHandler:
    """Return the handler of a tool that was written as a class."""
    cls = type(authored)
    traits = Traits(
        category=getattr(cls, "CATEGORY", None),
        read_only=getattr(cls, "READ_ONLY", None),
        destructive=getattr(cls, "DESTRUCTIVE", None),
        complete=getattr(cls, "COMPLETE", False),
        unseen=getattr(cls, "UNSEEN", False),
        exec_class=getattr(cls, "EXEC_CLASS", False),
        requires_confirmation=getattr(cls, "REQUIRES_CONFIRMATION", False),
        strict_schema=getattr(cls, "STRICT_SCHEMA", False),
        examples=tuple(getattr(cls, "EXAMPLES", ())),
    )
    return _handler(
        authored.call,
        authored.Args,
        name=authored.NAME,
        description=authored.DESCRIPTION,
        traits=traits,
    )


_Function = TypeVar("_Function", bound=Callable[..., Any])


@overload
def tool(function: Callable[..., Any], /) -> BuiltinHandler: ...
@overload
def tool(
    *, name: str | None = None, description: str | None = None, traits: Traits | None = None
) -> Callable[[Callable[..., Any]], BuiltinHandler]: ...
def tool(
    function: Callable[..., Any] | None = None,
    /,
    *,
    name: str | None = None,
    description: str | None = None,
    traits: Traits | None = None,
) -> BuiltinHandler | Callable[[Callable[..., Any]], BuiltinHandler]:
    """Make a tool of a typed function: its parameters are the arguments, its docstring describes.

    A parameter with a default is optional; `Annotated[str, Reads(), Field(description=…)]` says
    more of one; a parameter of type ExecutionContext receives the context and is no argument. A
    function with one parameter that is a pydantic model takes that model's fields.
    """

    def make(written: Callable[..., Any]) -> BuiltinHandler:
        model, call = _arguments_of(written)
        return _handler(
            call,
            model,
            name=name or written.__name__,
            description=inspect.cleandoc(description or written.__doc__ or ""),
            traits=traits or Traits(),
        )

    return make if function is None else make(function)


def define(
    spec: ToolSpec, *, strict: bool = False, examples: Sequence[Example] = ()
) -> ToolDefinition:
    """Return a tool's definition for models; examples are inputs worth imitating."""
    shown = [orjson.dumps(dict(example)).decode() for example in examples]
    return ToolDefinition(
        name=spec.name,
        description=spec.description,
        parameters=strict_schema(spec.schema) if strict else spec.schema,
        category=spec.category,
        requires_confirmation=spec.requires_confirmation,
        strict=strict,
        llm_context="Examples:\n" + "\n".join(shown) if shown else None,
        source=_SOURCES[spec.origin.kind],
    )


def as_json(value: Any) -> Any:
    """Return what a tool returned as a JSON value; raise TypeError for what cannot be one."""
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json")
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, Mapping):
        return {str(key): as_json(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [as_json(item) for item in value]
    raise TypeError(f"a tool returned a {type(value).__name__}, which is no JSON value")


def _handler(
    call: Callable[..., Any],
    model: type[BaseModel],
    *,
    name: str,
    description: str,
    traits: Traits,
) -> BuiltinHandler:
    spec = tool_of(
        model,
        category=traits.category,
        read_only=traits.read_only,
        destructive=traits.destructive,
        complete=traits.complete,
        unseen=traits.unseen,
        exec_class=traits.exec_class,
        requires_confirmation=traits.requires_confirmation,
    )
    named = replace(spec, name=name, origin=Origin(kind="host", tool=name), description=description)
    return BuiltinHandler(
        spec=replace(named, coerce=coercion_of(model)),
        model=model,
        call=call,
        strict=traits.strict_schema,
        examples=traits.examples,
    )


def _takes_context(call: Callable[..., Any]) -> bool:
    parameters = inspect.signature(call).parameters.values()
    positional = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    return len(positional) > 1


def _arguments_of(
    written: Callable[..., Any],
) -> tuple[type[BaseModel], Callable[[BaseModel, ExecutionContext], Any | Awaitable[Any]]]:
    """Return the argument model of a function, and the function as called with it."""
    hints = get_type_hints(written, include_extras=True)
    context = next((n for n, hint in hints.items() if hint is ExecutionContext), None)
    parameters = inspect.signature(written).parameters
    own = {n: p for n, p in parameters.items() if n != context}
    for name in own:
        if name not in hints:
            raise TypeError(f"the parameter `{name}` of `{written.__name__}` has no type")
    only = hints[next(iter(own))] if len(own) == 1 else None
    if isinstance(only, type) and issubclass(only, BaseModel):
        single = next(iter(own))

        def with_model(arguments: BaseModel, ctx: ExecutionContext) -> Any:
            return written(**{single: arguments}, **({context: ctx} if context else {}))

        return only, with_model

    fields: dict[str, Any] = {
        n: (hints[n], ... if p.default is p.empty else p.default) for n, p in own.items()
    }
    model = create_model(written.__name__, __base__=Arguments, **fields)

    def with_fields(arguments: BaseModel, ctx: ExecutionContext) -> Any:
        given = {n: getattr(arguments, n) for n in own}
        return written(**given, **({context: ctx} if context else {}))

    return model, with_fields
