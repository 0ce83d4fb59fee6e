"""Whether a caller may call a tool at all.

A tool known only by its name is treated as the one that wildcards cover least.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from typing import Literal, TypeAlias

from policy.catalog import Origin, ToolSpec
from policy.decision import described, identity_reasons
from policy.model import Caller, Reason
from policy.runtime import Clock, utc_now
from policy.service.judging.classification import Allow, Classification, Deny

# The identity of a caller, passed from the transport through every layer.
IdentityContext: TypeAlias = Caller
_EXTENSION = "ext__"


class PolicyEngine:
    """The check of identities: it comes last and only restricts.

    An owner may call any tool that is allowed otherwise, a guest those of its scope until that
    expires, an anonymous caller none. A service applies it to every call, with or without a policy
    store; a filter that allows the call does not override it.
    """

    def __init__(self, clock: Clock = utc_now) -> None:
        self._clock = clock
        self._lapsed = LapsedScopes()

    def check(self, caller: Caller, tool: ToolSpec | str) -> Classification:
        """Return Deny if one caller of the chain may not call the tool now, else Allow.

        A string is the name of a tool without versions; with `__` in it, that of a tool of a
        server or extension.
        """
        now = self._clock()
        reason = next(denials(self._lapsed.seen_on(caller, now), tool, now), None)
        return Allow() if reason is None else Deny(described(reason))


class LapsedScopes:
    """Scopes that have expired stay expired, even if the clock is set back."""

    def __init__(self) -> None:
        # The latest end of a scope that was seen to have expired.
        self._latest: datetime | None = None

    def seen_on(self, caller: Caller, now: datetime | None) -> Caller:
        """Return the caller with every scope in its chain expired that has expired before."""
        if now is None or (caller.scope is None and caller.parent is None):
            return caller
        ends = [end for one in caller.chain() if (end := _end_of(one)) is not None]
        past = [end for end in ends if end <= now]
        if past:
            self._latest = max(past if self._latest is None else (*past, self._latest))
        latest = self._latest
        if latest is None or not any(now < end <= latest for end in ends):
            return caller
        above: Caller | None = None
        for one in reversed(tuple(caller.chain())):
            scope, end = one.scope, _end_of(one)
            if scope is not None and end is not None and end <= latest:
                scope = replace(scope, expires_at=_LONG_AGO)
            above = replace(one, scope=scope, parent=above)
        return above or caller


_LONG_AGO = datetime.min.replace(tzinfo=UTC)


def _end_of(caller: Caller) -> datetime | None:
    return None if caller.scope is None else caller.scope.expires_at


def denials(caller: Caller, tool: ToolSpec | str, now: datetime | None) -> Iterator[Reason]:
    """Yield why a tool, or what has this name, may not be called, by each caller of the chain."""
    spec = _named(tool) if isinstance(tool, str) else tool
    for one in caller.chain():
        yield from identity_reasons(one, spec, now)


def _named(name: str) -> ToolSpec:
    """Return the tool that a name alone refers to."""
    is_extension = name.startswith(_EXTENSION)
    server, mark, tool = name.removeprefix(_EXTENSION).partition("__")
    if not is_extension and not mark:
        return ToolSpec(name=name, origin=Origin(tool=name))
    # `a___b` is of `a` or of `a_`: a pattern that names the longer one names both.
    if tool.startswith("_"):
        server, tool = f"{server}_", tool[1:]
    kind: Literal["ext", "mcp"] = "ext" if is_extension else "mcp"
    return ToolSpec(name=name, origin=Origin(kind=kind, server=server, tool=tool))
