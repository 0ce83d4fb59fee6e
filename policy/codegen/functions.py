"""Compiles the source of functions; equal sources share one code object.

A thousand rules are some hundred functions, and the next call goes to any of them: what a decision
waits for is memory that is not at hand. So constants that are equal are the very same in all
functions, and those that refer to no object of a policy share the names they look up.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from functools import lru_cache
from types import CodeType, FunctionType
from typing import Any, Final, Protocol, TypeAlias, TypeVar

from policy.codegen.fields import is_plain_text
from policy.evaluation import Evaluation, Indeterminate
from policy.model import Caller, Facts, ToolCall

_Constant = TypeVar("_Constant")

# Constants of policies long gone are kept as well, so there is a bound.
_MOST_SHARED: Final = 16_384


class IndeterminateRules:
    """The numbers of the rules that are met, and those that could not be decided, with why."""

    __slots__ = ("met", "undecided")

    def __init__(
        self, met: tuple[int, ...], undecided: tuple[tuple[int, Indeterminate], ...]
    ) -> None:
        self.met = met
        self.undecided = undecided


# None: some value is not as the code expects it, and every rule must be asked.
Found: TypeAlias = tuple[int, ...] | IndeterminateRules | None


class RuleFunction(Protocol):
    """The function: a call in, the rules found out; `e` is shared between layers."""

    def __call__(
        self, call: ToolCall, caller: Caller, facts: Facts, e: Evaluation | None = None, /
    ) -> Found:
        """Return which rules the call meets."""


# All that a function may call by a name which is not counted, Python's own among them.
_KNOWN: Final = {
    "str": str,
    "int": int,
    "float": float,
    "bool": bool,
    "tuple": tuple,
    "plain": is_plain_text,
    "Evaluation": Evaluation,
    "IndeterminateRules": IndeterminateRules,
}
_NAMES: Final[dict[str, Any]] = {"__builtins__": _KNOWN}


def compiled(text: str, env: Mapping[str, Any]) -> RuleFunction | None:
    """Return the function that source code defines; None if the compiler gives up on it.

    `env` are the objects of the policy that it names.
    """
    try:
        module = compile(text, "<rules>", "exec", dont_inherit=True, optimize=2)
    except (SyntaxError, RecursionError, MemoryError, OverflowError):
        # Too deep or too long for the compiler: the closures have no such bounds.
        return None
    code = next(constant for constant in module.co_consts if isinstance(constant, CodeType))
    code = code.replace(co_consts=tuple(map(_shared, code.co_consts)))
    ask: Any = FunctionType(code, {**env, **_NAMES} if env else _NAMES, "ask", (None,))
    return ask  # type: ignore[no-any-return]


def _shared(constant: object) -> object:
    """Return an equal constant that other functions have too, if it is one that they may have."""
    if type(constant) is str:
        return sys.intern(constant)
    if type(constant) is tuple and _are_all(int, constant):
        return _first(constant)
    if type(constant) is frozenset and _are_all(str, constant):
        return _first(frozenset(map(sys.intern, constant)))
    return constant


def _are_all(kind: type[object], constants: Iterable[object]) -> bool:
    # Exactly: 1, 1.0 and True are equal, and not the same to a rule.
    return all(type(constant) is kind for constant in constants)


@lru_cache(maxsize=_MOST_SHARED)
def _first(constant: _Constant) -> _Constant:
    """Return the first of all constants that are equal to this one."""
    return constant
