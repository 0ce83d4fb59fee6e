"""What an agent asks for: `ToolCall` and `Caller`, frozen all the way down."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from types import MappingProxyType
from typing import Any, TypeAlias

# A JSON value as everything inside judges it: objects are read-only mappings, arrays are tuples.
# A Decimal stands for a number whose digits a double cannot hold; no rule can decide about it.
Frozen: TypeAlias = (
    "None | bool | int | float | Decimal | str | tuple[Frozen, ...] | Mapping[str, Frozen]"
)

EMPTY: Mapping[str, Any] = MappingProxyType({})

# What needs no freezing. Asked first: every call is frozen, and `isinstance` of an abstract class
# costs more than all the rest.
_SCALARS = frozenset({str, int, float, bool, type(None), Decimal})


def freeze(value: Any) -> Frozen:
    """Return `value` (JSON as Python holds it) with every object and array made read-only."""
    kind = type(value)
    if kind in _SCALARS:
        return value  # type: ignore[no-any-return]
    if kind is dict or isinstance(value, Mapping):
        return MappingProxyType(
            {key: item if type(item) in _SCALARS else freeze(item) for key, item in value.items()}
        )
    if isinstance(value, (list, tuple)):
        return tuple(freeze(item) for item in value)
    return value  # type: ignore[no-any-return]


def thaw(value: Any) -> Any:
    """Return a frozen value as plain, writable dicts and lists."""
    kind = type(value)
    if kind in _SCALARS:
        return value
    if kind is MappingProxyType or isinstance(value, Mapping):
        return {key: thaw(item) for key, item in value.items()}
    if isinstance(value, tuple):
        return [thaw(item) for item in value]
    return value


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """One call as asked for or as it would run: the tool's flat name and its JSON input."""

    tool: str
    input: Mapping[str, Any] = field(default_factory=lambda: EMPTY)

    def __post_init__(self) -> None:
        object.__setattr__(self, "input", freeze(self.input))


@dataclass(frozen=True, slots=True, kw_only=True)
class GuestScope:
    """What a guest may call, and until when; a guest without a scope may call nothing."""

    allowed_tools: tuple[str, ...] = ()
    expires_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """Who asks: one agent in one session, with the caller that started it as `parent`.

    `role` is `owner`, `guest`, `anonymous` or a role of your own.
    """

    agent: str = "default"
    session: str = "default"
    role: str = "owner"
    user: str | None = None
    groups: tuple[str, ...] = ()
    scope: GuestScope | None = None
    parent: Caller | None = None

    def chain(self) -> Iterator[Caller]:
        """Yield this caller, then the one that started it, up to the root."""
        caller: Caller | None = self
        while caller is not None:
            yield caller
            caller = caller.parent

    @property
    def depth(self) -> int:
        """How many callers stand above this one; 0 for a root."""
        return sum(1 for _ in self.chain()) - 1
