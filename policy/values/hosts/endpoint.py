"""Parses a URL or a bare `host[:port][/path]` into an endpoint: scheme, host, port and path.

The text is parsed as browsers do, and again by a strict parser; where the two or another common
parser would find another host, the text is Unreadable.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from ipaddress import IPv4Address, IPv6Address
from urllib.parse import urlsplit

import ada_url

from policy.values.hosts.address import read_address
from policy.values.hosts.host_name import read_host
from policy.values.hosts.url_path import canonical_path
from policy.values.text import is_encodable, is_ordinary, quote
from policy.values.unreadable import Unreadable

# The schemes that name a host, with their default ports.
DEFAULT_PORTS = {
    "http": 80,
    "https": 443,
    "ws": 80,
    "wss": 443,
    "ftp": 21,
    "ftps": 990,
    "sftp": 22,
    "ssh": 22,
    "git": 9418,
    "ldap": 389,
    "ldaps": 636,
    "smtp": 25,
    "smtps": 465,
    "imap": 143,
    "imaps": 993,
    "mysql": 3306,
    "postgres": 5432,
    "postgresql": 5432,
    "redis": 6379,
    "rediss": 6379,
    "mongodb": 27017,
    "amqp": 5672,
    "amqps": 5671,
}
# Browsers read `http:80` as a scheme and a host, with or without slashes between them.
_NEED_NO_SLASHES = frozenset({"http", "https", "ws", "wss", "ftp", "file"})
_LONGEST = 65_536
# Short texts are cached: one decision parses the same ones several times.
_SHORT = 2_048
# Most URLs: all parsers agree on these. The last label of a name begins with a letter, so it is not
# an address; there are no two hyphens in a row, so it has no A-label.
_LABEL = "[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
_ORDINARY = re.compile(
    r"(?:([A-Za-z][A-Za-z0-9+.-]*)://)?"
    rf"((?:{_LABEL}\.)*(?=[A-Za-z]){_LABEL}|(?:[0-9]{{1,3}}\.){{3}}[0-9]{{1,3}})"
    r"(?::([1-9][0-9]{0,4}))?"
    r"(?:(/[A-Za-z0-9._~!$&'()*+,;=:@%/-]*)(?:[?#][!-\[\]-~]*)?)?",
    re.ASCII,
)
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://")
_UNCLEAR = re.compile(r"[\x00-\x20\x7f-\xa0\\]|\s")
_USER = re.compile(r"[A-Za-z0-9._~-]*(:[A-Za-z0-9._~!$&'()*+,;=-]*)?")
_PORT = re.compile(r"[0-9]{0,5}", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """The network endpoint that a call connects to.

    `host` is in lower case, in A-labels and without a trailing dot, or the canonical form of
    `address`. `path` begins with `/`; None where servers interpret it differently.
    """

    scheme: str
    host: str
    port: int
    path: str | None
    address: IPv4Address | IPv6Address | None = None


def read_endpoint(text: str) -> Endpoint | Unreadable:
    """Parse a URL, or a bare `host[:port][/path]` as https."""
    return _remembered(text) if len(text) <= _SHORT else _read_endpoint(text)


@lru_cache(maxsize=1024)
def _remembered(text: str) -> Endpoint | Unreadable:
    return _read_ordinary(text) or _read_endpoint(text)


def _read_ordinary(text: str) -> Endpoint | None:
    """Parse a URL without ambiguous parts; None for any other."""
    found = _ORDINARY.fullmatch(text)
    if found is None:
        return None
    spelled, host, digits, path = found.groups()
    scheme = spelled.lower() if spelled else "https"
    usual = DEFAULT_PORTS.get(scheme)
    port = int(digits) if digits else usual
    if usual is None or port is None or port > 65_535 or len(host) > 253 or "--" in host:
        return None
    host = host.lower()
    if spelled is None and host in _NEED_NO_SLASHES:
        return None
    address = None
    if host[-1].isdigit() and host.replace(".", "").isdigit():
        address = read_address(host)
        if address is None:
            return None
    settled: str | None = path or "/"
    if path and ("/." in path or "%" in path or ";" in path):
        settled = canonical_path(path)
    return Endpoint(scheme=scheme, host=host, port=port, path=settled, address=address)


def _read_endpoint(text: str) -> Endpoint | Unreadable:
    problem = _problem(text)
    if problem is not None:
        return Unreadable(reason=problem)
    found = _SCHEME.match(text)
    scheme = found[1].lower() if found else "https"
    if scheme not in DEFAULT_PORTS:
        return Unreadable(reason=f"not a scheme that names a host: {quote(scheme)}")
    rest = text[found.end() :] if found else text
    stop = min((place for mark in "/?#" if (place := rest.find(mark)) >= 0), default=len(rest))
    authority, tail = rest[:stop], rest[stop:]
    # Some parsers look for the user before they look for the query or fragment.
    if tail[:1] in ("?", "#") and "@" in tail.partition("/")[0]:
        return Unreadable(reason=f"an `@` that URL parsers interpret differently: {quote(text)}")
    if "@" in authority:
        user, _, authority = authority.partition("@")
        if not found or not _USER.fullmatch(user) or "@" in authority:
            return Unreadable(
                reason=f"an `@` that URL parsers interpret differently: {quote(text)}"
            )
    parts = _split_port(authority, DEFAULT_PORTS[scheme] if found else None)
    if parts is None:
        return Unreadable(reason=f"no host and port found in {quote(text)}")
    host, port = parts
    settled = read_host(host)
    if isinstance(settled, Unreadable):
        return settled
    name, address = settled
    if not found and name in _NEED_NO_SLASHES:
        return Unreadable(reason=f"a scheme without its two slashes: {quote(text)}")
    if _other_reading(rest, name=name, host=host):
        return Unreadable(reason=f"URL parsers disagree about the host of {quote(text)}")
    path = canonical_path(re.split("[?#]", tail, maxsplit=1)[0])
    return Endpoint(scheme=scheme, host=name, port=port, path=path, address=address)


def _problem(text: str) -> str | None:
    if not text:
        return "an empty address"
    if len(text) > _LONGEST:
        return "a URL that is too long"
    if not is_encodable(text):
        return "a URL that is not valid Unicode"
    if _UNCLEAR.search(text):
        return f"white space, control characters or a backslash in a URL: {quote(text)}"
    if not is_ordinary(text):
        return f"invisible characters in a URL: {quote(text)}"
    return None


def _split_port(authority: str, usual: int | None) -> tuple[str, int] | None:
    """Split `host[:port]`; `usual` is the scheme's port, None for a bare host, read as https."""
    bracket = authority.rfind("]") if authority.startswith("[") else 0
    if bracket < 0:
        return None
    colon = authority.find(":", bracket)
    host, digits = (authority, None) if colon < 0 else (authority[:colon], authority[colon + 1 :])
    if not host:
        return None
    if not digits:
        # A colon without a port means the scheme's port, but only after a scheme.
        return None if digits is not None and usual is None else (host, usual or 443)
    if not _PORT.fullmatch(digits):
        return None
    number = int(digits)
    return (host, number) if 0 < number < 65_536 else None


def _other_reading(rest: str, *, name: str, host: str) -> bool:
    """Return whether Python's URL parser, or a browser on the whole text, finds another host."""
    whole = "https://" + rest
    try:
        theirs = urlsplit(whole).hostname or ""
        browser = ada_url.URL(whole)
    except (ValueError, UnicodeError):
        return True
    if theirs.removesuffix(".") not in (name, host.strip("[]").lower().removesuffix(".")):
        return True
    settled = read_host(browser.hostname)
    return isinstance(settled, Unreadable) or settled[0] != name
