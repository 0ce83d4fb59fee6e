"""The forms in which an address, a URL, a path or a number is the same however it is spelled.

A spelling in a text is made canonical by itself. A value is looked for in every form that it may
have in a text: a path also relative to the folders of the call.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from decimal import Decimal

from policy.values.hosts.endpoint import DEFAULT_PORTS, read_endpoint
from policy.values.paths.path import PathContext, normal_path, spelled_path
from policy.values.paths.spelling import path_spelled
from policy.values.recipients import read_recipient
from policy.values.unreadable import Unreadable

# `1,000.50`, `$5`, `-5 €` without the blank, `50%`, `#42`. A number that begins with a zero is an
# identifier, and other ways to group digits are read in different ways.
_NUMBER = re.compile(
    r"[#$€£¥₹]?([+-]?)[$€£¥₹]?"
    r"((?:[1-9][0-9]{0,2}(?:,[0-9]{3})+|0|[1-9][0-9]*)(?:\.[0-9]+)?)"
    r"[%$€£¥₹]?",
    re.ASCII,
)
_LONGEST_NUMBER = 40
_URL = re.compile(r"[a-z][a-z0-9+.-]*://([^/?#]*)([^?#]*)(.*)", re.IGNORECASE | re.DOTALL)
# Most addresses: apart from letter case these have no other spelling.
_PLAIN_ADDRESS = re.compile(r"[A-Za-z0-9._+-]+@(?:[A-Za-z0-9]+\.)+[A-Za-z]+", re.ASCII)
_MAIL = "mailto:"
_FILE = "file:"
_HOME = "~/"


def number_spelled(text: str) -> Decimal | None:
    """Return the number that a word spells, None if it is none."""
    if len(text) > _LONGEST_NUMBER:
        return None
    found = _NUMBER.fullmatch(text)
    return Decimal(found[1] + found[2].replace(",", "")) if found else None


def canonical_spelling(word: str) -> str | None:
    """Return the canonical form of an address, a URL or a path in a text.

    None if it is none of these, or has no other form than its own.
    """
    if "://" in word and not word.startswith(_FILE):
        return _canonical_url(word)
    if "@" in word:
        return None if _PLAIN_ADDRESS.fullmatch(word) else _canonical_address(word)
    if "/" in word:
        path = path_spelled(word)
        return None if isinstance(path, Unreadable) else normal_path(path)
    return None


def spellings_of(value: str, paths: PathContext) -> Iterator[str]:
    """Yield the canonical forms of a value, and for a URL or a path what may stand for it."""
    if "://" in value and not value.startswith(_FILE):
        url = _canonical_url(value)
        if url is not None:
            yield url
            yield from _without_scheme(value)
    elif "@" in value and (address := _canonical_address(value)) is not None:
        yield address
    elif "/" in value or value.startswith("~"):
        yield from _paths(value, paths)


def _canonical_address(text: str) -> str | None:
    read = read_recipient(text[len(_MAIL) :] if text[: len(_MAIL)].lower() == _MAIL else text)
    return None if isinstance(read, Unreadable) else read


def _canonical_url(text: str) -> str | None:
    """Return a URL with its host and path made canonical; None where it is ambiguous.

    What is sent besides stays as spelled. A URL with a user in it has no other form.
    """
    found = _URL.fullmatch(text)
    if found is None or "@" in found[1]:
        return None
    read = read_endpoint(text)
    if isinstance(read, Unreadable) or read.path is None:
        return None
    return f"{read.scheme}://{read.host}:{read.port}{read.path}{found[3]}"


def _without_scheme(url: str) -> Iterator[str]:
    """Yield how an https URL is written without its scheme, which is what such a text means."""
    read, found = read_endpoint(url), _URL.fullmatch(url)
    if isinstance(read, Unreadable) or found is None or read.scheme != "https":
        return
    host = read.host if read.port == DEFAULT_PORTS["https"] else f"{read.host}:{read.port}"
    yield f"{host}{read.path}{found[3]}"
    if read.path == "/" and not found[3]:
        yield host


def _paths(value: str, paths: PathContext) -> Iterator[str]:
    """Yield a path as an absolute one, and relative to the folders that texts may leave out."""
    spelled = spelled_path(value, paths)
    if isinstance(spelled, Unreadable):
        return
    path = normal_path(spelled)
    yield path
    if paths.home is not None and path.startswith(f"{paths.home}/"):
        yield _HOME + path[len(paths.home) + 1 :]
    for folder in dict.fromkeys((paths.cwd, paths.workspace)):
        if folder is not None and (below := posixpath.relpath(path, folder)) != ".":
            yield below
