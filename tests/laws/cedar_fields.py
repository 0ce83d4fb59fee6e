"""What stands for a path of attributes of Cedar: a field of the input, or a fact."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from tests.laws.cedar_world import MISSING, Path, Untranslatable, World, as_json, kind_of

_PLAIN = re.compile(r"[a-z_][a-z0-9_]*", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Value:
    """A value as a rule spells it. `may_fail`: reading it may be an error in Cedar."""

    text: str
    kinds: frozenset[str]
    may_fail: bool = False
    path: Path | None = None
    items: tuple[Value, ...] | None = None  # of a set that the policy writes out
    literal: Any = MISSING


@dataclass(kw_only=True)
class Fields:
    """The fields and facts that rules read, and the sets that they name; they grow as rules do."""

    world: World
    names: dict[Path, str] = field(default_factory=dict)
    sets: dict[str, str] = field(default_factory=dict)
    facts: set[str] = field(default_factory=set)

    def value_at(self, path: Path) -> Value:
        """Return what stands for a path."""
        if path == ("principal",):
            return Value(text="user.id", kinds=frozenset({"entity"}), path=path)
        if path == ("context",):
            return Value(text="", kinds=frozenset({"record"}), path=path)
        seen = self.world.seen(path)
        kinds = frozenset(kind_of(value) for value in seen if value is not MISSING)
        for value in seen:
            if value is not MISSING and kind_of(value) != "record":
                as_json(value)  # tells what has no counterpart
        return Value(
            text=self._name(path), kinds=kinds, may_fail=MISSING in seen or not kinds, path=path
        )

    def ancestors_of(self, value: Value) -> str:
        """Return the list of what an entity is in, itself included."""
        if value.path == ("principal",):
            return "user.groups"
        if value.path is None:
            raise Untranslatable("`in` of what is no path")
        return self._name((*value.path, "+"))

    def _name(self, path: Path) -> str:
        if path[0] == "context" and path[-1] != "+" and self._is_fact(path):
            self.facts.add(path[1])
            return ".".join(path)
        name = self.names.get(path)
        if name is None:
            plain = "_".join(str(step) for step in path if _PLAIN.fullmatch(str(step)))
            name = f"{plain}_in" if path[-1] == "+" else plain
            taken = {"never", "unused", *self.names.values()}
            name = self.names[path] = f"{name or 'f'}_{len(taken)}" if name in taken else name
        return f"input.{name}"

    def _is_fact(self, path: Path) -> bool:
        """Return whether a path leads through records of the context alone."""
        inner = [path[:at] for at in range(2, len(path))]
        return all(isinstance(one, str) and _PLAIN.fullmatch(one) for one in path) and all(
            value is MISSING or kind_of(value) == "record"
            for one in inner
            for value in self.world.seen(one)
        )
