"""Whether a caller may call a tool, by its role and a guest's scope; checked after the layers.

These checks only restrict. A scope grants, so its patterns are read like those of an `allow`: a
wildcard covers the host application's own tools, and those of a server or extension that the
pattern names; `*` alone covers every tool.
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


_ANONYMOUS = _denied("identity", "the caller is anonymous")
_NO_SCOPE = _denied("scope", "a guest without a scope may call no tool")
_EXPIRED = _denied("scope", "the guest's scope has expired")
_NO_CLOCK = _denied("scope", "the guest's scope expires, and the current time is not available")
_OUTSIDE = _denied("scope", "the tool is outside the guest's scope")


def closed_to(caller: Caller, now: datetime | None) -> Reason | None:
    """Return why this caller may not call any tool, None if it may call some."""
    role = _role(caller)
    if role in ("", "anonymous"):
        return _ANONYMOUS
    if role != "guest":
        return None
    return _NO_SCOPE if caller.scope is None else _expiry(caller.scope, now)


def scope_of(caller: Caller) -> Callable[[ToolSpec], bool] | None:
    """Return the test for tools that a guest may call, None for a caller that is not a guest."""
    if _role(caller) != "guest" or caller.scope is None:
        return None
    tests = _tests(caller.scope.allowed_tools)
    return lambda spec: any(matches(spec) for matches in tests)


def identity_reasons(caller: Caller, spec: ToolSpec, now: datetime | None) -> Iterator[Reason]:
    """Yield why this caller may not call a tool; custom roles are not restricted.

    `now` is None where the time is not available. A role that differs from `anonymous` or `guest`
    only in how it is written is not a custom role.
    """
    role = _role(caller)
    if role in ("", "anonymous"):
        yield _ANONYMOUS
    elif role == "guest":
        yield from _scope_reasons(caller.scope, spec, now)


def is_bounded(caller: Caller) -> bool:
    """Return whether a caller's role may add reasons to those of the layers."""
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
    if not any(matches(spec) for matches in _tests(scope.allowed_tools)):
        yield _OUTSIDE


def _expiry(scope: GuestScope, now: datetime | None) -> Reason | None:
    if scope.expires_at is None:
        return None
    if now is None:
        return _NO_CLOCK
    return _EXPIRED if now >= scope.expires_at else None


@lru_cache(maxsize=4096)
def _tests(allowed: tuple[str, ...]) -> tuple[Callable[[ToolSpec], bool], ...]:
    """Return the tests of a scope's patterns; a malformed pattern covers nothing."""
    patterns = [ToolPattern(text=text) for text in allowed]
    return tuple(one.matcher(grants=True) for one in patterns if one.problem is None)
