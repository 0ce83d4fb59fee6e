"""A record's class and what one of its methods is given in; what the method would do, done, out.

Writing a method is what it costs, and most records of a short process are made a few times. So the
first uses go through a class field by field, which takes ten times as long as the written method
and a hundredth of writing it. Whatever is not plain about a class or a use goes to what is written,
which also says what is wrong with a use.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from policy.declared import Declared, Field

__all__ = ["UNWRITTEN", "Unwritten"]

# A method before it is written: what the class said, the class, one of it, and what is given.
Unwritten = Callable[..., Any]

_Put = Callable[[object, object], None]


class Plan:
    """What is known of a class: what `__init__` takes, what it puts where, and what is compared."""

    __slots__ = ("compared", "defaults", "hashed", "makes", "positional", "puts", "taken", "whole")

    def __init__(self, declared: Declared, cls: type) -> None:
        own = vars(cls)
        names = tuple(declared.annotations)
        # Most classes say nothing of their fields but their kinds.
        taken = self.compared = self.hashed = names
        self.makes: dict[str, Callable[[], Any]] = {}
        self.defaults: dict[str, Any] = {}
        if declared.defaults:
            said = {name: one for name, one in declared.defaults.items() if isinstance(one, Field)}
            taken = tuple([name for name in names if name not in said or said[name].init])
            self.makes = _known({name: one.default_factory for name, one in said.items()})
            values = declared.defaults | {name: one.default for name, one in said.items()}
            self.defaults = _known(values)
            self.compared = tuple([n for n in names if n not in said or said[n].compare])
            self.hashed = tuple([n for n in names if n not in said or _is_hashed(said[n])])
        filled = {*taken, *self.makes, *self.defaults}
        self.taken = frozenset(taken)
        self.positional = () if declared.options.get("kw_only") else taken
        self.puts: dict[str, _Put] = {name: own[name].__set__ for name in names if name in filled}
        # What must be given by name where all is, and nothing is left to be filled in.
        self.whole = self.taken if self.taken == self.puts.keys() else None


def _known(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not Field.MISSING}


def _is_hashed(said: Field) -> bool:
    return said.compare if said.hash is None else said.hash


def _plan(declared: Declared, cls: type) -> Plan | None:
    """Return what is known of a class; None where something about it is not plain."""
    plan: Plan | None = declared.plan
    if plan is None and all(map(_is_plain, declared.defaults.values())):
        plan = declared.plan = Plan(declared, cls)
    return plan


def _is_plain(said: object) -> bool:
    if isinstance(said, Field):
        return said.kw_only is Field.MISSING
    # The standard library's own field has this attribute as well.
    return not hasattr(said, "default_factory")


def _init(declared: Declared, cls: type, one: Any, /, *given: Any, **named: Any) -> None:
    plan = _plan(declared, cls)
    is_whole = plan is not None and not given and named.keys() == plan.whole
    values = named if is_whole or plan is None else _values(plan, given, named)
    if plan is None or values is None:
        _written("__init__", cls, one)(*given, **named)
        return
    for name, put in plan.puts.items():
        put(one, values[name])
    if declared.has_post_init:
        one.__post_init__()


def _values(plan: Plan, given: Sequence[Any], named: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the value of every field; None where too many or too few are given."""
    if len(given) > len(plan.positional):
        return None
    by_place = dict(zip(plan.positional, given, strict=False))
    if not plan.taken.issuperset(named) or not named.keys().isdisjoint(by_place):
        return None
    values = {**plan.defaults, **by_place, **named}
    for name, make in plan.makes.items():
        if name not in values:
            values[name] = make()
    return values if values.keys() == plan.puts.keys() else None


def _eq(declared: Declared, cls: type, one: Any, other: object, /) -> Any:
    plan = _plan(declared, cls)
    if plan is None:
        return _written("__eq__", cls, one)(other)
    if other.__class__ is not one.__class__:
        return NotImplemented
    names = plan.compared
    return [getattr(one, name) for name in names] == [getattr(other, name) for name in names]


def _hash(declared: Declared, cls: type, one: Any, /) -> Any:
    plan = _plan(declared, cls)
    if plan is None:
        return _written("__hash__", cls, one)()
    return hash(tuple([getattr(one, name) for name in plan.hashed]))


def _replace(declared: Declared, cls: type, one: Any, /, **changes: Any) -> Any:
    plan = _plan(declared, cls)
    if plan is None or not plan.taken.issuperset(changes):
        return _written("__replace__", cls, one)(**changes)
    same = {name: getattr(one, name) for name in plan.taken if name not in changes}
    return one.__class__(**same, **changes)


def _written(name: str, cls: type, one: object) -> Any:
    # What is asked of the class itself is written.
    return getattr(cls, name).__get__(one, cls)


UNWRITTEN: Mapping[str, Unwritten] = {
    "__init__": _init,
    "__eq__": _eq,
    "__hash__": _hash,
    "__replace__": _replace,
}
