"""What the text of an argument says of the host that it spells, as languages of texts.

A text such as `https://docs.example/a` spells a name that all programs find. Others, such as those
with addresses, users, or names in other alphabets, are read in several ways: nothing is said.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from policy.checks import checked
from policy.solving import (
    ANY_TEXT,
    Either,
    Expression,
    Language,
    OneOf,
    Row,
    Times,
    TooLarge,
    in_either_case,
    language,
    literal,
    these,
    union_of_differences,
)
from policy.symbolic.patterns.hosts import parts_of_hosts
from policy.symbolic.patterns.spelled_texts import SpelledTexts
from policy.values import DEFAULT_PORTS, HostPattern

_LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
_DIGITS = "0123456789"
_EDGE = OneOf(these(_LETTERS + _DIGITS))
_LETTER, _DIGIT = OneOf(these(_LETTERS)), OneOf(these(_DIGITS))
# Without two hyphens in a row: a label in another alphabet is spelled with them.
_AND_MORE: Expression = Row((Times(OneOf(these("-")), 0, 1), _EDGE))
_PORT: Expression = Row((literal(":"), OneOf(these("123456789")), Times(_DIGIT, 0, 4)))
# Whatever follows the host, it is the host, or the text cannot be read.
_TAIL: Expression = Times(Row((OneOf(these("/?#")), ANY_TEXT)), 0, 1)
# A label has at most 63 characters, a name 253, and a text that is read 65,536.
_MOST_IN_A_LABEL, _MOST_LABELS, _MOST_IN_A_PATH = 30, 3, 300
_SHORT_PORT: Expression = Row((literal(":"), OneOf(these("123456789")), Times(_DIGIT, 0, 3)))
_IN_A_PATH = OneOf(these(_LETTERS + _DIGITS + "._~!$&'()*+,;=:@%/-"))
_SHORT_TAIL: Expression = Times(Row((literal("/"), Times(_IN_A_PATH, 0, _MOST_IN_A_PATH))), 0, 1)


@lru_cache(maxsize=1)
def settled_urls() -> Language:
    """Return texts that spell a name which all programs find, or that none can read."""
    # No address ends in a label that begins with a letter.
    more = Times(_AND_MORE)
    name = Row((Times(_label(more)), _LETTER, more))
    return language(_url(None, name, Times(_PORT, 0, 1), _TAIL))


@lru_cache(maxsize=1)
def readable_urls() -> Language:
    """Return texts that spell a name, short enough to be read."""
    more = Times(_AND_MORE, 0, _MOST_IN_A_LABEL)
    last = Row((_LETTER, more))
    longer = Row((Times(_label(more), 1, _MOST_LABELS), last))
    after = (Times(_SHORT_PORT, 0, 1), _SHORT_TAIL)
    # A name alone may be a scheme: `http:80`.
    schemes = Either(tuple(map(in_either_case, DEFAULT_PORTS)))
    alone = Row((schemes, literal("://"), last, *after))
    return language(Either((_url(None, longer, *after), alone)))


def _label(more: Expression) -> Expression:
    return Row((_EDGE, more, literal(".")))


@lru_cache(maxsize=4096)
def texts_of_hosts(values: checked.ValueSet) -> SpelledTexts | None:
    """Return what texts say of a set of hosts; None if it has other items, or is too large."""
    parts = parts_of_hosts(values) if values.kind == "hosts" and values.included else None
    if parts is None:
        return None
    try:
        return SpelledTexts(
            settled=settled_urls(),
            surely=_surely(parts),
            perhaps=_perhaps(parts),
            readable=readable_urls(),
        )
    except TooLarge:
        return None


_Patterns = tuple[HostPattern, ...]


def _surely(parts: list[tuple[_Patterns, _Patterns]]) -> Language | None:
    """Return texts whose host is in the set, if it can be read."""
    found = [
        (_texts(plain), _texts(exceptions) if exceptions else None)
        for items, exceptions in parts
        if (plain := [one for one in items if one.name and not one.port and not one.path])
        # A name may have an address that is an exception.
        and all(one.name for one in exceptions)
    ]
    return union_of_differences(found) if found else None


def _perhaps(parts: list[tuple[_Patterns, _Patterns]]) -> Language | None:
    """Return all texts whose host may be in the set; None if that is not only a matter of names."""
    items = [item for items, _ in parts for item in items]
    return _texts(items) if items and all(one.name for one in items) else None


def _texts(patterns: Iterable[HostPattern]) -> Language:
    """Return the texts that spell the name of a pattern, with any port and path."""
    port = Times(_PORT, 0, 1)
    return language(Either(tuple(_url(one.scheme, _name(one), port, _TAIL) for one in patterns)))


def _name(pattern: HostPattern) -> Expression:
    assert pattern.name is not None
    below = (Times(_label(Times(_AND_MORE)), 1),) if pattern.below else ()
    return Row((*below, in_either_case(pattern.name)))


def _url(scheme: str | None, name: Expression, *after: Expression) -> Expression:
    """Return URLs of a scheme, or of any; without one, a text is read as `https`."""
    schemes = DEFAULT_PORTS if scheme is None else (scheme,)
    spelled = Row((Either(tuple(map(in_either_case, schemes))), literal("://")))
    needed = 0 if scheme in (None, "https") else 1
    return Row((Times(spelled, needed, 1), name, *after))
