"""Sets of hosts as languages of endpoints.

An endpoint is written as a string: its scheme as one character, its name, the addresses that are
known of it, its port, and its path, which is empty for `/`.

A test of an endpoint has three results, so a set has two languages: of endpoints that are certainly
in it, and of those that may be. They follow `values.host_in`, in whose logic both are unions of
differences.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from ipaddress import IPv4Address, IPv6Address
from typing import Literal, TypeAlias

from policy.checks import checked
from policy.solving import (
    ANY_TEXT,
    Characters,
    Either,
    Expression,
    Language,
    OneOf,
    Row,
    Times,
    TooLarge,
    characters,
    language,
    literal,
    these,
    union_of_differences,
    without,
)
from policy.symbolic.patterns.globs import url_path_glob
from policy.values import (
    DEFAULT_PORTS,
    METADATA_NAMES,
    REDIRECTED,
    HostPattern,
    Network,
    read_host_pattern,
)

_SCHEMES = {name: chr(0xE100 + at) for at, name in enumerate(sorted(DEFAULT_PORTS))}
# What is known of addresses: the host is one, there is no resolver, or it has found these.
_IS_ADDRESS, _NOT_RESOLVED, _RESOLVED = "\ue020", "\ue021", "\ue022"
# Before the digits of an address, and in place of one that cannot be read.
_V4, _V6, _UNREADABLE = "\ue024", "\ue026", "\ue028"
_PORT, _UNKNOWN_PATH, _OTHER_PATH = "\ue030", "\ue031", "\ue032"
# Characters of no name and no path.
_MARKS: Characters = ((0xE000, 0xE1FF),)

_HEX = "0123456789abcdef"
_DIGIT, _DECIMAL = OneOf(these(_HEX)), OneOf(these("0123456789"))
_EDGE = OneOf(these("abcdefghijklmnopqrstuvwxyz0123456789_"))
_LABEL: Expression = Row((_EDGE, Times(Row((Times(OneOf(these("-"))), _EDGE)))))
_LOCAL_NAMES: Expression = Row((Times(Row((_LABEL, literal(".")))), literal("localhost")))
_V4_ADDRESS: Expression = Row((literal(_V4), Times(_DIGIT, 8, 8)))
_V6_ADDRESS: Expression = Row((literal(_V6), Times(_DIGIT, 32, 32)))
_ANY_ADDRESS: Expression = Either((_V4_ADDRESS, _V6_ADDRESS))
_LOOPBACK: Expression = literal(f"{_V4}7f000001{_V6}{1:032x}")
_ANY_NAME: Expression = Times(OneOf(these("abcdefghijklmnopqrstuvwxyz0123456789-_.")))
_ANY_ADDRESSES: Expression = Times(OneOf(these(_HEX + _V4 + _V6 + _UNREADABLE)))
_OF_NAMES = OneOf(these(_NOT_RESOLVED + _RESOLVED))
_WITH_ADDRESSES = OneOf(these(_IS_ADDRESS + _RESOLVED))
_PATH_CHARACTER = OneOf(without(_MARKS))
_PLAIN_PATH: Expression = Times(Row((literal("/"), Times(_PATH_CHARACTER, 1))), 0, 1)
# What people write in URLs.
PRINTED_ENDPOINTS: Characters = characters(
    (*((ord(char), ord(char)) for char in "abcdefghijklmnopqrstuvwxyz0123456789-_./"), *_MARKS)
)
_Part: TypeAlias = Literal["certainly", "possibly"]


@dataclass(frozen=True, slots=True, eq=False)
class HostLanguages:
    """The endpoints that are certainly in a set, and those that may be."""

    certain: Language
    possible: Language


@lru_cache(maxsize=1)
def all_endpoints() -> Language:
    """Return the language of all endpoints; there may be strings in it that are none."""
    names = Row((Times(Row((_LABEL, literal(".")))), _LABEL))
    found = Either((_ANY_ADDRESS, literal(_UNREADABLE)))
    hosts = Either(
        (
            # The addresses that a tunnel would reach by it are those after the first.
            Row((literal(_IS_ADDRESS), _ANY_ADDRESS, Times(_V4_ADDRESS, 0, 2))),
            Row((names, literal(_NOT_RESOLVED))),
            Row((names, literal(_RESOLVED), Times(found))),
        )
    )
    port = Row((literal(_PORT), Times(_DECIMAL, 1, 5)))
    other = Times(Row((literal(_OTHER_PATH), _PLAIN_PATH)), 0, 1)
    tail = Row((port, Either((Row((_PLAIN_PATH, other)), literal(_UNKNOWN_PATH)))))
    local = Row((_scheme(None), _LOCAL_NAMES))
    # The addresses of `localhost` are always the same.
    return union_of_differences(
        (
            (
                language(Row((_scheme(None), hosts, tail))),
                language(Row((local, _OF_NAMES, ANY_TEXT))),
            ),
            (language(Row((local, literal(_RESOLVED), _LOOPBACK, tail))), None),
        )
    )


@lru_cache(maxsize=1)
def shown_endpoints() -> tuple[Language, Language]:
    """Return endpoints that calls are shown with, and strings among them that are left out.

    Names begin and end with letters, and are not resolved.
    """
    letter = OneOf(these("abcdefghijklmnopqrstuvwxyz"))
    middle = Times(OneOf(these("abcdefghijklmnopqrstuvwxyz0123456789_.")))
    hosts = Either(
        (
            Row((literal(_IS_ADDRESS), _ANY_ADDRESS)),
            Row((letter, Times(Row((middle, letter)), 0, 1), literal(_NOT_RESOLVED))),
            Row((_LOCAL_NAMES, literal(_RESOLVED), _LOOPBACK)),
        )
    )
    ports = Either(tuple(literal(str(port)) for port in sorted({*DEFAULT_PORTS.values()})))
    other = Times(_DECIMAL, 1, 4)
    left_out = Row((ANY_TEXT, literal(f"{_PORT}0"), ANY_TEXT))
    found = Row((_scheme(None), hosts, literal(_PORT), Either((ports, other)), _PLAIN_PATH))
    return language(found), language(left_out)


def as_url(text: str) -> str:
    """Return the URL that a string of `shown_endpoints` stands for."""
    scheme = next(name for name, sign in _SCHEMES.items() if sign == text[0])
    host, _, rest = text[1:].partition(_PORT)
    name, known, addresses = _split(host)
    if known == _IS_ADDRESS:
        number = int(addresses[1:], 16)
        name = f"[{IPv6Address(number)}]" if addresses[0] == _V6 else str(IPv4Address(number))
    port, slash, path = rest.partition("/")
    shown = "" if int(port) == DEFAULT_PORTS[scheme] else f":{int(port)}"
    return f"{scheme}://{name}{shown}{slash}{path}" if slash else f"{scheme}://{name}{shown}/"


def _split(host: str) -> tuple[str, str, str]:
    at = next(at for at, char in enumerate(host) if char in (_IS_ADDRESS, _NOT_RESOLVED, _RESOLVED))
    return host[:at], host[at], host[at + 1 :]


@lru_cache(maxsize=4096)
def host_languages(values: checked.ValueSet) -> HostLanguages | None:
    """Return the languages of a set of hosts; None if it has other items, or is too large.

    Of what a program may be redirected to, and of what inline code accesses, nothing is said.
    """
    parts = parts_of_hosts(values) if values.kind == "hosts" else None
    if parts is None:
        return None
    try:
        return HostLanguages(
            certain=union_of_differences(_pairs(parts, "certainly", "possibly")),
            possible=union_of_differences(_pairs(parts, "possibly", "certainly")),
        )
    except TooLarge:
        return None


_Patterns: TypeAlias = tuple[HostPattern, ...]


def _pairs(
    parts: Iterable[tuple[_Patterns, _Patterns]], inside: _Part, outside: _Part
) -> Iterator[tuple[Language, Language | None]]:
    for items, exceptions in parts:
        yield _of(items, inside), _of(exceptions, outside) if exceptions else None


def parts_of_hosts(values: checked.ValueSet) -> list[tuple[_Patterns, _Patterns]] | None:
    """Return pairs of items and their exceptions; None if something in the set is no host."""
    exceptions = _items(values.excluded)
    if exceptions is None:
        return None
    own: list[HostPattern] = []
    found: list[tuple[_Patterns, _Patterns]] = []
    for part in values.included:
        if isinstance(part, checked.ValueSet):
            inner = parts_of_hosts(part)
            if inner is None:
                return None
            found += ((items, (*outs, *exceptions)) for items, outs in inner)
            continue
        items = _items((part,))
        if items is None:
            return None
        own += items
    return [(tuple(own), exceptions), *found]


def _items(parts: tuple[checked.SetPart, ...]) -> _Patterns | None:
    found: list[HostPattern] = []
    for part in parts:
        match part:
            case checked.ValueSet(excluded=()):
                inner = _items(part.included)
                if inner is None:
                    return None
                found += inner
            case str() if isinstance(pattern := read_host_pattern(part), HostPattern):
                found += () if pattern.word == REDIRECTED else (pattern,)
            case checked.InlineCodeItem():
                continue
            case _:
                return None
    return tuple(found)


@lru_cache(maxsize=8192)
def _of(patterns: _Patterns, part: _Part) -> Language:
    return language(Either(tuple(_expression(pattern, part) for pattern in patterns)))


def _expression(pattern: HostPattern, part: _Part) -> Expression:
    port = Times(_DECIMAL) if pattern.port is None else literal(str(pattern.port))
    return Row(
        (
            _scheme(pattern.scheme),
            _host(pattern, part),
            literal(_PORT),
            port,
            ANY_TEXT if pattern.path is None else _path(pattern.path, part),
        )
    )


def _scheme(name: str | None) -> Expression:
    return OneOf(these("".join(_SCHEMES.values()) if name is None else _SCHEMES[name]))


def _host(pattern: HostPattern, part: _Part) -> Expression:
    if pattern.name is not None:
        below = Row((_ANY_NAME, literal("."))) if pattern.below else Row()
        return Row((below, literal(pattern.name), _OF_NAMES, _ANY_ADDRESSES))
    if not pattern.networks:
        return Row((_ANY_NAME, Either((_OF_NAMES, _WITH_ADDRESSES)), _ANY_ADDRESSES))
    inside = Either(tuple(map(_network, pattern.networks)))
    if part == "certainly":
        # All addresses are in it.
        found = [Row((_ANY_NAME, _WITH_ADDRESSES, Times(inside, 1)))]
    else:
        # One address is in it, or not known.
        one = Either((inside, literal(_UNREADABLE)))
        found = [
            Row((_ANY_NAME, _WITH_ADDRESSES, _ANY_ADDRESSES, one, _ANY_ADDRESSES)),
            Row((_ANY_NAME, literal(_RESOLVED))),
        ]
    if pattern.word == "metadata":
        names = Either(tuple(map(literal, sorted(METADATA_NAMES))))
        found.append(Row((names, _OF_NAMES, _ANY_ADDRESSES)))
    return Either(tuple(found))


def _path(pattern: str, part: _Part) -> Expression:
    """Return the paths that match a pattern in every reading, or in one of them."""
    glob, other = url_path_glob(pattern, _MARKS), literal(_OTHER_PATH)
    if part == "certainly":
        return Row((glob, Times(Row((other, glob)), 0, 1)))
    return Either(
        (
            literal(_UNKNOWN_PATH),
            Row((glob, Times(Row((other, ANY_TEXT)), 0, 1))),
            Row((Times(_PATH_CHARACTER), other, glob)),
        )
    )


def _network(network: Network) -> Expression:
    """Return the addresses of a network: the digits of its prefix, and then any others."""
    width = 8 if network.version == 4 else 32
    number = int(network.network_address)
    digits = f"{number:0{width}x}"
    whole, bits = divmod(network.prefixlen, 4)
    parts: list[Expression] = [literal(digits[:whole])]
    if bits:
        low = int(digits[whole], 16)
        parts.append(OneOf(these(_HEX[low : low + (1 << 4 - bits)])))
    parts.append(Times(_DIGIT))
    return Row((literal(_V4 if network.version == 4 else _V6), *parts))
