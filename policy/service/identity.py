"""A caller and a tool in; whether that caller may call it at all, as a `Classification`, out."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import TypeAlias

from policy.call import Caller
from policy.catalog import ToolSpec
from policy.decision import Reason, identity_reasons
from policy.service.classification import Allow, Classification, Deny
from policy.service.reasons import described
from policy.service.world import Clock, utc_now

# Who calls, as it goes from the transport through every layer.
IdentityContext: TypeAlias = Caller


class PolicyEngine:
    """The check of identities: after everything else, and only taking.

    An owner may call any tool that is allowed otherwise, a guest those of its scope until that
    expires, an anonymous caller none. A service asks this of every call, with a policy store and
    without; a filter that allows the call changes nothing about it.
    """

    def __init__(self, clock: Clock = utc_now) -> None:
        self._clock = clock

    def check(self, caller: Caller, tool: ToolSpec | str) -> Classification:
        """Return Deny where one caller of the chain may not call the tool now, else Allow.

        A text is the name of a tool without versions.
        """
        names = (tool,) if isinstance(tool, str) else tool.names
        reason = next(denials(caller, names, self._clock()), None)
        return Allow() if reason is None else Deny(described(reason))


def denials(caller: Caller, names: tuple[str, ...], now: datetime | None) -> Iterator[Reason]:
    """Yield why a tool of these names may not be called, by each caller of the chain."""
    for one in caller.chain():
        yield from identity_reasons(one, names, now)
