"""A class that only declares fields in; the dataclass it declares, cheap to make, out.

The standard decorator writes and compiles six methods when a class is declared, half a millisecond
each time; here a process declares hundreds of classes and uses a few dozen of them. This one makes
the same class, and writes each method when it has been used a few times or is looked at. What it
does not know it leaves to the standard one, whose functions know these classes too. Where nobody
asks those, `dataclasses` is not imported: it takes twice as long as Python does to start.

With `records` in PLACET_NO_FAST the standard decorator makes every class. That acts while classes
are declared, so that the environment is the one place to say it.
"""

from __future__ import annotations

import os  # noqa: TID251 — for the one variable that is read before there is anything to pass
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, NoReturn, ParamSpec, TypeVar

from policy.declared import Declared, Field, standard
from policy.unwritten import UNWRITTEN

__all__ = [
    "dataclass",
    "field",
    "fields",
    "is_dataclass",
    "maker",
    "refuse_assignment",
    "refuse_deletion",
    "replace",
]

# The options that are understood here; with any other one the standard decorator does it all.
_OPTIONS = frozenset({"frozen", "slots", "kw_only", "eq"})
# What a class must not say itself, for then there is more to weigh than stands here.
_OWN = frozenset(
    {
        "__init__", "__eq__", "__setattr__", "__delattr__", "__getstate__", "__setstate__",
        "__match_args__", "__slots__",
    }
)  # fmt: skip
# Where the fields stand as they were said to us; the standard functions have a place of their own.
_OUR_FIELDS = "__record_fields__"
# What the class said, until all of it is made.
_DECLARED = "__record_declared__"
# So often the methods of a class are used before one is written, all of them together.
_FEW = 24
# What the written methods call things themselves, some with a number.
_TAKEN = frozenset({"_self", "_changes"})
_Fields = ParamSpec("_Fields")
_Made = TypeVar("_Made")


class _Later:
    """An attribute of records that is made when it is first looked up, and then stands there.

    One serves all records. What it makes stands in the record itself, whichever class inherits it:
    what that says of its own stays.
    """

    __slots__ = ("make", "name", "unwritten")

    def __init__(self, name: str, make: Callable[[Declared, type], Any]) -> None:
        self.name = name
        self.make = make
        self.unwritten = UNWRITTEN.get(name)

    def __get__(self, instance: object, owner: type) -> Any:
        for record in owner.__mro__:
            own = record.__dict__
            if own.get(self.name) is self:
                declared = own[_DECLARED]
                if instance is not None and self.unwritten and declared.uses < _FEW:
                    declared.uses += 1
                    return partial(self.unwritten, declared, record, instance)
                made = self.make(declared, record)
                setattr(record, self.name, made)
                return made.__get__(instance, owner) if hasattr(made, "__get__") else made
        # Another thread has made it meanwhile.
        return getattr(owner if instance is None else instance, self.name)


def _later(makes: Mapping[str, Callable[[Declared, type], Any]]) -> dict[str, Any]:
    return {name: _Later(name, make) for name, make in makes.items()}


_ALWAYS = _later(
    {
        "__dataclass_fields__": lambda declared, _: declared.twin("__dataclass_fields__"),
        "__dataclass_params__": lambda declared, _: declared.twin("__dataclass_params__"),
        _OUR_FIELDS: lambda declared, _: declared.fields(),
        "__replace__": lambda declared, _: declared.replace(),
        "__init__": Declared.init,
        "__match_args__": lambda declared, _: declared.match_args(),
    }
)
_EQ = _later({"__eq__": lambda declared, _: declared.eq()})
_HASH = _later({"__hash__": lambda declared, _: declared.hash()})
_REPR = _later({"__repr__": lambda declared, _: declared.repr()})


def refuse_assignment(self: object, name: str, value: object) -> NoReturn:
    """Serve as the `__setattr__` of what is frozen."""
    from dataclasses import FrozenInstanceError

    raise FrozenInstanceError(f"cannot assign to field {name!r}")


def refuse_deletion(self: object, name: str) -> NoReturn:
    """Serve as the `__delattr__` of what is frozen."""
    from dataclasses import FrozenInstanceError

    raise FrozenInstanceError(f"cannot delete field {name!r}")


def _state(self: Any) -> list[Any]:
    return [getattr(self, name) for name in self.__slots__]


def _restore(self: Any, state: list[Any]) -> None:
    for name, value in zip(self.__slots__, state, strict=True):
        object.__setattr__(self, name, value)


_FROZEN = {
    "__setattr__": refuse_assignment,
    "__delattr__": refuse_deletion,
    "__getstate__": _state,
    "__setstate__": _restore,
}
# What a class gets beside what it says, by whether its records are compared and frozen.
_METHODS: Mapping[tuple[bool, bool], Mapping[str, Any]] = {
    (True, True): {**_ALWAYS, **_REPR, **_EQ, **_HASH, **_FROZEN},
    (True, False): {**_ALWAYS, **_REPR, **_EQ, "__hash__": None},
    (False, True): {**_ALWAYS, **_REPR, **_FROZEN},
    (False, False): {**_ALWAYS, **_REPR},
}


def _record(cls: type | None = None, /, **options: bool) -> Any:
    """Make a dataclass of a class, like the standard decorator."""
    made = partial(_declare, options)
    return made if cls is None else made(cls)


def _declare(options: Mapping[str, bool], cls: type) -> Any:
    own = vars(cls)
    if not _is_plain(cls, own, options):
        return standard(cls, options)
    declared = Declared(cls, options)
    body = {**_METHODS[options.get("eq", True), options.get("frozen", False)], **own}
    for name in (*declared.defaults, "__dict__", "__weakref__"):
        del body[name]
    body["__slots__"] = tuple(declared.annotations)
    body["__qualname__"] = cls.__qualname__
    body[_DECLARED] = declared
    return type(cls.__name__, (), body)


def _replace(record: Any, /, **changes: Any) -> Any:
    """Return another record with other values, like the standard function."""
    if "__replace__" in type(record).__dict__:
        return record.__replace__(**changes)
    import dataclasses

    return dataclasses.replace(record, **changes)


def _fields(record: Any) -> tuple[Any, ...]:
    """Return the fields of a record or its class: `name`, and what was said of each."""
    kind = record if isinstance(record, type) else type(record)
    if _OUR_FIELDS in kind.__dict__:
        ours: tuple[Field, ...] = getattr(kind, _OUR_FIELDS)
        return ours
    import dataclasses

    return dataclasses.fields(record)


def _is_record(value: object) -> bool:
    """Say whether a value or a class is a dataclass, ours or a standard one."""
    kind = value if isinstance(value, type) else type(value)
    return any("__dataclass_fields__" in vars(each) for each in kind.__mro__)


def _is_plain(cls: type, own: Mapping[str, Any], options: Mapping[str, bool]) -> bool:
    """Say whether a class is one of those that are known here."""
    return (
        _OPTIONS.issuperset(options)
        and options.get("slots", False)
        and cls.__bases__ == (object,)
        and type(cls) is type
        and _OWN.isdisjoint(own)
        and _name_fields_alone(cls.__annotations__)
    )


def _name_fields_alone(said: Mapping[str, Any]) -> bool:
    """Say whether annotations are texts that name fields, none of which has a name of ours."""
    try:
        kinds = "\n".join(said.values())
    except TypeError:
        return False
    if "ClassVar" in kinds or "InitVar" in kinds or "KW_ONLY" in kinds:
        return False
    return _TAKEN.isdisjoint([name.rstrip("0123456789") for name in said if name[0] == "_"])


def maker(record: Callable[_Fields, _Made]) -> Callable[_Fields, _Made]:
    """Return what makes a frozen record of slots in half the time, each field given by its name.

    A twin with the same slots and nothing that forbids assignments is filled, and then becomes one
    of the record's class. No default is known and no `__post_init__` called.
    """
    cls: Any = record
    assert cls.__bases__ == (object,) and not hasattr(cls, "__post_init__"), cls
    return Declared(cls, {}).maker(cls)


def _is_switched_off() -> bool:
    named = os.environ.get("PLACET_NO_FAST", "")
    return "records" in (name.strip() for name in named.split(","))


if TYPE_CHECKING or _is_switched_off():
    from dataclasses import dataclass, field, fields, is_dataclass, replace
else:
    dataclass = _record
    field = Field
    fields = _fields
    is_dataclass = _is_record
    replace = _replace
