"""The input's fields that generated code reads: fetched once, and looked at once.

Code that tests a field is only right for the plain values of the kinds it asks for: text without
anything hidden, numbers that Python compares exactly, true and false, and nothing at all. The
opening of a function looks at each field and gives up (None) on every other value, so that the
reference decides; below it the tests need no second look.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

from policy.program.generated.quoting import literal
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
    """Tell whether a text that is not ASCII is compared as it stands, by every test."""
    return is_ordinary(text) and is_encodable(text)


class Fields:
    """The fields read so far: the variable of each, and the kinds of value that tests ask for."""

    __slots__ = ("_kinds", "_settled")

    def __init__(self) -> None:
        self._kinds: dict[str, set[FieldKind]] = {}
        self._settled = False

    def settle(self) -> bool:
        """Take all fields and kinds as known; tell whether tests differ in what they expect."""
        self._settled = True
        return any(len(kinds - {"any"}) > 1 for kinds in self._kinds.values())

    def variable(self, field: str, kind: FieldKind) -> str:
        """Return the variable that holds a field, which a test wants to be of this kind."""
        kinds = self._kinds.setdefault(field, set())
        if kind not in kinds:
            if self._settled:
                raise ValueError("a field that the opening does not look at")
            kinds.add(kind)
        return f"a{list(self._kinds).index(field)}"

    def guard(self, field: str, kind: FieldKind) -> str | None:
        """Return the check that a field is of this kind, None where it is that or absent."""
        wanted = self._kinds[field] - {"any"}
        return None if len(wanted) < 2 else _CHECKS[kind].format(self.variable(field, kind))

    def opening(self, plain: str) -> list[str]:
        """Return the lines that fetch and look at every field; `plain` names `is_plain_text`."""
        lines = ["g = input.get"] if self._kinds else []
        for number, (field, kinds) in enumerate(self._kinds.items()):
            lines += _fetched(f"a{number}", field, kinds - {"any"}, plain)
        return lines


def _fetched(name: str, field: str, kinds: set[FieldKind], plain: str) -> list[str]:
    lines = [f"{name} = g({literal(field)})"]
    word = "if"
    for kind in sorted(kinds):
        lines.append(f"{word} {_CHECKS[kind].format(name)}:")
        match kind:
            case "text":
                lines.append(f" if not {name}.isascii() and not {plain}({name}): return None")
            case "number":
                # Not within either for what is no number (NaN) or without bounds.
                lines.append(f" if not -{_SAFE} <= {name} <= {_SAFE}: return None")
            case _:
                lines.append(" pass")
        word = "elif"
    if kinds:
        lines.append(f"{word} {name} is not None: return None")
    return lines
