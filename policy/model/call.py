"""What an agent asks for: `ToolCall` and `Caller`, frozen all the way down."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
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
        return MappingProxyType(freeze_fields(value))
    if isinstance(value, (list, tuple)):
        return tuple(freeze(item) for item in value)
    return value  # type: ignore[no-any-return]


def freeze_fields(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return an object's fields in a dict of their own, every value frozen."""
    if _SCALARS.issuperset(map(type, fields.values())):
        return dict(fields)
    return {key: item if type(item) in _SCALARS else freeze(item) for key, item in fields.items()}


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
    # What admitted this very object, None for a call that somebody made up.
    _admitted_by: object = field(default=None, init=False, repr=False, compare=False)
    # What `input` is a view of: most of what a quick decision does is to look fields up, and the
    # view between costs more than they do. Nobody changes it. Unset where the input is no object.
    _fields: dict[str, Any] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        given: object = self.input
        if type(given) is dict or isinstance(given, Mapping):
            fields = freeze_fields(given)
            object.__setattr__(self, "input", MappingProxyType(fields))
            object.__setattr__(self, "_fields", fields)
        else:
            # No admission lets it through; what was asked for is kept as it is.
            object.__setattr__(self, "input", freeze(given))

    def was_admitted_by(self, token: object) -> bool:
        """Tell whether this very call came out of an admission that the token stands for."""
        return self._admitted_by is token


def mark_admitted(call: ToolCall, token: object) -> None:
    """Note that a call came out of an admission; only who admits may say so."""
    object.__setattr__(call, "_admitted_by", token)


def _texts(values: object, name: str) -> tuple[str, ...]:
    # A text is a sequence of texts too: "*" would be read as a list of one pattern.
    if isinstance(values, (list, tuple)) and all(isinstance(value, str) for value in values):
        return tuple(values)
    raise TypeError(f"{name} is a tuple of texts")


@dataclass(frozen=True, slots=True, kw_only=True)
class GuestScope:
    """What a guest may call, and until when; a guest without a scope may call nothing.

    A time without a zone is in UTC. Raises TypeError for what is no list of patterns or no time.
    """

    allowed_tools: tuple[str, ...] = ()
    expires_at: datetime | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "allowed_tools", _texts(self.allowed_tools, "allowed_tools"))
        expires = self.expires_at
        if expires is not None and not isinstance(expires, datetime):
            raise TypeError("expires_at is a time or None")
        if expires is not None and expires.tzinfo is None:
            object.__setattr__(self, "expires_at", expires.replace(tzinfo=UTC))


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """Who asks: one agent in one session, with the caller that started it as `parent`.

    `role` is `owner`, `guest`, `anonymous` or a role of your own. Raises TypeError for a field of
    another type: who calls is never guessed.
    """

    agent: str = "default"
    session: str = "default"
    role: str = "owner"
    user: str | None = None
    groups: tuple[str, ...] = ()
    scope: GuestScope | None = None
    parent: Caller | None = None
    # Each caller of a chain is judged, and each would count those above it anew.
    _depth: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        for name in ("agent", "session", "role"):
            if not isinstance(getattr(self, name), str):
                raise TypeError(f"{name} is a text")
        if not isinstance(self.user, str | None):
            raise TypeError("user is a text or None")
        if not isinstance(self.scope, GuestScope | None):
            raise TypeError("scope is a GuestScope or None")
        above: object = self.parent
        if above is not None and not isinstance(above, Caller):
            raise TypeError("parent is a Caller or None")
        object.__setattr__(self, "groups", _texts(self.groups, "groups"))
        object.__setattr__(self, "_depth", 0 if above is None else above._depth + 1)

    def chain(self) -> Iterator[Caller]:
        """Yield this caller, then the one that started it, up to the root."""
        caller: Caller | None = self
        while caller is not None:
            yield caller
            caller = caller.parent

    @property
    def depth(self) -> int:
        """How many callers stand above this one; 0 for a root."""
        return self._depth
