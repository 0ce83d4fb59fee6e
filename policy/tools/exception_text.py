"""The text of an exception that a tool raised, as a model may read it: bounded, without secrets.

Masked are the values of environment variables, the user information in URLs, the headers that carry
credentials, and what is assigned to a name such as `password` or `token`. That covers how secrets
usually get into an exception; a part of a secret, or one that is encoded, is not recognised.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import islice
from urllib.parse import unquote, urlsplit

MASK = "[masked]"

# Shorter values (a port, `true`, `prod`) are words of ordinary sentences.
_SHORTEST_VALUE = 6
_LONGEST = 10_000
# A secret that is cut in two at the end of a text is not recognised: so much is left out there.
_MARGIN = 1_000
_MOST_IN_GROUP = 3

_URL = re.compile(r"([a-z][a-z0-9+.-]{0,30}://)(?:[^\s/?#]*|[^\s/?#@:]*:[^\s@]{0,500})@", re.I)
_HEADER = re.compile(
    r"""\b((?:proxy-)?authorization|(?:set-)?cookie|(?:x-)?api-key|x-auth-token)
    (["']\s*[:=,]\s*b?|\s*[:=]\s*)
    (?:"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|[^\n]*)""",
    re.I | re.X,
)
_NAMED = re.compile(
    r"""((?:password|passwd|passphrase|pwd|secret|token|api[_-]?key|access[_-]?key|signature)
    (?:["']\s*[:=]|\s*=)\s*)
    (?:"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|[^\s,;&\#"')]+)""",
    re.I | re.X,
)
_CREDENTIALS = re.compile(r"\b(bearer|basic)(\s+)(?=[^\s\"',;]*[0-9=+/])[\w.~+/=-]{8,}", re.I)


def exception_text(error: Exception, environment: Mapping[str, str]) -> str:
    """Return what an exception says, without secrets; empty if it says nothing."""
    try:
        leaves = list(islice(_leaves(error), _MOST_IN_GROUP))
        said = "; ".join(text for leaf in leaves if (text := _said(leaf, alone=leaf is error)))
    except Exception:  # noqa: BLE001 - a class of the tool may raise anything
        return ""
    return without_secrets(said, environment)


def without_secrets(text: str, environment: Mapping[str, str]) -> str:
    """Return a text with secrets masked, cut to a bounded length.

    The value of an environment variable is shown as the variable's name: `$TOKEN`.
    """
    names = _names_of_values(environment)
    cut = len(text) > _LONGEST
    text = text[:_LONGEST]
    if names:
        longest_first = sorted(names, key=len, reverse=True)
        pattern = re.compile("|".join(map(re.escape, longest_first)))
        text = pattern.sub(lambda found: f"${names[found[0]]}", text)
    text = _URL.sub(rf"\1{MASK}@", text)
    text = _HEADER.sub(rf"\1\2{MASK}", text)
    text = _NAMED.sub(rf"\1{MASK}", text)
    text = _CREDENTIALS.sub(rf"\1\2{MASK}", text)
    if not cut:
        return text
    return text[: -max(_MARGIN, *map(len, names))] if names else text[:-_MARGIN]


def _leaves(error: BaseException) -> Iterator[BaseException]:
    """Yield the exceptions of a group, or the exception itself."""
    if isinstance(error, BaseExceptionGroup):
        for each in error.exceptions:
            yield from _leaves(each)
    else:
        yield error


def _said(error: BaseException, *, alone: bool) -> str:
    text: object = str(error)
    said = text if type(text) is str else ""
    return said if alone else f"{type(error).__name__}: {said}"


def _names_of_values(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the texts to mask, each with the variable that it is a value of, or a part of one."""
    names: dict[str, str] = {}
    for name, value in sorted(environment.items()):
        # Text that is shown as Python or JSON has the lines of a key, and no line ends.
        for text in (value, *value.splitlines(), *_passwords(value)):
            if len(text) >= _SHORTEST_VALUE:
                names.setdefault(text, name)
    return names


def _passwords(value: str) -> Iterator[str]:
    """Yield the password of a URL, as it is written and as it is meant."""
    if "://" not in value:
        return
    try:
        password = urlsplit(value).password
    except ValueError:
        return
    if password:
        yield password
        yield unquote(password)
