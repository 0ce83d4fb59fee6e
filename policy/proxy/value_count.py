"""How many values a message holds, before anything reads them.

A text of many megabytes is read in an instant. A message of millions of small values keeps all
other calls waiting for seconds, because each value is checked by itself.
"""

from __future__ import annotations

import re

MOST_VALUES = 100_000
# Strings as a whole, so that what they contain does not count, and what comes before a value. One
# that does not end goes to the end of the message: it would be read again from each quote in it.
_TOKENS = re.compile(rb'"(?:[^"\\]++|\\.)*+"?|[\[{,]', re.DOTALL)


def has_too_many_values(message: bytes) -> bool:
    """Return whether a message in JSON has more than `MOST_VALUES` items of lists and objects."""
    if sum(map(message.count, (b",", b"[", b"{"))) <= MOST_VALUES:
        return False  # also if none of them were in a string
    values = 0
    for token in _TOKENS.finditer(message):
        if message[token.start()] != ord('"'):
            values += 1
            if values > MOST_VALUES:
                return True
    return False
