"""`@tool`: makes a tool of a typed function."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable
from typing import Any, get_args, get_type_hints, overload

from pydantic import BaseModel, PydanticUserError, create_model

from policy.catalog import Arguments, ModelArguments, Operations, arguments_of, models_of
from policy.tools.authoring.calling import require_result
from policy.tools.authoring.output import returned_shape
from policy.tools.authoring.traits import Traits
from policy.tools.authoring.typed import BuiltinHandler, handler
from policy.tools.handler import ExecutionContext


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

    A parameter with a default is optional; `Annotated[str, Reads(), Field(description=…)]` adds
    details; a parameter of type ExecutionContext receives the context and is not an argument. A
    function with one parameter that is a pydantic model, or a union of models distinguished by
    `operation` or `type`, takes their fields. Its result is checked against its return annotation.
    """

    def make(written: Callable[..., Any]) -> BuiltinHandler:
        require_result(written)
        takes, call = _arguments_of(written)
        return handler(
            call,
            takes,
            name=name or written.__name__,
            description=inspect.cleandoc(description or written.__doc__ or ""),
            traits=traits or Traits(),
            output=returned_shape(written, names={}),
            defined_at=f"{written.__module__}:{written.__qualname__}",
        )

    return make if function is None else make(function)


def _arguments_of(
    written: Callable[..., Any],
) -> tuple[ModelArguments | Operations, Callable[..., Any]]:
    """Return the arguments of a function, and the function that is called with them."""
    try:
        hints = get_type_hints(written, include_extras=True)
    except NameError as error:
        raise TypeError(
            f"a type of `{written.__name__}` is not at the top of its module: {error}"
        ) from None
    context = next((n for n, hint in hints.items() if hint is ExecutionContext), None)
    parameters = inspect.signature(written).parameters
    own = {n: p for n, p in parameters.items() if n != context}
    for name, parameter in own.items():
        problem = _problem(name, parameter, hints)
        if problem is not None:
            raise TypeError(f"the parameter `{name}` of `{written.__name__}` {problem}")
    only = hints[next(iter(own))] if len(own) == 1 else None
    if models_of(only) or (isinstance(only, type) and issubclass(only, BaseModel)):
        single = next(iter(own))
        return arguments_of(only), _called(written, context, lambda given: {single: given})
    fields: dict[str, Any] = {
        n: (hints[n], ... if p.default is p.empty else p.default) for n, p in own.items()
    }
    takes = ModelArguments(_model_of(written, fields))
    return takes, _called(written, context, lambda given: {n: getattr(given, n) for n in own})


def _problem(name: str, parameter: inspect.Parameter, hints: dict[str, Any]) -> str | None:
    """Return why a parameter cannot be an argument, None if it can."""
    if name not in hints:
        return "has no type"
    if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
        return "takes any number of arguments"
    if parameter.kind is parameter.POSITIONAL_ONLY:
        return "is positional only: remove the `/`"
    if name.startswith("_") or name == "model_config":
        return "has a name that no argument can have"
    if ExecutionContext in get_args(hints[name]):
        return "must be of type `ExecutionContext` alone, without `None`"
    return None


def _model_of(written: Callable[..., Any], fields: dict[str, Any]) -> type[BaseModel]:
    with warnings.catch_warnings():
        # `copy` or `json` are valid names of arguments: no such method of the model is called.
        warnings.filterwarnings("ignore", message="Field name .* shadows", category=UserWarning)
        try:
            return create_model(written.__name__, __base__=Arguments, **fields)
        except PydanticUserError as error:
            said = str(error).partition("\n")[0]
            raise TypeError(f"the parameters of `{written.__name__}`: {said}") from None


def _called(
    written: Callable[..., Any],
    context: str | None,
    named: Callable[[BaseModel], dict[str, Any]],
) -> Callable[..., Any]:
    def given(arguments: BaseModel, ctx: ExecutionContext) -> dict[str, Any]:
        return {**named(arguments), **({context: ctx} if context else {})}

    if inspect.iscoroutinefunction(written):

        async def waiting(arguments: BaseModel, ctx: ExecutionContext) -> Any:
            return await written(**given(arguments, ctx))

        return waiting
    return lambda arguments, ctx: written(**given(arguments, ctx))
