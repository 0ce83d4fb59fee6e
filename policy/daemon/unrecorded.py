"""Judges a hook call in this process, to explain it, without a daemon and without a record."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from policy.daemon.decider import HookOutcome
    from policy.daemon.records import Arrived


def judged_unrecorded(message: dict[str, Any]) -> tuple[Arrived, HookOutcome] | None:
    """Return a hook call as received, and its outcome by the policy as its files are now.

    None if the policy has errors, so that no call is decided by it.
    """
    import asyncio

    from policy.daemon.context import HookContext
    from policy.daemon.decider import Decider
    from policy.daemon.request import Request

    request = Request.of(message)
    decider = Decider(HookContext.of(request))
    return None if decider.store.current is None else asyncio.run(decider.judged(request))
