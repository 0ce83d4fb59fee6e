"""The caller's identity, after the layers and only taking: anonymous, guests and their scope."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from functools import lru_cache

from policy.call import Caller, GuestScope
from policy.reason import Reason
from policy.values import compile_name_glob, plain
from policy.verdict import Verdict


def _denied(rule: str, message: str) -> Reason:
    return Reason(rule=rule, verdict=Verdict.DENY, message=message)


_ANONYMOUS = _denied("identity", "nobody is known to be calling")
_NO_SCOPE = _denied("scope", "a guest without a scope may call no tool")
_EXPIRED = _denied("scope", "the guest's scope has expired")
_NO_CLOCK = _denied("scope", "the guest's scope expires, and the time is not known")
_OUTSIDE = _denied("scope", "the tool is outside the guest's scope")


def identity_reasons(
    caller: Caller, names: tuple[str, ...], now: datetime | None
) -> Iterator[Reason]:
    """Yield why this caller may not call a tool, if it may not; roles of your own are free.

    `names` are those the tool answers to; `now` is None where the time is not known.
    A role that only looks unlike `anonymous` or `guest` is no role of your own.
    """
    role = plain(caller.role).strip().casefold()
    if role in ("", "anonymous"):
        yield _ANONYMOUS
    elif role == "guest":
        yield from _scope_reasons(caller.scope, names, now)


def _scope_reasons(
    scope: GuestScope | None, names: tuple[str, ...], now: datetime | None
) -> Iterator[Reason]:
    if scope is None:
        yield _NO_SCOPE
        return
    if scope.expires_at is not None:
        if now is None:
            yield _NO_CLOCK
        elif now >= scope.expires_at:
            yield _EXPIRED
    if not _in_scope(scope.allowed_tools, names):
        yield _OUTSIDE


@lru_cache(maxsize=4096)
def _in_scope(allowed: tuple[str, ...], names: tuple[str, ...]) -> bool:
    return any(any(map(compile_name_glob(pattern), names)) for pattern in allowed)
