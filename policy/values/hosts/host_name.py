"""Parses the host of a URL into its canonical form: a name in A-labels, or an address.

The host is parsed as browsers do; a text for which another common parser would find another host is
Unreadable.
"""

from __future__ import annotations

import re
from functools import lru_cache

import ada_url

from policy.values.hosts.address import Address, read_address
from policy.values.text import is_ordinary, quote
from policy.values.unreadable import Unreadable

_LONGEST_HOST = 1_000
# Never part of a host; most of these characters end the host for some parser.
_NO_HOST = re.compile(r"[%:/?#@\[\]<>^|\\\x00-\x20\x7f-\xa0]|\s")
_LABEL = re.compile(r"[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?")
_LEADING_ZERO = re.compile(r"(^|\.)0[0-9]")


def read_host(text: str) -> tuple[str, Address | None] | Unreadable:
    """Parse a host, IPv6 in brackets; return its canonical form, and its address if it is one."""
    if not 0 < len(text) <= _LONGEST_HOST or not is_ordinary(text):
        return Unreadable(reason=f"not a host: {quote(text)}")
    return _read_short_host(text)


def canonical_name(text: str) -> str | Unreadable:
    """Return a host name in lower case, in A-labels, without a trailing dot."""
    settled = read_host(text)
    if isinstance(settled, Unreadable):
        return settled
    name, address = settled
    if address is not None:
        return Unreadable(reason=f"an address where a name is needed: {quote(text)}")
    return name


@lru_cache(maxsize=4096)
def _read_short_host(text: str) -> tuple[str, Address | None] | Unreadable:
    if text.startswith("["):
        address = read_address(text[1:-1]) if text.endswith("]") and ":" in text else None
        if address is None:
            return Unreadable(reason=f"not an IPv6 address: {quote(text)}")
        return str(address), address
    read = None if _NO_HOST.search(text) else _as_browsers_do(text)
    if read is None:
        return Unreadable(reason=f"not a host: {quote(text)}")
    name = read.hostname.removesuffix(".")
    if read.host_type == ada_url.HostType.IPV4:
        return _read_number(text, name)
    if len(name) > 253 or not all(_is_label(label) for label in name.split(".")):
        return Unreadable(reason=f"not a host name: {quote(text)}")
    other = text.lower().removesuffix(".") if text.isascii() else _older_reading(text)
    if other != name:
        return Unreadable(reason=f"URL parsers disagree about the host {quote(text)}")
    return name, None


def _as_browsers_do(host: str) -> ada_url.URL | None:
    try:
        read = ada_url.URL(f"https://{host}/")
    except (ValueError, UnicodeError):
        return None
    whole = not (read.username or read.password or read.port) and read.pathname == "/"
    return read if whole else None


def _read_number(text: str, name: str) -> tuple[str, Address | None] | Unreadable:
    """Parse an IPv4 address in any spelling except with leading zeros in a decimal part."""
    spelled = text if text.isascii() else _older_reading(text)
    if spelled is None or _LEADING_ZERO.search(spelled):
        return Unreadable(reason=f"an address that may be octal or decimal: {quote(text)}")
    address = read_address(name)
    if address is None:
        return Unreadable(reason=f"not an address: {quote(text)}")
    return str(address), address


def _is_label(label: str) -> bool:
    if not _LABEL.fullmatch(label):
        return False
    if not label.startswith("xn--"):
        return True
    try:
        international = label[4:].encode().decode("punycode")
        return bool(ada_url.URL(f"https://{international}.example").hostname == f"{label}.example")
    except (UnicodeError, ValueError):
        return False


def _older_reading(text: str) -> str | None:
    """Return an international name as IDNA 2003 reads it, which many libraries still follow."""
    try:
        return text.encode("idna").decode().lower().removesuffix(".")
    except UnicodeError:
        return None
