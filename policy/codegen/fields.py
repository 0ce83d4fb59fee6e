"""The input's fields that generated code reads, each fetched once.

Code that tests a field is only right for plain values of the types that it expects: text without
anything hidden, numbers that Python compares exactly, true and false, and nothing at all. The
opening of a function looks at each field and gives up (None) on every other value, so that the
reference decides; below it the tests need no second look.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias

from policy.codegen.quoting import literal
from policy.values import is_encodable, is_ordinary

FieldKind: TypeAlias = Literal["text", "number", "flag", "any"]

# Up to here every whole number is a double (values.number says the same).
_SAFE = 2**53

_CHECKS: dict[FieldKind, str] = {
    "text": "{0}.__class__ is str",
    "number": "({0}.__class__ is int or {0}.__class__ is float)",
    "flag": "{0}.__class__ is bool",
}


def is_plain_text(text: str) -> bool:
    """Return whether every test compares a text that is not ASCII without normalising it."""
    return is_ordinary(text) and is_encodable(text)


class Fields:
    """The fields read so far: the variable of each, and the types that tests expect."""

    __slots__ = ("_kinds", "_settled")

    def __init__(self) -> None:
        self._kinds: dict[str, set[FieldKind]] = {}
        self._settled = False

    @property
    def any(self) -> bool:
        """Whether any field is read."""
        return bool(self._kinds)

    def settle(self) -> bool:
        """Fix all fields and types; return whether tests expect different types of a field."""
        self._settled = True
        return any(len(kinds - {"any"}) > 1 for kinds in self._kinds.values())

    def variable(self, field: str, kind: FieldKind) -> str:
        """Return the variable that holds a field, which a test expects to have this type."""
        kinds = self._kinds.setdefault(field, set())
        if kind not in kinds:
            if self._settled:
                raise ValueError("a field that the opening does not look at")
            kinds.add(kind)
        return f"a{list(self._kinds).index(field)}"

    def guard(self, field: str, kind: FieldKind) -> str | None:
        """Return the check that a field has this type, None if it has it or is absent."""
        wanted = self._kinds[field] - {"any"}
        return None if len(wanted) < 2 else _CHECKS[kind].format(self.variable(field, kind))

    def fetched(self, variable: str) -> list[str]:
        """Return the lines that fetch and check a variable's field.

        Without the field, or where it is null, the variable is None.
        """
        field, kinds = self._of(variable)
        there = [f"{variable} = d[{literal(field)}]", *self._looks(variable, kinds)]
        return [
            f"if {literal(field)} in d:",
            *(f" {line}" for line in there),
            f"else: {variable} = None",
        ]

    def where_there(self, variable: str, inside: Sequence[str]) -> list[str]:
        """Return the lines that run `inside` if a variable's field is present and not null.

        Outside of them the variable may be unset.
        """
        field, kinds = self._of(variable)
        lines = [f"{variable} = d[{literal(field)}]"]
        looks = self._looks(variable, kinds)
        indented = [f" {line}" for line in inside]
        if len(kinds - {"any"}) == 1:
            # Where it is of the one kind, it is there.
            lines += [*looks[:-1], *indented, looks[-1]]
        else:
            lines += [*looks, f"if {variable} is not None:", *indented]
        return [f"if {literal(field)} in d:", *(f" {line}" for line in lines)]

    def _looks(self, variable: str, kinds: set[FieldKind]) -> list[str]:
        """Return the lines that give up unless the value is null or a plain one of these types."""
        looks = [_looked_at(variable, kind) for kind in sorted(kinds - {"any"})]
        if not looks:
            return []
        lines = list(looks[0])
        for check, *look in looks[1:]:
            lines += [f"el{check}", *look]
        return [*lines, f"elif {variable} is not None: return None"]

    def _of(self, variable: str) -> tuple[str, set[FieldKind]]:
        field = list(self._kinds)[int(variable[1:])]
        return field, self._kinds[field]


def _looked_at(name: str, kind: FieldKind) -> list[str]:
    """Return the lines for a value that has the type, but is not plain."""
    check = f"if {_CHECKS[kind].format(name)}:"
    match kind:
        case "text":
            return [check, f" if not {name}.isascii() and not plain({name}): return None"]
        case "number":
            # False for NaN and for infinite numbers.
            return [check, f" if not -{_SAFE} <= {name} <= {_SAFE}: return None"]
        case _:
            return [check, " pass"]
