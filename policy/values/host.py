"""Endpoints: a URL or a bare `host[:port][/path]` in, scheme, host, port and path out.

The host is read as browsers read it, and again by a strict reading of our own; where the two or
another common reading would name another host, the text is Unreadable.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from ipaddress import IPv4Address, IPv6Address
from urllib.parse import urlsplit

import ada_url

from policy.values.address import Address, read_address
from policy.values.reading import Unreadable
from policy.values.text import is_encodable, is_ordinary, quote

# The schemes that name a host, with the port they mean.
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
_LONGEST = 65_536
# What is read again in one decision is remembered, if it is not large.
_SHORT = 2_048
_LONGEST_HOST = 1_000
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://")
_UNCLEAR = re.compile(r"[\x00-\x20\x7f-\xa0\\]|\s")
_USER = re.compile(r"[A-Za-z0-9._~-]*(:[A-Za-z0-9._~!$&'()*+,;=-]*)?")
_NO_HOST = re.compile(r"[%:/?#@\[\]<>^|]")
_LABEL = re.compile(r"[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?")
_LEADING_ZERO = re.compile(r"(^|\.)0[0-9]")
_ENCODED = re.compile(r"%([0-9A-Fa-f]{2})")
_UNCLEAR_PATH = re.compile(
    r"%(2[EeFf]|5[Cc]|25|[01][0-9A-Fa-f]|7[Ff])|%(?![0-9A-Fa-f]{2})|\.\.;|/\.;"
)
_PLAIN = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """What a call connects to.

    `host` is lower case, in A-labels and without a trailing dot, or the plain spelling of
    `address`. `path` begins with `/`; None where servers read it differently.
    """

    scheme: str
    host: str
    port: int
    path: str | None
    address: IPv4Address | IPv6Address | None = None


def read_endpoint(text: str) -> Endpoint | Unreadable:
    """Read a URL, or a bare `host[:port][/path]` as https."""
    return _remembered(text) if len(text) <= _SHORT else _read_endpoint(text)


@lru_cache(maxsize=1024)
def _remembered(text: str) -> Endpoint | Unreadable:
    return _read_endpoint(text)


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
    # Some readers look for the user before they look for the query or fragment.
    if tail[:1] in ("?", "#") and "@" in tail.partition("/")[0]:
        return Unreadable(reason=f"an `@` that readers take differently: {quote(text)}")
    if "@" in authority:
        user, _, authority = authority.partition("@")
        if not found or not _USER.fullmatch(user) or "@" in authority:
            return Unreadable(reason=f"an `@` that readers take differently: {quote(text)}")
    parts = _split_port(authority, DEFAULT_PORTS[scheme])
    if parts is None:
        return Unreadable(reason=f"no host and port can be made out in {quote(text)}")
    host, port = parts
    settled = _read_host(host)
    if isinstance(settled, Unreadable):
        return settled
    name, address = settled
    if _other_reading(scheme, rest, name=name, host=host):
        return Unreadable(reason=f"readers disagree about the host of {quote(text)}")
    path = canonical_path(re.split("[?#]", tail, maxsplit=1)[0])
    return Endpoint(scheme=scheme, host=name, port=port, path=path, address=address)


def canonical_name(text: str) -> str | Unreadable:
    """Return a host name in lower case, in A-labels, without a trailing dot."""
    settled = _read_host(text)
    if isinstance(settled, Unreadable):
        return settled
    name, address = settled
    if address is not None:
        return Unreadable(reason=f"an address where a name is needed: {quote(text)}")
    return name


def canonical_path(text: str) -> str | None:
    """Return a URL's path with dots settled and needless encoding undone; None if unclear."""
    if _UNCLEAR_PATH.search(text):
        return None
    try:
        settled = ada_url.URL("https://host" + (text or "/")).pathname
    except (ValueError, UnicodeError):
        return None
    return _ENCODED.sub(_undo, settled)


def _undo(found: re.Match[str]) -> str:
    char = chr(int(found[1], 16))
    return char if char in _PLAIN else found[0].upper()


def _problem(text: str) -> str | None:
    if not text:
        return "an empty address"
    if len(text) > _LONGEST:
        return "a URL that is too long"
    if not is_encodable(text):
        return "a URL that is no valid Unicode"
    if _UNCLEAR.search(text):
        return f"white space, control characters or a backslash in a URL: {quote(text)}"
    if not is_ordinary(text):
        return f"invisible characters in a URL: {quote(text)}"
    return None


def _split_port(authority: str, default: int) -> tuple[str, int] | None:
    if authority.startswith("["):
        host, bracket, port = authority.partition("]")
        host, port = host + bracket, port
        if not bracket or (port and not port.startswith(":")):
            return None
        port = port[1:] if port else ""
        colon = len(authority) > len(host)
    else:
        host, separator, port = authority.partition(":")
        colon = bool(separator)
    if not colon:
        return (host, default) if host else None
    if not host or not port.isascii() or not port.isdigit() or len(port) > 5:
        return None
    number = int(port)
    return (host, number) if 0 < number < 65_536 else None


def _read_host(text: str) -> tuple[str, Address | None] | Unreadable:
    if not 0 < len(text) <= _LONGEST_HOST:
        return Unreadable(reason=f"not a host: {quote(text)}")
    return _read_short_host(text)


@lru_cache(maxsize=4096)
def _read_short_host(text: str) -> tuple[str, Address | None] | Unreadable:
    if text.startswith("["):
        address = read_address(text[1:-1]) if text.endswith("]") and ":" in text else None
        if address is None:
            return Unreadable(reason=f"not an IPv6 address: {quote(text)}")
        return str(address), address
    if _NO_HOST.search(text) or _UNCLEAR.search(text):
        return Unreadable(reason=f"not a host: {quote(text)}")
    try:
        read = ada_url.URL(f"https://{text}/")
    except (ValueError, UnicodeError):
        return Unreadable(reason=f"not a host: {quote(text)}")
    if read.username or read.password or read.port or read.pathname != "/":
        return Unreadable(reason=f"not a host: {quote(text)}")
    name = read.hostname.removesuffix(".")
    if read.host_type == ada_url.HostType.IPV4:
        spelled = text if text.isascii() else _older_reading(text)
        if spelled is None or _LEADING_ZERO.search(spelled):
            return Unreadable(reason=f"octal or decimal, readers disagree: {quote(text)}")
        address = read_address(name)
        if address is None:
            return Unreadable(reason=f"not an address: {quote(text)}")
        return str(address), address
    labels = name.split(".")
    if len(name) > 253 or not all(_is_label(label) for label in labels):
        return Unreadable(reason=f"not a host name: {quote(text)}")
    if text.isascii():
        same = text.lower().removesuffix(".") == name
    else:
        same = _older_reading(text) == name
    if not same:
        return Unreadable(reason=f"readers disagree about the host {quote(text)}")
    return name, None


def _is_label(label: str) -> bool:
    if not _LABEL.fullmatch(label):
        return False
    if not label.startswith("xn--"):
        return label[2:4] != "--"
    try:
        international = label[4:].encode().decode("punycode")
        return bool(ada_url.URL(f"https://{international}.example").hostname == f"{label}.example")
    except (UnicodeError, ValueError):
        return False


def _older_reading(text: str) -> str | None:
    """Read an international name as IDNA 2003 does, which many libraries still follow."""
    try:
        return text.encode("idna").decode().lower().removesuffix(".")
    except UnicodeError:
        return None


def _other_reading(scheme: str, rest: str, *, name: str, host: str) -> bool:
    """Tell whether Python's own URL reader, or a browser's on the whole, names another host."""
    whole = "https://" + rest
    try:
        theirs = urlsplit(whole).hostname or ""
        browser = ada_url.URL(whole)
    except (ValueError, UnicodeError):
        return True
    if theirs.removesuffix(".") not in (name, host.strip("[]").lower().removesuffix(".")):
        return True
    settled = _read_host(browser.hostname)
    return isinstance(settled, Unreadable) or settled[0] != name
