"""A tool call and its caller: `ToolCall` and `Caller`, immutable at every level."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from decimal import Decimal
from types import MappingProxyType
from typing import Any, TypeAlias

# A JSON value inside the engine: objects are read-only mappings, arrays are tuples. A Decimal
# stands for a number that a double cannot represent; tests of it are indeterminate.
Frozen: TypeAlias = (
    "None | bool | int | float | Decimal | str | tuple[Frozen, ...] | Mapping[str, Frozen]"
)

EMPTY: Mapping[str, Any] = MappingProxyType({})

# Types that need no freezing. They are tested first because every call is frozen, and `isinstance`
# with an abstract class costs more than the rest of the function.
_SCALARS = frozenset({str, int, float, bool, type(None), Decimal})


def freeze(value: Any) -> Frozen:
    """Return `value` (parsed JSON) with every object and array made read-only."""
    kind = type(value)
    if kind in _SCALARS:
        return value  # type: ignore[no-any-return]
    if kind is dict or isinstance(value, Mapping):
        return MappingProxyType(freeze_fields(value))
    if isinstance(value, (list, tuple)):
        return tuple(freeze(item) for item in value)
    return value  # type: ignore[no-any-return]


def freeze_fields(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return a copy of an object's fields, with every value frozen."""
    if _SCALARS.issuperset(map(type, fields.values())):
        return dict(fields)
    return {key: item if type(item) in _SCALARS else freeze(item) for key, item in fields.items()}


def thaw(value: Any) -> Any:
    """Return a frozen value as ordinary, writable dicts and lists."""
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
    """One tool call: the tool's flat name and its JSON input."""

    tool: str
    input: Mapping[str, Any] = field(default_factory=lambda: EMPTY)
    # The token of the admission that made this object; None for a call made in any other way.
    _admitted_by: object = field(default=None, init=False, repr=False, compare=False)
    # The dict that `input` is a read-only view of: field look-ups are most of the work of a fast
    # decision, and the view would cost more than they do. Never modified. Unset where the input is
    # not an object.
    _fields: dict[str, Any] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        given: object = self.input
        if type(given) is dict or isinstance(given, Mapping):
            fields = freeze_fields(given)
            object.__setattr__(self, "input", MappingProxyType(fields))
            object.__setattr__(self, "_fields", fields)
        else:
            # Admission rejects such a call; its input is kept for the record.
            object.__setattr__(self, "input", freeze(given))

    def was_admitted_by(self, token: object) -> bool:
        """Return whether the admission identified by the token produced this object."""
        return self._admitted_by is token


def mark_admitted(call: ToolCall, token: object) -> None:
    """Mark a call as admitted; only the admission itself may do so."""
    object.__setattr__(call, "_admitted_by", token)


def _texts(values: object, name: str) -> tuple[str, ...]:
    # A string is itself a sequence of strings: "*" would be taken for a list of one pattern.
    if isinstance(values, (list, tuple)) and all(isinstance(value, str) for value in values):
        return tuple(values)
    raise TypeError(f"{name} must be a tuple of strings")


@dataclass(frozen=True, slots=True, kw_only=True)
class GuestScope:
    """What a guest may call, and until when; a guest without a scope may call nothing.

    A time without a zone is in UTC. Raises TypeError for a field of the wrong type.
    """

    allowed_tools: tuple[str, ...] = ()
    expires_at: datetime | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "allowed_tools", _texts(self.allowed_tools, "allowed_tools"))
        expires = self.expires_at
        if expires is not None and not isinstance(expires, datetime):
            raise TypeError("expires_at must be a datetime or None")
        if expires is not None and expires.tzinfo is None:
            object.__setattr__(self, "expires_at", expires.replace(tzinfo=UTC))


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """The caller: one agent in one session, with the caller that started it as `parent`.

    `role` is `owner`, `guest`, `anonymous` or a custom role. Raises TypeError for a field of the
    wrong type: the caller's identity is never guessed.
    """

    agent: str = "default"
    session: str = "default"
    role: str = "owner"
    user: str | None = None
    groups: tuple[str, ...] = ()
    scope: GuestScope | None = None
    parent: Caller | None = None
    # Cached: every caller of a chain is judged, and each would count its ancestors again.
    _depth: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        for name in ("agent", "session", "role"):
            if not isinstance(getattr(self, name), str):
                raise TypeError(f"{name} must be a string")
        if not isinstance(self.user, str | None):
            raise TypeError("user must be a string or None")
        if not isinstance(self.scope, GuestScope | None):
            raise TypeError("scope must be a GuestScope or None")
        above: object = self.parent
        if above is not None and not isinstance(above, Caller):
            raise TypeError("parent must be a Caller or None")
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
        """The number of callers above this one; 0 for a root."""
        return self._depth


def owner_of(caller: Caller) -> tuple[str, str]:
    """Return whose share a caller uses of what all callers share: its user's, else its agent's."""
    *_, root = caller.chain()
    return ("agent", root.agent) if root.user is None else ("user", root.user)
