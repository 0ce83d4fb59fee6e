"""The call that follows a redirect."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import ada_url

from policy.diagnostics import visible
from policy.tools.service import FollowUp

_STATUSES = frozenset({301, 302, 303, 307, 308})
# After these statuses the next request is a GET; others repeat the request as it was.
_TO_GET = frozenset({301, 302, 303})
_READING = frozenset({"GET", "HEAD"})
# Headers that another origin may receive. Any other may be meant for the first origin alone, as
# credentials are.
_FOR_ANYBODY = frozenset(
    {"accept", "accept-encoding", "accept-language", "cache-control", "pragma", "user-agent"}
)


def next_call(
    input: Mapping[str, Any], url: str, *, status: int, location: str | None
) -> FollowUp | None:
    """Return the call that a redirect leads to, None for any other answer.

    A redirect without a valid URL is an answer like any other.
    """
    if status not in _STATUSES or location is None:
        return None
    try:
        here, there = ada_url.URL(url), ada_url.URL(location, base=url)
    except (ValueError, UnicodeError):
        return None
    there.hash = ""
    following: dict[str, Any] = {"url": there.href}
    method = input.get("method")
    to_get = status in _TO_GET and (method or "GET") not in _READING
    if method is not None and not to_get:
        following["method"] = method
    headers = {
        name: value
        for name, value in (input.get("headers") or {}).items()
        if _goes_along(name.strip().lower(), same=here.origin == there.origin, to_get=to_get)
    }
    if headers:
        following["headers"] = headers
    return FollowUp(input=following, because=f"redirected to `{visible(there.origin, 200)}/`")


def _goes_along(name: str, *, same: bool, to_get: bool) -> bool:
    if to_get and name.startswith("content-"):
        return False
    return same or name in _FOR_ANYBODY
