"""The caller's identity, after the layers and only taking: anonymous, guests and their scope."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from policy.call import Caller, GuestScope
from policy.catalog import ToolSpec
from policy.facts import Facts
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


def identity_reasons(caller: Caller, spec: ToolSpec, facts: Facts) -> Iterator[Reason]:
    """Yield why this caller may not call the tool, if it may not; roles of your own are free.

    A role that only looks unlike `anonymous` or `guest` is no role of your own.
    """
    role = plain(caller.role).strip().casefold()
    if role in ("", "anonymous"):
        yield _ANONYMOUS
    elif role == "guest":
        yield from _scope_reasons(caller.scope, spec, facts)


def _scope_reasons(scope: GuestScope | None, spec: ToolSpec, facts: Facts) -> Iterator[Reason]:
    if scope is None:
        yield _NO_SCOPE
        return
    if scope.expires_at is not None:
        if facts.now is None:
            yield _NO_CLOCK
        elif facts.now >= scope.expires_at:
            yield _EXPIRED
    if not _in_scope(scope.allowed_tools, spec.name):
        yield _OUTSIDE


@lru_cache(maxsize=4096)
def _in_scope(allowed: tuple[str, ...], name: str) -> bool:
    return any(compile_name_glob(pattern)(name) for pattern in allowed)
