"""The reference evaluator's values: strings, globs, paths, hosts and commands, read simply.

Only simple, well-formed values are understood; everything else is `UNREADABLE`. Nothing here is
shared with the engine, and nothing is fast: globs are matched by trying every cut.
"""

from __future__ import annotations

import ipaddress
import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from typing import Any, TypeAlias

# True, False, or None for undecidable.
Truth: TypeAlias = bool | None


class Lack(Enum):
    """What stands where no usable value is."""

    ABSENT = "absent"
    UNKNOWN = "unknown"
    UNREADABLE = "unreadable"


ABSENT, UNKNOWN, UNREADABLE = Lack.ABSENT, Lack.UNKNOWN, Lack.UNREADABLE

_INVISIBLE = set("\u00ad\u200b\u200c\u200d\u200e\u200f\u2060\ufeff") | {
    chr(code) for code in (*range(0x202A, 0x202F), *range(0x2066, 0x206A))
}


def all_of(truths: Iterable[Truth]) -> Truth:
    """Return Kleene's conjunction."""
    found = list(truths)
    if any(truth is False for truth in found):
        return False
    return None if any(truth is None for truth in found) else True


def any_of(truths: Iterable[Truth]) -> Truth:
    """Return Kleene's disjunction."""
    found = list(truths)
    if any(truth is True for truth in found):
        return True
    return None if any(truth is None for truth in found) else False


def negated(truth: Truth) -> Truth:
    """Return Kleene's negation."""
    return None if truth is None else not truth


def agreed(first: Truth, second: Truth) -> Truth:
    """Return what both readings say, undecidable where they differ."""
    return first if first is second else None


# ------------------------------------------------------------------ scalars


def as_number(value: Any) -> Fraction | None:
    """Return a number exactly, None for what is none or does not survive a double."""
    if isinstance(value, Fraction):
        return value
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    if isinstance(value, int):
        return Fraction(value) if abs(value) < 2**1000 and int(float(value)) == value else None
    return Fraction(Decimal(repr(value)))


def text_test(test: Callable[..., bool], *texts: Any) -> Truth:
    """Judge texts as they are and without invisible characters; not a text: undecidable."""
    if not all(isinstance(text, str) for text in texts):
        return None
    plain = [unicodedata.normalize("NFC", text) for text in texts]
    shown = ["".join(char for char in text if char not in _INVISIBLE) for text in plain]
    return agreed(test(*plain), test(*shown))


def without_hidden(text: str) -> str:
    """Return a text in NFC without invisible characters."""
    plain = unicodedata.normalize("NFC", text)
    return unicodedata.normalize("NFC", "".join(char for char in plain if char not in _INVISIBLE))


def equal(left: Any, right: Any) -> Truth:
    """Compare two values; values of different types cannot be compared."""
    if left is None or right is None:
        return left is right
    for moment in (datetime, timedelta):
        if isinstance(left, moment) and isinstance(right, moment):
            return left == right
    if isinstance(left, bool) and isinstance(right, bool):
        return left is right
    if isinstance(left, str) and isinstance(right, str):
        return text_test(lambda a, b: bool(a == b), left, right)
    if isinstance(left, tuple) and isinstance(right, tuple):
        if len(left) != len(right):
            return False
        return all_of(equal(a, b) for a, b in zip(left, right, strict=True))
    if isinstance(left, Mapping) and isinstance(right, Mapping):
        if set(left) != set(right):
            return False
        return all_of(equal(left[key], right[key]) for key in left)
    a, b = as_number(left), as_number(right)
    return None if a is None or b is None else a == b


def glob_fits(pattern: str, text: str) -> bool:
    """Match the whole text; `*` is any characters and `?` exactly one."""
    if not pattern:
        return not text
    if pattern[0] == "*":
        return any(glob_fits(pattern[1:], text[cut:]) for cut in range(len(text) + 1))
    return bool(text) and pattern[0] in ("?", text[0]) and glob_fits(pattern[1:], text[1:])


# ------------------------------------------------------------------ paths


def read_path(text: Any, *, base: str | None, home: str | None) -> tuple[str, ...] | None:
    """Return the segments of a plain path from the root, None where it cannot be read."""
    if not isinstance(text, str) or not re.fullmatch(r"[A-Za-z0-9_.~/-]+", text):
        return None
    if text == "~" or text.startswith("~/"):
        if home is None:
            return None
        text = home + text[1:]
    elif text.startswith("~"):
        return None
    if not text.startswith("/"):
        if base is None:
            return None
        text = base + "/" + text
    segments: list[str] = []
    for segment in text.split("/"):
        if segment == "..":
            segments = segments[:-1]
        elif segment not in ("", "."):
            segments.append(segment)
    return tuple(segments)


def path_fits(item: tuple[str, ...], path: tuple[str, ...]) -> bool:
    """Match segment by segment: `**` is any number of segments, `*` stays within one."""
    if not item:
        return not path
    if item[0] == "**":
        return any(path_fits(item[1:], path[cut:]) for cut in range(len(path) + 1))
    return bool(path) and glob_fits(item[0], path[0]) and path_fits(item[1:], path[1:])


def path_item(item: str, *, workspace: str | None, home: str | None) -> tuple[str, ...] | None:
    """Return the segments of an item of a `paths` set; None where its place is not known."""
    if item.startswith("**/"):
        return tuple(item.split("/"))
    if item.startswith("~/"):
        if home is None:
            return None
        item = home + item[1:]
    elif not item.startswith("/"):
        if workspace is None:
            return None
        item = workspace + "/" + item
    return tuple(segment for segment in item.split("/") if segment not in ("", "."))


# ------------------------------------------------------------------ hosts

_NETWORKS = {
    "private": ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16"),
    "loopback": ("127.0.0.0/8",),
    "link_local": ("169.254.0.0/16",),
    "metadata": ("169.254.169.254/32",),
}


def read_host(text: Any) -> str | None:
    """Return the lower-case host of a plain URL or `host[:port][/path]`, None if not so plain."""
    if not isinstance(text, str):
        return None
    found = re.fullmatch(
        r"(?:https?://)?([A-Za-z0-9.-]*[A-Za-z0-9])(?::[0-9]+)?(?:/[A-Za-z0-9_./-]*)?", text
    )
    return found[1].lower() if found else None


def _address(host: str) -> ipaddress.IPv4Address | None:
    try:
        return ipaddress.IPv4Address(host)
    except ValueError:
        return None


def _spelled_in(item: str, host: str) -> bool:
    address = _address(host)
    networks = _NETWORKS.get(item, (item,) if re.fullmatch(r"[0-9./]+", item) else ())
    if networks:
        return address is not None and any(
            address in ipaddress.IPv4Network(network) for network in networks
        )
    if address is not None:
        return False
    return host.endswith(item[1:]) if item.startswith("*.") else host == item


def host_fits(
    item: str, host: str, *, resolve: Callable[[str], tuple[str, ...] | None] | None
) -> Truth:
    """Judge a name as a name and, against networks, by the addresses the resolver gives."""
    about_addresses = item in _NETWORKS or re.fullmatch(r"[0-9./]+", item) is not None
    if not about_addresses or _address(host) is not None or resolve is None:
        return _spelled_in(item, host)
    addresses = resolve(host)
    return None if addresses is None else any(_spelled_in(item, found) for found in addresses)


# ------------------------------------------------------------------ commands


@dataclass(frozen=True, slots=True, kw_only=True)
class Simple:
    """One simple command: its words, and the files it is redirected from and to."""

    words: tuple[str, ...]
    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()


_HARMLESS = ("cd", "pwd", "true", "false", ":")


def read_command(text: Any) -> tuple[Simple, ...] | None:
    """Cut plain words at `;`, `&&`, `||` and `|`; anything quoted or computed is not read."""
    if not isinstance(text, str) or not re.fullmatch(r"[A-Za-z0-9_./:@ ;&|<>-]*", text):
        return None
    found = []
    for part in re.split(r";|&&|\|\||\|", text):
        simple = _read_simple(re.findall(r"[<>&]+|[^<>& ]+", part))
        if simple is None:
            return None
        if simple.words or simple.writes or simple.reads:
            found.append(simple)
    return tuple(found)


def _read_simple(tokens: list[str]) -> Simple | None:
    words: list[str] = []
    targets: dict[str, list[str]] = {"<": [], ">": [], ">>": []}
    waiting: str | None = None
    for token in tokens:
        if waiting is not None:
            if not token[0].isalnum() and token[0] not in "./":
                return None
            targets[waiting].append(token)
            waiting = None
        elif token in targets:
            waiting = token
        elif re.search(r"[<>&]", token):
            return None
        else:
            words.append(token)
    if waiting is not None:
        return None
    writes = [path for path in targets[">"] + targets[">>"] if path != "/dev/null"]
    return Simple(words=tuple(words), reads=tuple(targets["<"]), writes=tuple(writes))


def command_fits(pattern: str, simple: Simple) -> bool:
    """Match word by word; a word `*` stands for any number of words."""
    return _words_fit(tuple(pattern.split()), simple.words)


def is_harmless(simple: Simple) -> bool:
    """Tell whether the command needs no pattern."""
    return not simple.words or simple.words[0] in _HARMLESS


def _words_fit(pattern: tuple[str, ...], words: tuple[str, ...]) -> bool:
    if not pattern:
        return not words
    if pattern[0] == "*":
        return any(_words_fit(pattern[1:], words[cut:]) for cut in range(len(words) + 1))
    return bool(words) and glob_fits(pattern[0], words[0]) and _words_fit(pattern[1:], words[1:])
