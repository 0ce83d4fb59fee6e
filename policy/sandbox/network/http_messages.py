"""The parts of HTTP messages that a proxy changes: where a request goes, and headers of one hop."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

from policy.sandbox.network.target import Target, read_target
from policy.values import Unreadable, quote

Headers: TypeAlias = list[tuple[bytes, bytes]]
# They concern one connection only, or the proxy itself. What frames a body is passed on.
_ONE_HOP = frozenset(
    {
        b"connection",
        b"keep-alive",
        b"proxy-authenticate",
        b"proxy-authorization",
        b"proxy-connection",
        b"te",
        b"trailer",
        b"upgrade",
    }
)
_FRAMING = frozenset({b"content-length", b"transfer-encoding", b"host"})
_SHOWN = 80  # characters


class BadRequest(Exception):
    """A request that is not passed on; the text says why."""


def end_to_end(headers: Iterable[tuple[bytes, bytes]]) -> Headers:
    """Return the headers that are passed on."""
    kept = list(headers)
    listed = b",".join(value for name, value in kept if name == b"connection")
    named = {each.strip().lower() for each in listed.split(b",")} - _FRAMING
    return [(name, value) for name, value in kept if name not in _ONE_HOP | named]


def absolute_target(target: bytes) -> tuple[Target, bytes]:
    """Read the URL of a request to a proxy: its host, and the rest for the server."""
    text = target.decode("latin-1")
    found = read_target(text)
    if isinstance(found, Unreadable):
        raise BadRequest(f"it is not a URL that can be proxied: {quote(text[:_SHOWN])}")
    if found.scheme != "http" or not text.lower().startswith("http://"):
        raise BadRequest("a proxy takes `http://` URLs, and CONNECT for all others")
    rest = text[len("http://") :]
    start = min((at for mark in "/?#" if (at := rest.find(mark)) >= 0), default=len(rest))
    path = rest[start:].partition("#")[0]
    return found, (path if path.startswith("/") else f"/{path}").encode("latin-1")


def require_agreement(headers: Iterable[tuple[bytes, bytes]], target: Target) -> None:
    """Raise BadRequest for a request to another host, or one that servers read in two ways."""
    given = list(headers)
    if {b"content-length", b"transfer-encoding"} <= {name for name, _ in given}:
        raise BadRequest("it has two lengths")
    for name, value in given:
        if name == b"host" and not target.names(value.decode("latin-1")):
            said = quote(value.decode("latin-1")[:_SHOWN])
            raise BadRequest(f"its `Host` is {said}, but it is sent to {target.text}")


def with_host(headers: Headers, target: Target) -> Headers:
    """Return headers that name the host once, as the first of them."""
    rest = [(name, value) for name, value in headers if name != b"host"]
    return [(b"host", target.authority.encode()), *rest]


def authority_of(target: bytes) -> tuple[str, int]:
    """Read the host and port of a CONNECT request."""
    host, colon, port = target.decode("latin-1").rpartition(":")
    if not colon or not (port.isascii() and port.isdigit()) or len(port) > 5:
        raise BadRequest("CONNECT takes a host and a port")
    return host, int(port)
