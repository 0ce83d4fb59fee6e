"""A class that only declares fields in; the named tuple it declares, its types not looked at, out.

The standard maker compiles the text of every annotation, which is most of what it costs and which
nobody asks for. The type checker is told the standard one:

    if TYPE_CHECKING:
        from typing import NamedTuple
    else:
        from policy.tuples import NamedTuple
"""

from __future__ import annotations

from collections import namedtuple
from typing import Any

__all__ = ["NamedTuple"]

# The type checker wants to see the name that a class is assigned to, which there is none of here.
_named: Any = namedtuple


class _Maker(type):
    """Makes a named tuple of every class that inherits from one of its own."""

    def __new__(cls, name: str, bases: tuple[type, ...], said: dict[str, Any]) -> type:
        """Return the named tuple with the fields that the body of a class declares."""
        if not bases:
            return super().__new__(cls, name, bases, said)
        fields = said.pop("__annotations__")
        # Python may leave docstrings out.
        known = {one: said.pop(one, None) for one in ("__module__", "__qualname__", "__doc__")}
        optional = [one for one in fields if one in said]
        assert optional == list(fields)[len(fields) - len(optional) :], "a default comes too early"
        defaults = [said.pop(one) for one in optional]
        assert not said, f"a named tuple has fields and nothing else: {set(said)}"
        made: type = _named(name, fields, defaults=defaults, module=known["__module__"])
        made.__qualname__ = known["__qualname__"]
        made.__doc__ = known["__doc__"]
        made.__annotations__ = fields
        return made


class NamedTuple(metaclass=_Maker):
    """What a class inherits from to be made a named tuple."""
