"""The canonical forms of a string that identifies an account, a card, a phone, a person or a thing.

Programs that read such a string skip what groups it for people: `GB29 NWBK 6016`, `GB29-NWBK-6016`
and `gb29nwbk6016` are one account. Two strings without a form in common are certainly read as two.
"""

from __future__ import annotations

import re
import unicodedata
from ipaddress import IPv6Address, ip_address

from policy.values.numbers import number_in_text, number_text
from policy.values.text import without_invisible

# What may precede an account in print, and a phone number in a link.
_PREFIXES = (re.compile(r"iban(?=[a-z]{2}\d{2}[a-z\d]{11,30}$)"), re.compile(r"tel(?=\d+$)"))
_NEITHER_LETTER_NOR_DIGIT = re.compile(r"[\W_]+", re.ASCII)


def identifier_forms(text: str) -> tuple[str, ...]:
    """Return the canonical forms of a string: one, or two where it may be a number as well.

    Only letters and digits count, without letter case, in any script. `12.50` is the number 12.5
    and perhaps an account, 1250. An IP address, and a string of punctuation alone, stay as they
    are.
    """
    plain = unicodedata.normalize("NFKC", without_invisible(text)).casefold()
    words = " ".join(plain.split())
    address = _ip_address(words)
    if address is not None:
        return (address,)
    bare = _letters_and_digits(plain)
    for prefix in _PREFIXES:
        bare = prefix.sub("", bare, count=1)
    forms = [_number(words), _number(bare) or bare]
    return tuple(dict.fromkeys(form for form in forms if form)) or (words,)


def _number(text: str) -> str | None:
    number = number_in_text(text)
    return None if number is None else number_text(number)


def _letters_and_digits(text: str) -> str:
    """Return the letters, marks and digits of a text; all scripts have the same ten digits."""
    if text.isascii():
        return _NEITHER_LETTER_NOR_DIGIT.sub("", text)
    return "".join(
        str(unicodedata.decimal(char, char))
        for char in text
        if unicodedata.category(char)[0] in "LMN"
    )


def _ip_address(text: str) -> str | None:
    try:
        address = ip_address(text)
    except ValueError:
        return None
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return str(mapped or address)
