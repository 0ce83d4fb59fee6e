"""The caller's identity, after the layers and only taking: anonymous, guests and their scope."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from functools import lru_cache

from policy.call import Caller, GuestScope
from policy.reason import Reason
from policy.values import compile_name_glob, role_of
from policy.verdict import Verdict


def _denied(rule: str, message: str) -> Reason:
    return Reason(rule=rule, verdict=Verdict.DENY, message=message)


_ANONYMOUS = _denied("identity", "nobody is known to be calling")
_NO_SCOPE = _denied("scope", "a guest without a scope may call no tool")
_EXPIRED = _denied("scope", "the guest's scope has expired")
_NO_CLOCK = _denied("scope", "the guest's scope expires, and the time is not known")
_OUTSIDE = _denied("scope", "the tool is outside the guest's scope")


def closed_to(caller: Caller, now: datetime | None) -> Reason | None:
    """Return why this caller may call no tool at all, None if some tool is left."""
    role = _role(caller)
    if role in ("", "anonymous"):
        return _ANONYMOUS
    if role != "guest":
        return None
    return _NO_SCOPE if caller.scope is None else _expiry(caller.scope, now)


def scope_of(caller: Caller) -> tuple[str, ...] | None:
    """Return the patterns of the tools that a guest may call, None for whoever is no guest."""
    return caller.scope.allowed_tools if _role(caller) == "guest" and caller.scope else None


def identity_reasons(
    caller: Caller, names: tuple[str, ...], now: datetime | None
) -> Iterator[Reason]:
    """Yield why this caller may not call a tool, if it may not; roles of your own are free.

    `names` are those the tool answers to; `now` is None where the time is not known.
    A role that only looks unlike `anonymous` or `guest` is no role of your own.
    """
    role = _role(caller)
    if role in ("", "anonymous"):
        yield _ANONYMOUS
    elif role == "guest":
        yield from _scope_reasons(caller.scope, names, now)


def is_bounded(caller: Caller) -> bool:
    """Tell whether a caller's role may add reasons to what the layers say."""
    return _role(caller) in ("", "anonymous", "guest")


def _role(caller: Caller) -> str:
    return role_of(caller.role)


def _scope_reasons(
    scope: GuestScope | None, names: tuple[str, ...], now: datetime | None
) -> Iterator[Reason]:
    if scope is None:
        yield _NO_SCOPE
        return
    over = _expiry(scope, now)
    if over is not None:
        yield over
    if not _in_scope(scope.allowed_tools, names):
        yield _OUTSIDE


def _expiry(scope: GuestScope, now: datetime | None) -> Reason | None:
    if scope.expires_at is None:
        return None
    if now is None:
        return _NO_CLOCK
    return _EXPIRED if now >= scope.expires_at else None


@lru_cache(maxsize=4096)
def _in_scope(allowed: tuple[str, ...], names: tuple[str, ...]) -> bool:
    return any(any(map(compile_name_glob(pattern), names)) for pattern in allowed)
