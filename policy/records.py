"""A class that only declares fields in; the dataclass it declares, cheap to make, out.

The standard decorator writes and compiles six methods when a class is declared, half a millisecond
each time; here a process declares hundreds of classes and uses a few dozen of them. This one makes
the same class, and writes each method when it is first looked up. What it does not know it leaves
to the standard one, which also answers every question about fields.
"""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Callable, Mapping
from functools import cache
from reprlib import recursive_repr
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

__all__ = ["dataclass", "maker"]

# The options that are understood here; with any other one the standard decorator does it all.
_OPTIONS = frozenset({"frozen", "slots", "kw_only", "eq"})
# What a class must not say itself, for then there is more to weigh than stands here.
_OWN = (
    "__init__", "__eq__", "__hash__", "__setattr__", "__delattr__", "__getstate__", "__setstate__",
    "__match_args__", "__slots__",
)  # fmt: skip
# An annotation with one of these words may stand for no field.
_NO_FIELDS = ("ClassVar", "InitVar", "KW_ONLY")
# What the written methods call things themselves.
_TAKEN = ("_self", "_missing", "_set", "_default", "_new")
_MISSING = dataclasses.MISSING
# Where a field says what kind of variable it is; the one thing that the library does not publish.
_KIND = "_field_type"

_Fields = ParamSpec("_Fields")
_Made = TypeVar("_Made")


class _Declared:
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

    def said(self) -> dict[str, dataclasses.Field[Any]]:
        """Return what each field was given: its default, and what it takes part in."""
        given = {name: self.defaults.get(name, _MISSING) for name in self.annotations}
        return {
            name: one if isinstance(one, dataclasses.Field) else dataclasses.field(default=one)
            for name, one in given.items()
        }

    def named(self, field: dataclasses.Field[Any]) -> bool:
        """Say whether `__init__` takes a field by its name alone."""
        said: bool = self.options.get("kw_only", False)
        return said if field.kw_only is _MISSING else bool(field.kw_only)

    def twin(self, **options: bool) -> Any:
        """Return a class of the same fields, made by the standard decorator."""
        own = {"__module__": self.module, "__qualname__": self.name, "__doc__": ""}
        body = own | {"__annotations__": self.annotations} | self.defaults
        return dataclasses.dataclass(**options)(type(self.name, (), body))

    def fields(self, _cls: type) -> dict[str, dataclasses.Field[Any]]:
        """Return the fields as the functions of `dataclasses` look for them."""
        said = self.said()
        for name, field in said.items():
            field.name, field.type = name, self.annotations[name]
            field.kw_only = self.named(field)
            setattr(field, _KIND, _usual_kind())
        return said

    def params(self, _cls: type) -> Any:
        """Return the options as the functions of `dataclasses` look for them."""
        return self.twin(**self.options).__dataclass_params__

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
        init = self._written("__init__", f"({parameters}):\n{lines}", known)
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
        return self._written("__eq__", text, {})

    def hash(self, _cls: type) -> Callable[..., int]:
        """Write `__hash__`: that of the compared fields together."""
        hashed = [
            name
            for name, field in self.said().items()
            if (field.compare if field.hash is None else field.hash)
        ]
        return self._written("__hash__", f"(self):\n return hash({_tuple_of('self', hashed)})", {})

    def repr(self, _cls: type) -> Callable[[Any], str]:
        """Write `__repr__`: the class and what its fields hold."""
        shown = [name for name, field in self.said().items() if field.repr]
        parts = ", ".join(f"{name}={{self.{name}!r}}" for name in shown)
        text = f'(self):\n return self.__class__.__qualname__ + f"({parts})"'
        return recursive_repr("...")(self._written("__repr__", text, {}))

    def _written(self, name: str, text: str, known: dict[str, Any]) -> Callable[..., Any]:
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


@cache
def _usual_kind() -> object:
    """Return what the standard decorator marks a field with that is no other variable."""

    @dataclasses.dataclass
    class Sample:
        """A class with one field."""

        field: int

    return getattr(dataclasses.fields(Sample)[0], _KIND)


def _tuple_of(owner: str, names: list[str]) -> str:
    return f"({''.join(f'{owner}.{name},' for name in names)})"


class _Later:
    """An attribute of a class that is made when it is first looked up, and then stands there.

    It stands in the record itself, whichever class inherits it: what that says of its own stays.
    """

    __slots__ = ("make", "name", "record")

    def __init__(self, make: Callable[[type], Any]) -> None:
        self.make = make

    def __set_name__(self, record: type, name: str) -> None:
        self.record = record
        self.name = name

    def __get__(self, instance: object, owner: type) -> Any:
        made = self.make(self.record)
        setattr(self.record, self.name, made)
        return made.__get__(instance, owner) if hasattr(made, "__get__") else made


class _NewlyMade:
    """Stands where a value is made by the default of a field."""

    def __repr__(self) -> str:
        return "<factory>"


_NEWLY_MADE = _NewlyMade()


def _refuse_assignment(self: object, name: str, value: object) -> None:
    raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")


def _refuse_deletion(self: object, name: str) -> None:
    raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")


def _state(self: Any) -> list[Any]:
    return [getattr(self, name) for name in self.__slots__]


def _restore(self: Any, state: list[Any]) -> None:
    for name, value in zip(self.__slots__, state, strict=True):
        object.__setattr__(self, name, value)


def _record(cls: type | None = None, /, **options: bool) -> Any:
    """Make a dataclass of a class, like the standard decorator."""
    if cls is None:
        return lambda cls: _record(cls, **options)
    if not _is_plain(cls, options):
        return dataclasses.dataclass(**options)(cls)
    declared = _Declared(cls, options)
    methods: dict[str, Any] = {
        "__dataclass_fields__": _Later(declared.fields),
        "__dataclass_params__": _Later(declared.params),
        "__init__": _Later(declared.init),
        "__slots__": tuple(declared.annotations),
        "__match_args__": _Later(declared.match_args),
    }
    own = {name: value for name, value in vars(cls).items() if name not in declared.annotations}
    if "__repr__" not in own:
        methods["__repr__"] = _Later(declared.repr)
    if options.get("eq", True):
        methods["__eq__"] = _Later(declared.eq)
        methods["__hash__"] = None
    if options.get("frozen"):
        methods |= {"__setattr__": _refuse_assignment, "__delattr__": _refuse_deletion}
        methods |= {"__getstate__": _state, "__setstate__": _restore}
        if options.get("eq", True):
            methods["__hash__"] = _Later(declared.hash)
    del own["__dict__"], own["__weakref__"]
    made = type(cls)(cls.__name__, (), own | methods)
    made.__qualname__ = cls.__qualname__
    return made


def _is_plain(cls: type, options: Mapping[str, bool]) -> bool:
    """Say whether a class is one of those that are known here."""
    return (
        _OPTIONS.issuperset(options)
        and options.get("slots", False)
        and cls.__bases__ == (object,)
        and type(cls) is type
        and not any(name in vars(cls) for name in _OWN)
        and not any(name.startswith(_TAKEN) for name in cls.__annotations__)
        and all(
            isinstance(kind, str) and not any(word in kind for word in _NO_FIELDS)
            for kind in cls.__annotations__.values()
        )
    )


def maker(record: Callable[_Fields, _Made]) -> Callable[_Fields, _Made]:
    """Return what makes a frozen record of slots in half the time, each field given by its name.

    A twin with the same slots and nothing that forbids assignments is filled, and then becomes one
    of the record's class. No default is known and no `__post_init__` called.
    """
    cls: Any = record
    names: tuple[str, ...] = cls.__slots__
    assert cls.__bases__ == (object,) and not hasattr(cls, "__post_init__"), cls
    filled = "".join(f"\n _self.{name} = {name}" for name in names)
    text = (
        f"(*, {', '.join(names)}):\n _self = _new(_new_twin){filled}\n _self.__class__ = _new_one"
    )
    twin = type("_Twin", (), {"__slots__": names})
    known = {"_new": object.__new__, "_new_twin": twin, "_new_one": cls}
    return _Declared(cls, {})._written("make", f"{text}\n return _self", known)


if TYPE_CHECKING:
    from dataclasses import dataclass
else:
    dataclass = _record
