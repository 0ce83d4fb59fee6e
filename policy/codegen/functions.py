"""Compiles the source of functions; equal sources share one code object.

A thousand rules are some hundred functions, and the next call may run any of them, so decisions
wait mostly for memory outside of the cache. So equal constants are one object in all functions, and
functions that refer to no object of a policy share the names that they look up.
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
    """The numbers of the rules that match, and of those that are indeterminate, with the reason."""

    __slots__ = ("indeterminate", "matching")

    def __init__(
        self, matching: tuple[int, ...], indeterminate: tuple[tuple[int, Indeterminate], ...]
    ) -> None:
        self.matching = matching
        self.indeterminate = indeterminate


# None: some value is not as the code expects, so the closure of every rule must be evaluated.
Found: TypeAlias = tuple[int, ...] | IndeterminateRules | None


class RuleFunction(Protocol):
    """The generated function: returns the rules that match a call; layers share `e`."""

    def __call__(
        self, call: ToolCall, caller: Caller, facts: Facts, e: Evaluation | None = None, /
    ) -> Found:
        """Return the rules that match the call."""


# The names that a function may use besides numbered ones: built-in functions and our own.
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
    """Return the function that source code defines; None if the compiler rejects it.

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
    """Return an equal constant that is shared between functions, if it may be shared."""
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
