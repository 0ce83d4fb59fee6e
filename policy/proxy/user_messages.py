"""What the user of a client wrote, as the client tells it beside a call."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

from policy.service import GovernedService, SessionLogUnusable

# The key of a request's `_meta`: everything that the user wrote in the session, in order.
SAID = "placet/said"
_LOG = logging.getLogger(__name__)
_NOT_TRUSTED = (
    "the client is not trusted to tell what the user wrote: "
    "`[serve] said` or `[serve.clients.NAME] said` is not set"
)


def hear_client(service: GovernedService, params: Any, *, trusted: bool) -> None:
    """Note what the client tells beside a call; nothing of it stops the call.

    A client that is not trusted says nothing, and later reasons say so.
    """
    meta = getattr(params, "meta", None)
    if not isinstance(meta, Mapping) or SAID not in meta:
        return
    hearing, caller = service.hearing, service.caller
    if not trusted:
        hearing.disregard(caller, _NOT_TRUSTED)
        return
    told = meta[SAID]
    whole = isinstance(told, list) and all(isinstance(text, str) for text in told)
    try:
        hearing.hear_all(caller, tuple(told) if whole else None)
    except SessionLogUnusable as error:
        _LOG.warning("what the user of a client wrote is not noted: %s", error)
