"""A caller and a tool in; why that caller may not call it, after the layers and only taking, out.

A scope gives, so its patterns read as those of an `allow` do: a wildcard reaches only the host's
own tools and those of a server or extension that it spells out, and `*` alone is everything.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime
from functools import lru_cache

from policy.catalog import ToolPattern, ToolSpec
from policy.model import Caller, GuestScope, Reason, Verdict
from policy.values import role_of


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


def scope_of(caller: Caller) -> Callable[[ToolSpec], bool] | None:
    """Return the test of the tools that a guest may call, None for whoever is no guest."""
    if _role(caller) != "guest" or caller.scope is None:
        return None
    tests = _tests(caller.scope.allowed_tools)
    return lambda spec: any(fits(spec) for fits in tests)


def identity_reasons(caller: Caller, spec: ToolSpec, now: datetime | None) -> Iterator[Reason]:
    """Yield why this caller may not call a tool, if it may not; roles of your own are free.

    `now` is None where the time is not known. A role that only looks unlike `anonymous` or
    `guest` is no role of your own.
    """
    role = _role(caller)
    if role in ("", "anonymous"):
        yield _ANONYMOUS
    elif role == "guest":
        yield from _scope_reasons(caller.scope, spec, now)


def is_bounded(caller: Caller) -> bool:
    """Tell whether a caller's role may add reasons to what the layers say."""
    return _role(caller) in ("", "anonymous", "guest")


def _role(caller: Caller) -> str:
    return role_of(caller.role)


def _scope_reasons(
    scope: GuestScope | None, spec: ToolSpec, now: datetime | None
) -> Iterator[Reason]:
    if scope is None:
        yield _NO_SCOPE
        return
    over = _expiry(scope, now)
    if over is not None:
        yield over
    if not any(fits(spec) for fits in _tests(scope.allowed_tools)):
        yield _OUTSIDE


def _expiry(scope: GuestScope, now: datetime | None) -> Reason | None:
    if scope.expires_at is None:
        return None
    if now is None:
        return _NO_CLOCK
    return _EXPIRED if now >= scope.expires_at else None


@lru_cache(maxsize=4096)
def _tests(allowed: tuple[str, ...]) -> tuple[Callable[[ToolSpec], bool], ...]:
    """Return the tests of a scope's patterns; what is no pattern fits nothing."""
    patterns = [ToolPattern(text=text) for text in allowed]
    return tuple(one.matcher(gives=True) for one in patterns if one.problem is None)
