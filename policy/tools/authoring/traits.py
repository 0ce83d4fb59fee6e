"""`Traits`: what an author declares of a tool besides its arguments."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

from policy.catalog import Resource

Example = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Traits:
    """What an author may declare about a tool besides its arguments; see `ToolSpec`.

    `strict_schema` shows models the strict schema, `examples` are inputs to imitate, and
    `usage_rule` is a line for the prompt of models that have the tool. `error_text` is whether
    models read the text of its exceptions. `resources` are added to those that the arguments are
    marked with.
    """

    category: str | None = None
    read_only: bool | None = None
    destructive: bool | None = None
    idempotent: bool | None = None
    complete: bool = False
    unseen: bool = False
    exec_class: bool = False
    requires_confirmation: bool = False
    strict_schema: bool = False
    examples: tuple[Example, ...] = ()
    usage_rule: str | None = None
    error_text: bool = True
    version: int | None = None
    resources: tuple[Resource, ...] = ()

    def __post_init__(self) -> None:
        for name in ("category", "usage_rule"):
            if not isinstance(getattr(self, name), str | None):
                raise TypeError(f"`{name}` must be a string or None")
        for name in ("read_only", "destructive", "idempotent"):
            if not isinstance(getattr(self, name), bool | None):
                raise TypeError(f"`{name}` must be true, false or None")
        for name in _FLAGS:
            if not isinstance(getattr(self, name), bool):
                raise TypeError(f"`{name}` must be true or false")
        if isinstance(self.version, bool) or not isinstance(self.version, int | None):
            raise TypeError("`version` must be an integer or None")
        examples: object = self.examples
        if not isinstance(examples, (list, tuple)) or not all(
            isinstance(example, Mapping) for example in examples
        ):
            raise TypeError("`examples` must be a tuple of objects, each an input")
        object.__setattr__(self, "examples", tuple(examples))
        if self.usage_rule is not None:
            # It becomes one line of a list.
            object.__setattr__(self, "usage_rule", " ".join(self.usage_rule.split()) or None)


_FLAGS = (
    "complete",
    "unseen",
    "exec_class",
    "requires_confirmation",
    "strict_schema",
    "error_text",
)
# What an object may also declare in a method or attribute, as in most tool interfaces.
_SAID = frozenset(
    "category requires_confirmation strict_schema examples usage_rule read_only destructive "
    "idempotent unseen exec_class error_text".split()
)


def traits_of(authored: object) -> Traits:
    """Return what a tool's object declares; TypeError if it is invalid.

    It may have `traits`, constants such as `CATEGORY`, and methods such as `usage_rule()`.
    """
    given = getattr(authored, "traits", None)
    if not isinstance(given, Traits | None):
        # The author intended it to count.
        raise TypeError(f"`{type(authored).__name__}.traits` must be a `Traits`")
    said: dict[str, Any] = {}
    for field in fields(Traits):
        value = getattr(authored, field.name.upper(), None)
        if value is None and field.name in _SAID:
            value = said_by(authored, field.name)
        if value is not None:
            said[field.name] = tuple(value) if isinstance(value, list) else value
    return replace(given or Traits(), **said)


def said_by(authored: object, name: str) -> Any:
    """Return the value of an attribute, or of a method without parameters; None if missing."""
    value = getattr(authored, name, None)
    return value() if callable(value) and not isinstance(value, type) else value
