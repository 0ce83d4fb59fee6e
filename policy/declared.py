"""A class that declares fields in; what it said of each, and the methods of a record of them, out.

Everything is said in the terms of the standard library, and can be said to it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from reprlib import recursive_repr
from types import MappingProxyType
from typing import Any

__all__ = ["Declared", "Field", "standard"]

_MISSING: Any = object()


class _NewlyMade:
    """Stands where a value is made by the default of a field."""

    def __repr__(self) -> str:
        return "<factory>"


_NEWLY_MADE = _NewlyMade()


class Field:
    """What was said of a field, by the names that the standard library has for it."""

    __slots__ = (
        "compare", "default", "default_factory", "hash", "init", "kw_only", "metadata", "name",
        "repr",
    )  # fmt: skip

    def __init__(
        self,
        *,
        default: Any = _MISSING,
        default_factory: Any = _MISSING,
        init: bool = True,
        repr: bool = True,
        hash: bool | None = None,
        compare: bool = True,
        metadata: Mapping[Any, Any] | None = None,
        kw_only: Any = _MISSING,
    ) -> None:
        if default is not _MISSING and default_factory is not _MISSING:
            raise ValueError("cannot specify both default and default_factory")
        self.name = ""
        self.default = default
        self.default_factory = default_factory
        self.init = init
        self.repr = repr
        self.hash = hash
        self.compare = compare
        self.metadata = MappingProxyType({} if metadata is None else metadata)
        self.kw_only = kw_only

    def standard(self) -> Any:
        """Return the same as the standard library says it."""
        import dataclasses

        said = {name: getattr(self, name) for name in self.__slots__ if name != "name"}
        return dataclasses.field(**{k: v for k, v in said.items() if v is not _MISSING})


def _read(said: Any) -> Field:
    """Return what a class said of a field: a default, or a field of ours or the standard one."""
    if isinstance(said, Field):
        return said
    # Another thread may be importing the library just now; then there is no field of its yet.
    library: Any = sys.modules.get("dataclasses")
    theirs = getattr(library, "Field", None)
    if theirs is None or not isinstance(said, theirs):
        return Field(default=said)
    given = {name: getattr(said, name) for name in Field.__slots__ if name != "name"}
    return Field(**{k: v for k, v in given.items() if v is not library.MISSING})


class Declared:
    """What a class said: its annotations, defaults and options, and the methods made of them."""

    __slots__ = ("annotations", "defaults", "has_post_init", "module", "name", "options")

    def __init__(self, cls: type, options: Mapping[str, bool]) -> None:
        own = vars(cls)
        self.name = cls.__qualname__
        self.module = cls.__module__
        self.annotations: dict[str, str] = cls.__annotations__
        self.defaults = {name: own[name] for name in self.annotations if name in own}
        self.has_post_init = "__post_init__" in own
        self.options = options

    def said(self) -> dict[str, Field]:
        """Return what each field was given: its default, and what it takes part in."""
        said = {name: _read(self.defaults.get(name, _MISSING)) for name in self.annotations}
        for name, one in said.items():
            one.name = name
        return said

    def named(self, field: Field) -> bool:
        """Say whether `__init__` takes a field by its name alone."""
        said: bool = self.options.get("kw_only", False)
        return said if field.kw_only is _MISSING else bool(field.kw_only)

    def twins(self, name: str) -> Callable[[type], Any]:
        """Return what takes an attribute from a class that the standard decorator makes."""
        own = {"__module__": self.module, "__qualname__": self.name, "__doc__": ""}
        body = own | {"__annotations__": self.annotations} | self.defaults
        return lambda _cls: getattr(standard(type(self.name, (), body), self.options), name)

    def fields(self, _cls: type) -> tuple[Field, ...]:
        """Return the fields as `fields` gives them."""
        return tuple(self.said().values())

    def replace(self, _cls: type) -> Callable[..., Any]:
        """Write `__replace__`: another one with other values, made by `__init__`."""
        body = []
        for name, field in self.said().items():
            if field.init:
                body.append(f" if {name!r} not in _changes: _changes[{name!r}] = _self.{name}")
            else:
                refused = f"field {name} is declared with init=False, it cannot be specified"
                told = f"{refused} with replace()"
                body.append(f" if {name!r} in _changes: raise ValueError({told!r})")
        lines = "\n".join([*body, " return _self.__class__(**_changes)"])
        return self.written("__replace__", f"(_self, /, **_changes):\n{lines}", {})

    def match_args(self, _cls: type) -> tuple[str, ...]:
        """Return the fields that patterns name by their place."""
        said = self.said().items()
        return tuple(name for name, field in said if field.init and not self.named(field))

    def init(self, cls: type) -> Callable[..., None]:
        """Write `__init__`: each value goes to its slot at once, past what forbids assignments."""
        known: dict[str, Any] = {"_missing": _NEWLY_MADE}
        positional: list[str] = []
        by_name: list[str] = []
        body: list[str] = []
        said = self.said()
        for number, (name, field) in enumerate(said.items()):
            known[f"_set{number}"] = getattr(cls, name).__set__
            parameter, value = name, name
            if field.default is not _MISSING:
                known[f"_default{number}"] = field.default
                parameter += f"=_default{number}"
                value = name if field.init else f"_default{number}"
            elif field.default_factory is not _MISSING:
                known[f"_new{number}"] = field.default_factory
                parameter += "=_missing"
                value = f"_new{number}()"
                if field.init:
                    value += f" if {name} is _missing else {name}"
            if field.init:
                (by_name if self.named(field) else positional).append(parameter)
            if field.init or value != name:
                body.append(f" _set{number}(_self, {value})")
        if self.has_post_init:
            body.append(" _self.__post_init__()")
        star = ["*"] if by_name else []
        parameters = ", ".join(["_self", *positional, *star, *by_name])
        lines = "\n".join(body or [" pass"])
        init = self.written("__init__", f"({parameters}):\n{lines}", known)
        kinds = {name: kind for name, kind in self.annotations.items() if said[name].init}
        init.__annotations__ = {**kinds, "return": None}
        return init

    def eq(self, _cls: type) -> Callable[..., Any]:
        """Write `__eq__`: as the standard one, of two of the same class field by field."""
        compared = [name for name, field in self.said().items() if field.compare]
        ours, theirs = (_tuple_of(side, compared) for side in ("self", "other"))
        text = (
            "(self, other):\n"
            f" if other.__class__ is self.__class__:\n  return {ours} == {theirs}\n"
            " return NotImplemented"
        )
        return self.written("__eq__", text, {})

    def hash(self, _cls: type) -> Callable[..., int]:
        """Write `__hash__`: that of the compared fields together."""
        hashed = [
            name
            for name, field in self.said().items()
            if (field.compare if field.hash is None else field.hash)
        ]
        return self.written("__hash__", f"(self):\n return hash({_tuple_of('self', hashed)})", {})

    def repr(self, _cls: type) -> Callable[[Any], str]:
        """Write `__repr__`: the class and what its fields hold."""
        shown = [name for name, field in self.said().items() if field.repr]
        parts = ", ".join(f"{name}={{self.{name}!r}}" for name in shown)
        text = f'(self):\n return self.__class__.__qualname__ + f"({parts})"'
        return recursive_repr("...")(self.written("__repr__", text, {}))

    def written(self, name: str, text: str, known: dict[str, Any]) -> Callable[..., Any]:
        """Return a method of the module of the class, from its text after `def` and its name."""
        # Nothing of the author's is written but the names of fields, which are identifiers. The
        # rest is around the function, so that its globals are the module's, as with any method.
        around = "".join(f"\n {line}" for line in f"def {name}{text}".split("\n"))
        made: dict[str, Any] = {}
        outer = getattr(sys.modules.get(self.module), "__dict__", {})
        exec(f"def make({', '.join(known)}):{around}\n return {name}", outer, made)  # noqa: S102
        function: Callable[..., Any] = made["make"](**known)
        function.__qualname__ = f"{self.name}.{name}"
        function.__module__ = self.module
        return function


def standard(cls: type, options: Mapping[str, bool]) -> Any:
    """Return the class that the standard decorator makes."""
    import dataclasses

    for name, said in list(vars(cls).items()):
        if isinstance(said, Field):
            setattr(cls, name, said.standard())
    return dataclasses.dataclass(**options)(cls)


def _tuple_of(owner: str, names: list[str]) -> str:
    return f"({''.join(f'{owner}.{name},' for name in names)})"
