"""What expressions ask of URLs: their parts, another scheme, and the links in free text."""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType

from policy.call import Frozen
from policy.values.host import DEFAULT_PORTS, read_endpoint
from policy.values.reading import Unreadable
from policy.values.text import is_ordinary, plain, quote

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://")
_SCHEME_NAME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*")
_LINK = re.compile(
    r"""(?:(?:https?|wss?|ftp)://|(?<![\w.@/-])www\.)[^\s<>"'`|\\^{}\x00-\x1f\x7f]+""",
    re.IGNORECASE,
)
_CLOSING = {")": "(", "]": "["}


def url_parts(text: str) -> Mapping[str, Frozen] | Unreadable:
    """Return `scheme`, `host`, `port`, `path`, `query` and `fragment` of a whole URL.

    Query and fragment are as spelled, and None where there is none.
    """
    if not _SCHEME.match(text):
        return Unreadable(reason=f"not a whole URL: {quote(text)}")
    endpoint = read_endpoint(text)
    if isinstance(endpoint, Unreadable):
        return endpoint
    if endpoint.path is None:
        return Unreadable(reason=f"a path that servers read differently: {quote(text)}")
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
    """Return the URL with another scheme; a port that was only the old scheme's is dropped."""
    found = _SCHEME.match(text)
    endpoint = read_endpoint(text)
    if found is None:
        return Unreadable(reason=f"not a whole URL: {quote(text)}")
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


def links_in(text: str) -> tuple[str, ...]:
    """Return the links in free text, in order, each once, also those with hidden characters.

    A link begins with `http://`, `https://`, `ws://`, `wss://`, `ftp://` or `www.`; the
    punctuation of the sentence around it is no part of it.
    """
    found = _found(text)
    if not is_ordinary(text):
        found += _found(plain(text))
    return tuple(dict.fromkeys(found))


def _found(text: str) -> list[str]:
    links = (_trim(match[0]) for match in _LINK.finditer(text))
    return [link for link in links if not link.endswith(("://", "www."))]


def _trim(link: str) -> str:
    """Take away closing punctuation that the link itself did not open."""
    extra = {closing: link.count(closing) - link.count(opening)
             for closing, opening in _CLOSING.items()}  # fmt: skip
    stop = len(link)
    while stop:
        last = link[stop - 1]
        if last in ".,;:!?*_~":
            stop -= 1
        elif extra.get(last, 0) > 0:
            extra[last] -= 1
            stop -= 1
        else:
            break
    return link[:stop]
