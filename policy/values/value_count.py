"""How many values a message holds, before anything reads them.

A text of many megabytes is read in an instant. A message of millions of small values keeps all
other calls waiting for seconds, because each value is checked by itself.
"""

from __future__ import annotations

import re

_LEAST, _MOST = 20_000, 100_000
# A value costs what some two hundred characters of a text cost.
_BYTES = 200
# Strings as a whole, so that what they contain does not count, and what comes before a value. One
# that does not end goes to the end of the message: it would be read again from each quote in it.
_TOKENS = re.compile(rb'"(?:[^"\\]++|\\.)*+"?|[\[{,]', re.DOTALL)


def most_values(largest: int) -> int:
    """Return how many values a message may hold, where it may have `largest` bytes."""
    return max(_LEAST, min(_MOST, largest // _BYTES))


def has_too_many_values(message: bytes, most: int) -> bool:
    """Return whether a message in JSON has more than `most` items of lists and objects."""
    if sum(map(message.count, (b",", b"[", b"{"))) <= most:
        return False  # also if none of them were in a string
    values = 0
    for token in _TOKENS.finditer(message):
        if message[token.start()] != ord('"'):
            values += 1
            if values > most:
                return True
    return False
