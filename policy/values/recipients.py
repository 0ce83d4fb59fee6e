"""Parses e-mail addresses into a canonical form for comparison."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from policy.values.globs import compile_name_glob, has_wildcard
from policy.values.hosts.host_name import canonical_name
from policy.values.text import has_control, is_ordinary, quote
from policy.values.unreadable import Unreadable

_LONGEST = 1_000
_LOCAL = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._+-'=~&#$/^{}|`")


def read_recipient(text: str) -> str | Unreadable:
    """Return `local@domain` of `ada@corp.example` or `Ada <ada@corp.example>`.

    The domain is made canonical. Quoted local parts, routes, comments, groups and lists of
    addresses are Unreadable: mail systems disagree about them.
    """
    if len(text) > _LONGEST:
        return Unreadable(reason="an address that is too long")
    if has_control(text) or not is_ordinary(text):
        return Unreadable(reason="an address with invisible or control characters")
    address = _bare(text.strip(" "))
    if address is None or address.count("@") != 1:
        return Unreadable(reason=f"not one e-mail address: {quote(text)}")
    local, domain = address.split("@")
    if not local or not _LOCAL.issuperset(local) or local[0] == "." or local[-1] == ".":
        return Unreadable(
            reason=f"a local part that mail systems may interpret differently: {quote(text)}"
        )
    name = canonical_name(domain)
    if isinstance(name, Unreadable):
        return Unreadable(reason=f"an address whose domain is not a host name: {quote(text)}")
    return f"{local}@{name}"


def recipient_in(text: str, patterns: tuple[str, ...]) -> bool | None:
    """Return whether the address matches one of `patterns` (`ada@corp.example`, `*@corp.example`).

    None if it cannot be parsed, or differs from a pattern only in the case of its local part.
    """
    address = read_recipient(text)
    if isinstance(address, Unreadable):
        return None
    if any(_matches(pattern, address) for pattern in patterns):
        return True
    folded = address.casefold()
    return None if any(_matches(pattern.casefold(), folded) for pattern in patterns) else False


def check_recipient_pattern(pattern: str) -> Unreadable | None:
    """Return why `pattern` is not an address pattern, None if it is."""
    local, at, domain = pattern.rpartition("@")
    if not at or not local or not domain or "@" in local:
        return Unreadable(reason=f"not an address pattern: {quote(pattern)}")
    if has_wildcard(domain) and not domain.startswith("*."):
        return Unreadable(
            reason=f"a domain allows a wildcard only as a leading `*.`: {quote(pattern)}"
        )
    name = canonical_name(domain.removeprefix("*."))
    return name if isinstance(name, Unreadable) else None


def _bare(text: str) -> str | None:
    """Return the address without the display name, or None if that is ambiguous."""
    if not text.endswith(">"):
        return None if set(text) & set('<>,;:()[]\\" ') else text
    name, opening, address = text[:-1].partition("<")
    inner = name.strip(" ")
    if inner.startswith('"') and inner.endswith('"') and len(inner) > 1:
        inner = inner[1:-1]
    if not opening or set(inner) & set('<>,;:()[]\\"@') or set(address) & set('<>,;:()[]\\" '):
        return None
    return address


def _matches(pattern: str, address: str) -> bool:
    return _compiled(pattern)(address)


@lru_cache(maxsize=1024)
def _compiled(pattern: str) -> Callable[[str], bool]:
    local, _, domain = pattern.rpartition("@")
    star = "*." if domain.startswith("*.") else ""
    name = canonical_name(domain.removeprefix("*."))
    settled = domain.lower() if isinstance(name, Unreadable) else star + name
    return compile_name_glob(f"{local}@{settled}")
