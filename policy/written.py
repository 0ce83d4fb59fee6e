"""The text of a method in which fields have numbers, and their names, in; the method, out.

Compiling is what a method costs, and records have few shapes: those with as many fields share one
text, which is compiled once. A method of a record is that code with the names of its own fields.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from types import CellType, CodeType, FunctionType
from typing import Any

__all__ = ["numbered", "written"]

_NUMBERS = tuple(f"_field{number}" for number in range(32))


def numbered(count: int) -> Sequence[str]:
    """Return what stands for the names of fields in a text, one for each."""
    return _NUMBERS[:count] if count <= len(_NUMBERS) else [f"_field{n}" for n in range(count)]


def written(
    said: str,
    known: Mapping[str, Any],
    names: Sequence[str],
    *,
    name: str,
    owner: str,
    module: str,
) -> FunctionType:
    """Return the method `name` of the class `owner`, from its text after `def` and its name.

    `known` are the names that the text uses beside those of its module and its own.
    """
    code = _compiled(said, name, tuple(known))
    own = dict(zip(numbered(len(names)), names, strict=True))
    code = code.replace(
        co_varnames=tuple([own.get(one, one) for one in code.co_varnames]),
        co_names=tuple([own.get(one, one) for one in code.co_names]),
        co_qualname=f"{owner}.{name}",
    )
    outer = getattr(sys.modules.get(module), "__dict__", {})
    cells = tuple([CellType(known[one]) for one in code.co_freevars])
    function = FunctionType(code, outer, name, None, cells)
    function.__module__ = module
    return function


@cache
def _compiled(said: str, name: str, known: tuple[str, ...]) -> CodeType:
    # What is known is around the function, so that its globals are the module's, as with any
    # method. The text holds nothing of the author's but the names of fields, which are identifiers.
    around = "".join(f"\n {line}" for line in f"def {name}{said}".split("\n"))
    made: dict[str, Callable[..., FunctionType]] = {}
    exec(f"def make({', '.join(known)}):{around}\n return {name}", {}, made)  # noqa: S102
    return made["make"](*known).__code__
