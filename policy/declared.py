"""A class that declares fields in; what it said of each, and the methods of a record of them, out.

Everything is said in the terms of the standard library, and can be said to it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from reprlib import recursive_repr
from types import FunctionType, MappingProxyType
from typing import Any

from policy.written import numbered, written

__all__ = ["Declared", "Field", "standard"]

_MISSING: Any = object()
_NO_METADATA: Mapping[Any, Any] = MappingProxyType({})


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
    # Stands where nothing was said.
    MISSING = _MISSING

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
        self.metadata = _NO_METADATA if metadata is None else MappingProxyType(metadata)
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

    __slots__ = (
        "annotations", "defaults", "has_post_init", "module", "name", "options", "plan", "uses",
    )  # fmt: skip

    def __init__(self, cls: type, options: Mapping[str, bool]) -> None:
        own = vars(cls)
        self.name = cls.__qualname__
        self.module = cls.__module__
        self.annotations: dict[str, str] = cls.__annotations__
        self.defaults = {name: own[name] for name in self.annotations if name in own}
        self.has_post_init = "__post_init__" in own
        self.options = options
        # How often the methods have been used that are not written yet, and what that takes.
        self.uses = 0
        self.plan: Any = None

    def said(self) -> dict[str, Field]:
        """Return what each field was given: its default, and what it takes part in."""
        said: dict[str, Field] = {}
        for name in self.annotations:
            one = said[name] = _read(self.defaults[name]) if name in self.defaults else Field()
            one.name = name
        return said

    def named(self, field: Field) -> bool:
        """Say whether `__init__` takes a field by its name alone."""
        said: bool = self.options.get("kw_only", False)
        return said if field.kw_only is _MISSING else bool(field.kw_only)

    def twin(self, name: str) -> Any:
        """Return an attribute of a class that the standard decorator makes."""
        own = {"__module__": self.module, "__qualname__": self.name, "__doc__": ""}
        body = own | {"__annotations__": self.annotations} | self.defaults
        return getattr(standard(type(self.name, (), body), self.options), name)

    def fields(self) -> tuple[Field, ...]:
        """Return the fields as `fields` gives them."""
        return tuple(self.said().values())

    def match_args(self) -> tuple[str, ...]:
        """Return the fields that patterns name by their place."""
        said = self.said().items()
        return tuple(name for name, field in said if field.init and not self.named(field))

    def replace(self) -> Callable[..., Any]:
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
        return self._written("__replace__", f"(_self, /, **_changes):\n{lines}")

    def init(self, cls: type) -> Callable[..., None]:
        """Write `__init__`: each value goes to its slot at once, past what forbids assignments."""
        known: dict[str, Any] = {}
        positional: list[str] = []
        by_name: list[str] = []
        body: list[str] = []
        defaults: list[Any] = []
        defaults_by_name: dict[str, Any] = {}
        said = self.said()
        for number, (name, field) in enumerate(said.items()):
            value = stands = f"_field{number}"
            default = field.default
            if field.default_factory is not _MISSING:
                default = _NEWLY_MADE
                known["_missing"] = _NEWLY_MADE
                known[f"_new{number}"] = field.default_factory
                value = f"_new{number}()"
                if field.init:
                    value += f" if {stands} is _missing else {stands}"
            elif not field.init:
                if default is _MISSING:
                    continue
                value = f"_default{number}"
                known[value] = default
            if field.init and self.named(field):
                by_name.append(stands)
                if default is not _MISSING:
                    defaults_by_name[name] = default
            elif field.init:
                positional.append(stands)
                if default is not _MISSING:
                    defaults.append(default)
            known[f"_set{number}"] = getattr(cls, name).__set__
            body.append(f" _set{number}(_self, {value})")
        if self.has_post_init:
            body.append(" _self.__post_init__()")
        star = ["*"] if by_name else []
        parameters = ", ".join(["_self", *positional, *star, *by_name])
        lines = "\n".join(body or [" pass"])
        init = self._written("__init__", f"({parameters}):\n{lines}", known, tuple(said))
        init.__defaults__ = tuple(defaults) or None
        init.__kwdefaults__ = defaults_by_name or None
        kinds = {name: kind for name, kind in self.annotations.items() if said[name].init}
        init.__annotations__ = {**kinds, "return": None}
        return init

    def eq(self) -> Callable[..., Any]:
        """Write `__eq__`: as the standard one, of two of the same class field by field."""
        compared = [name for name, field in self.said().items() if field.compare]
        ours, theirs = (_tuple_of(side, len(compared)) for side in ("self", "other"))
        text = (
            "(self, other):\n"
            f" if other.__class__ is self.__class__:\n  return {ours} == {theirs}\n"
            " return NotImplemented"
        )
        return self._written("__eq__", text, names=compared)

    def hash(self) -> Callable[..., int]:
        """Write `__hash__`: that of the compared fields together."""
        hashed = [
            name
            for name, field in self.said().items()
            if (field.compare if field.hash is None else field.hash)
        ]
        text = f"(self):\n return _hash({_tuple_of('self', len(hashed))})"
        return self._written("__hash__", text, {"_hash": hash}, hashed)

    def repr(self) -> Callable[[Any], str]:
        """Write `__repr__`: the class and what its fields hold."""
        shown = [name for name, field in self.said().items() if field.repr]
        parts = ", ".join(f"{name}={{self.{name}!r}}" for name in shown)
        text = f'(self):\n return self.__class__.__qualname__ + f"({parts})"'
        return recursive_repr("...")(self._written("__repr__", text))

    def maker(self, cls: type) -> Callable[..., Any]:
        """Write what fills a twin of the class, which then becomes one of it."""
        names = tuple(self.annotations)
        filled = "".join(f"\n _self.{name} = {name}" for name in numbered(len(names)))
        text = f"(*, {', '.join(numbered(len(names)))}):\n _self = _new(_new_twin){filled}"
        twin = type("_Twin", (), {"__slots__": names})
        known = {"_new": object.__new__, "_new_twin": twin, "_new_one": cls}
        ended = f"{text}\n _self.__class__ = _new_one\n return _self"
        return self._written("make", ended, known, names)

    def _written(
        self,
        name: str,
        said: str,
        known: Mapping[str, Any] = _NO_METADATA,
        names: Sequence[str] = (),
    ) -> FunctionType:
        return written(said, known, names, name=name, owner=self.name, module=self.module)


def standard(cls: type, options: Mapping[str, bool]) -> Any:
    """Return the class that the standard decorator makes."""
    import dataclasses

    for name, said in list(vars(cls).items()):
        if isinstance(said, Field):
            setattr(cls, name, said.standard())
    return dataclasses.dataclass(**options)(cls)


def _tuple_of(owner: str, count: int) -> str:
    return f"({''.join(f'{owner}.{name},' for name in numbered(count))})"
