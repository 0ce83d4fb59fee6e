"""Nested `if` lines that find the rules which a call matches.

The rules of a tool share many conditions. A shared condition is tested once, and a field is fetched
only where all earlier conditions held: most calls lack most of the fields that rules mention. If a
condition fails, the rule does not match, whatever the other fields contain.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from policy.codegen.fields import Fields
from policy.codegen.formula import Conjunct

# Python allows a hundred levels of indentation; deeper conditions are written in sequence.
_DEEPEST = 40


@dataclass(frozen=True, slots=True)
class Conjunction:
    """The conditions that must hold for some rules to match, and the rules' numbers."""

    demands: tuple[Conjunct, ...]
    numbers: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class _Known:
    """What is known at a position in the code: variables fetched, those not None, and the depth."""

    fetched: frozenset[str]
    present: frozenset[str] = frozenset()
    depth: int = 0

    def deeper(self, variable: str | None = None) -> _Known:
        """Return what is known one level further in, where this variable is not None."""
        new = frozenset() if variable is None else frozenset((variable,))
        return _Known(self.fetched | new, self.present | new, self.depth + 1)

    def opened(self, variables: Iterable[str]) -> _Known:
        """Return what is known once these variables were fetched as well."""
        return _Known(self.fetched.union(variables), self.present, self.depth)


class Branches:
    """Writes the lines of one function, which reads these fields."""

    __slots__ = ("_fields",)

    def __init__(self, fields: Fields) -> None:
        self._fields = fields

    def lines(self, rules: Sequence[Conjunction], *, opened: Iterable[str]) -> list[str]:
        """Return lines that add matching rules to `m`; `opened` is fetched before."""
        return self._scope(rules, _Known(frozenset(opened)))

    def _scope(self, rules: Sequence[Conjunction], known: _Known) -> list[str]:
        if len(rules) == 1:
            return self._one(rules[0], known)
        if known.depth >= _DEEPEST:
            return self._side_by_side(rules, known)
        lines: list[str] = []
        groups = _grouped(rules, known)
        often = Counter(name for group in groups.values() for name in _read(group))
        for shared, group in groups.items():
            needed = {name for name in _read(group) - known.fetched if often[name] > 1}
            lines += self.opening(needed)
            known = known.opened(needed)
            lines += self._group(shared, group, known)
        return lines

    def _group(self, shared: str, rules: list[Conjunction], known: _Known) -> list[str]:
        if not shared:
            return [line for rule in rules for line in self._one(rule, known)]
        held = next((one for one in rules[0].demands if one.test == shared), None)
        if held is None:
            return self._where_present(shared, rules, known)
        unread = held.reads - known.fetched
        known = known.opened(unread)
        rest = [_without(rule, shared) for rule in rules]
        return [
            *self.opening(unread),
            f"if {_written(held, known)}:",
            *_indented(self._scope(rest, known.deeper())),
        ]

    def _where_present(
        self, variable: str, rules: Sequence[Conjunction], known: _Known
    ) -> list[str]:
        inside = known.deeper(variable)
        body = self._scope([_settled(rule, inside) for rule in rules], inside)
        if variable in known.fetched:
            return [f"if {variable} is not None:", *_indented(body)]
        return self._fields.where_there(variable, body)

    def _one(self, rule: Conjunction, known: _Known) -> list[str]:
        """Return the lines of one rule: first tests that need no new field, then field by field."""
        ready = [demand for demand in rule.demands if demand.reads <= known.fetched]
        later = [demand for demand in rule.demands if not demand.reads <= known.fetched]
        found = f"m += {rule.numbers!r}"
        tests = [_written(demand, known) for demand in ready]
        test = tests[0] if len(tests) == 1 else " and ".join(f"({one})" for one in tests)
        if not later:
            return [f"if {test}: {found}" if test else found]
        rest = Conjunction(tuple(later), rule.numbers)
        if not ready:
            return self._next_field(later[0], rest, known)
        if known.depth >= _DEEPEST:
            return self._side_by_side([rule], known)
        return [f"if {test}:", *_indented(self._next_field(later[0], rest, known.deeper()))]

    def _next_field(self, demand: Conjunct, rest: Conjunction, known: _Known) -> list[str]:
        if known.depth >= _DEEPEST:
            return self._side_by_side([rest], known)
        if demand.present is not None:
            return self._where_present(demand.present, [rest], known)
        unread = demand.reads - known.fetched
        return [*self.opening(unread), *self._one(rest, known.opened(unread))]

    def _side_by_side(self, rules: Sequence[Conjunction], known: _Known) -> list[str]:
        unread = _read(rules) - known.fetched
        known = known.opened(unread)
        return [*self.opening(unread), *(line for rule in rules for line in self._one(rule, known))]

    def opening(self, variables: Iterable[str]) -> list[str]:
        """Return the lines that fetch and check the fields of these variables."""
        return [line for name in sorted(variables) for line in self._fields.fetched(name)]


def _grouped(rules: Sequence[Conjunction], known: _Known) -> dict[str, list[Conjunction]]:
    """Return the rules grouped by the field or test that most of them share.

    Rules that share nothing are under the empty string.
    """
    wanted = [_wanted(rule, known) for rule in rules]
    often = Counter(shared for each in wanted for shared in each)
    groups: dict[str, list[Conjunction]] = {}
    for rule, each in zip(rules, wanted, strict=True):
        # The first of the most frequent: fields stand before tests.
        best = max(each, key=often.__getitem__, default="")
        groups.setdefault(best if often[best] > 1 else "", []).append(rule)
    return groups


def _wanted(rule: Conjunction, known: _Known) -> list[str]:
    """Return the fields and tests that a rule may share with others: fields first, each once."""
    fields = dict.fromkeys(
        demand.present
        for demand in rule.demands
        if demand.present is not None and demand.present not in known.present
    )
    return [*fields, *(demand.test for demand in rule.demands if demand.test is not None)]


def _read(rules: Iterable[Conjunction]) -> set[str]:
    return {name for rule in rules for demand in rule.demands for name in demand.reads}


def _without(rule: Conjunction, held: str) -> Conjunction:
    return Conjunction(tuple(one for one in rule.demands if one.test != held), rule.numbers)


def _settled(rule: Conjunction, known: _Known) -> Conjunction:
    """Return the rule without conjuncts that only require a field which is known to be present."""
    left = (one for one in rule.demands if one.test is not None or one.present not in known.present)
    return Conjunction(tuple(left), rule.numbers)


def _written(demand: Conjunct, known: _Known) -> str:
    there = demand.present
    if there is None or there in known.present:
        return demand.test or "True"
    if demand.test is None:
        return f"{there} is not None"
    return demand.test if demand.of_none else f"{there} is not None and {demand.test}"


def _indented(lines: Iterable[str]) -> list[str]:
    return [f" {line}" for line in lines]
