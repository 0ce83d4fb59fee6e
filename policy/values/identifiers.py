"""The canonical forms of a string that identifies an account, a card, a phone, a person or a thing.

Programs that read such a string skip what groups it for people: `GB29 NWBK 6016`, `GB29-NWBK-6016`
and `gb29nwbk6016` are one account. Some also skip the words around it, as in `acct. GB29…`. Two
strings without a form in common are certainly read as two.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from ipaddress import IPv6Address, ip_address

from policy.values.look_alikes import ascii_readings
from policy.values.numbers import number_in_text, number_text
from policy.values.text import normal_form, without_invisible

# Words in front of an account, whatever they are, and in front of a phone number in a link.
_PREFIXES = (re.compile(r"[a-z]+(?=[a-z]{2}\d{2}[a-z\d]{11,30}$)"), re.compile(r"tel(?=\d+$)"))
_NEITHER_LETTER_NOR_DIGIT = re.compile(r"[\W_]+", re.ASCII)
_AFTER_A_WORD = re.compile(r"[\W_]")
_NO_DECIMALS = re.compile(r"[.,]0+$")
# As many digits as a short phone number has. Words around fewer may tell what is meant: `room 12`.
_FEWEST_DIGITS = 7


def identifier_forms(text: str) -> tuple[str, ...]:
    """Return the canonical forms of a string: one, or more where it may be read otherwise.

    Only letters and digits count, without letter case and accents, in any script. `12.50` is the
    number 12.5 and perhaps an account, 1250. `pay 12345678 now` may be read as 12345678, and
    Cyrillic letters as the Latin ones that look the same. An IP address, and a string of
    punctuation alone, stay as they are.
    """
    plain = _plain(text)
    words = " ".join(plain.split())
    address = _ip_address(words)
    if address is not None:
        return (address,)
    readings = (plain,) if text.isascii() else (plain, *map(str.casefold, ascii_readings(text)))
    forms = (form for reading in readings for form in _forms(reading))
    return tuple(dict.fromkeys(form for form in forms if form)) or (words,)


def _plain(text: str) -> str:
    """Return a text without letter case, accents and invisible characters."""
    if text.isascii():
        return text.casefold()
    folded = normal_form(without_invisible(text), "NFKC").casefold()
    return "".join(_without_marks(normal_form(folded, "NFKD")))


def _without_marks(text: str) -> Iterator[str]:
    """Yield a text without marks, but for those that tell words of other scripts apart."""
    if not any(unicodedata.category(char)[0] == "M" for char in set(text)):
        yield text
        return
    keeps = False
    for char in text:
        if not unicodedata.category(char).startswith("M"):
            keeps = char.isalpha() and not char.isascii()
            yield char
        elif keeps:
            yield char


def _forms(plain: str) -> tuple[str | None, ...]:
    whole = _NO_DECIMALS.sub("", plain)
    readings = (plain, whole, _between_words(plain), _between_words(whole))
    # Most are the same.
    known = {reading: _identifier(reading) for reading in readings}
    return (_number(" ".join(plain.split())), *known.values())


def _between_words(plain: str) -> str:
    """Return what stands between the first and the last word with a digit, if that is much."""
    found = {ord(char): "0" for char in set(plain) if char.isdigit()}
    if not found:
        return ""
    digits = plain.translate(found)
    first, last = digits.find("0"), digits.rfind("0")
    start = first - _word_length(digits[:first][::-1])
    end = last + _word_length(digits[last:])
    return plain[start:end] if digits.count("0", start, end) >= _FEWEST_DIGITS else ""


def _word_length(text: str) -> int:
    """Return how long the word is that a text begins with."""
    after = _AFTER_A_WORD.search(text)
    return len(text) if after is None else after.start()


def _identifier(plain: str) -> str:
    bare = _letters_and_digits(plain)
    for prefix in _PREFIXES:
        # At the beginning alone: both patterns would look for the end of the text at each letter.
        found = prefix.match(bare)
        bare = bare[found.end() :] if found else bare
    return _number(bare) or bare


def _number(text: str) -> str | None:
    number = number_in_text(text)
    return None if number is None else number_text(number)


def _letters_and_digits(text: str) -> str:
    """Return the letters, marks and digits of a text; all scripts have the same ten digits."""
    if text.isascii():
        return _NEITHER_LETTER_NOR_DIGIT.sub("", text)
    read: dict[int, str | None] = {}
    for char in set(text):
        kept = unicodedata.category(char)[0] in "LMN"
        read[ord(char)] = str(unicodedata.decimal(char, char)) if kept else None
    return text.translate(read)


def _ip_address(text: str) -> str | None:
    try:
        address = ip_address(text)
    except ValueError:
        return None
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return str(mapped or address)
