"""What the user of a client wrote, as the client tells it beside a call."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

from policy.service import GovernedService, SessionLogUnusable

# The key of a request's `_meta`: everything that the user wrote in the session, in order.
SAID = "placet/said"
_LOG = logging.getLogger(__name__)


def hear_client(service: GovernedService, params: Any, *, disregarded: str | None) -> None:
    """Note what the client tells beside a call; nothing of it stops the call.

    What is `disregarded`, for a reason, is not noted, and later explanations give the reason.
    """
    meta = getattr(params, "meta", None)
    if not isinstance(meta, Mapping) or SAID not in meta:
        return
    hearing, caller = service.hearing, service.caller
    if disregarded is not None:
        hearing.disregard(caller, disregarded)
        return
    told = meta[SAID]
    whole = isinstance(told, list) and all(isinstance(text, str) for text in told)
    try:
        hearing.hear_all(caller, tuple(told) if whole else None)
    except SessionLogUnusable as error:
        _LOG.warning("what the user of a client wrote is not noted: %s", error)
