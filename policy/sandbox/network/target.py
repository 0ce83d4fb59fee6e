"""`Target`: what a program inside of a sandbox wants to connect to."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, TypeAlias

from policy.values import Unreadable, quote, read_endpoint

Scheme: TypeAlias = Literal["http", "https"]
_PORTS: dict[Scheme, int] = {"http": 80, "https": 443}
# What clients send as the name of a server. A URL has parts before and after it that such a name
# does not have, and servers read these differently.
_NAME = r"(?:[A-Za-z0-9_-]+\.)*[A-Za-z0-9_-]+\.?"
_AUTHORITY = re.compile(rf"(?:\[[0-9A-Fa-f:.]+\]|{_NAME})(?::[0-9]{{1,5}})?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """A host and its port; `https` stands for everything that is encrypted.

    `host` is in the form in which rules compare it, `address` whether it is an IP address.
    """

    scheme: Scheme
    host: str
    port: int
    address: bool = False

    @property
    def text(self) -> str:
        """The host and the port, for people."""
        return f"{_bracketed(self.host)}:{self.port}"

    @property
    def url(self) -> str:
        """The URL of the host, with its scheme and port."""
        return f"{self.scheme}://{self.text}"

    @property
    def authority(self) -> str:
        """The host as requests name it, with its port unless that is the scheme's default."""
        return _bracketed(self.host) if self.port == _PORTS[self.scheme] else self.text

    def names(self, host: str) -> bool:
        """Return whether a name, with or without a port, is that of this host, and nothing more."""
        if not _AUTHORITY.fullmatch(host):
            return False
        found = read_target(f"{self.scheme}://{host}")
        return isinstance(found, Target) and (found.host, found.port) == (self.host, self.port)


def read_target(url: str) -> Target | Unreadable:
    """Read the host of an `http` or `https` URL as rules do."""
    endpoint = read_endpoint(url)
    if isinstance(endpoint, Unreadable):
        return endpoint
    if endpoint.scheme not in ("http", "https"):
        return Unreadable(reason="only http and https URLs are proxied")
    return Target(
        scheme="http" if endpoint.scheme == "http" else "https",
        host=endpoint.host,
        port=endpoint.port,
        address=endpoint.address is not None,
    )


def tunnel_target(host: str, port: int) -> Target | Unreadable:
    """Return the target of a tunnel, of which only the port says what will pass through it."""
    scheme = "http" if port == _PORTS["http"] else "https"
    authority = f"{_bracketed(host)}:{port}"
    if not _AUTHORITY.fullmatch(authority):
        return Unreadable(reason=f"not the name of a host: {quote(host)}")
    return read_target(f"{scheme}://{authority}")


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host and not host.startswith("[") else host
