"""Makes literals of what a policy's author wrote; the only place that does.

Strings and numbers are written with `ascii`; everything else is passed as an object under a
numbered name. So no character of a policy can be anything but data in generated code.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any


class Quoting:
    """The objects that one generated function refers to, by their names in its code."""

    __slots__ = ("_names", "env")

    def __init__(self) -> None:
        self.env: dict[str, Any] = {}
        self._names: dict[tuple[str, int], str] = {}

    def name(self, value: object) -> str:
        """Return the name under which the code finds an object, or a method of one."""
        # The objects live as long as the names: no other has their ids.
        key = (getattr(value, "__name__", ""), id(getattr(value, "__self__", value)))
        name = self._names.get(key)
        if name is None:
            name = self._names[key] = f"K{len(self.env)}"
            self.env[name] = value
        return name


def literal(value: object) -> str:
    """Return the literal of a text, a whole number or a double, and of nothing else."""
    if type(value) not in (str, int, float):
        raise TypeError("only strings and numbers are written into code")
    return ascii(value)


def text_set(texts: Iterable[str]) -> str:
    """Return the literal of a set of texts, which the compiler makes a constant."""
    return "{" + ", ".join(literal(text) for text in sorted(texts)) + "}"
