"""Functions of the rule language on URLs: their parts, and the same URL with another scheme."""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType

from policy.model import Frozen
from policy.values.hosts.endpoint import DEFAULT_PORTS, read_endpoint
from policy.values.text import quote
from policy.values.unreadable import Unreadable

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://")
_SCHEME_NAME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*")


def url_parts(text: str) -> Mapping[str, Frozen] | Unreadable:
    """Return `scheme`, `host`, `port`, `path`, `query` and `fragment` of a complete URL.

    Query and fragment are as spelled, and None if absent.
    """
    if not _SCHEME.match(text):
        return Unreadable(reason=f"not a complete URL: {quote(text)}")
    endpoint = read_endpoint(text)
    if isinstance(endpoint, Unreadable):
        return endpoint
    if endpoint.path is None:
        return Unreadable(reason=f"a path that servers interpret differently: {quote(text)}")
    before, mark, fragment = text.partition("#")
    _, question, query = before.partition("?")
    return MappingProxyType(
        {
            "scheme": endpoint.scheme,
            "host": endpoint.host,
            "port": endpoint.port,
            "path": endpoint.path,
            "query": query if question else None,
            "fragment": fragment if mark else None,
        }
    )


def with_scheme(text: str, scheme: str) -> str | Unreadable:
    """Return the URL with another scheme, without a port that was the old scheme's default."""
    found = _SCHEME.match(text)
    endpoint = read_endpoint(text)
    if found is None:
        return Unreadable(reason=f"not a complete URL: {quote(text)}")
    if isinstance(endpoint, Unreadable):
        return endpoint
    if not _SCHEME_NAME.fullmatch(scheme) or scheme.lower() not in DEFAULT_PORTS:
        return Unreadable(reason=f"not a scheme that names a host: {quote(scheme)}")
    rest = text[found.end() :]
    if scheme.lower() != endpoint.scheme:
        stop = next((i for i, char in enumerate(rest) if char in "/?#"), len(rest))
        implied = f":{DEFAULT_PORTS[endpoint.scheme]}"
        rest = rest[:stop].removesuffix(implied) + rest[stop:]
    return f"{scheme.lower()}://{rest}"
