"""Unicode text for comparison and for display: normal form, invisible characters, escapes."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping
from itertools import groupby
from typing import Literal, TypeAlias

# Unicode's default-ignorable characters, which include all bidirectional controls, and the
# interlinear annotation marks.
_INVISIBLE_RANGES = (
    (0x00AD, 0x00AD),
    (0x034F, 0x034F),
    (0x061C, 0x061C),
    (0x115F, 0x1160),
    (0x17B4, 0x17B5),
    (0x180B, 0x180F),
    (0x200B, 0x200F),
    (0x202A, 0x202E),
    (0x2060, 0x206F),
    (0x3164, 0x3164),
    (0xFE00, 0xFE0F),
    (0xFEFF, 0xFEFF),
    (0xFFA0, 0xFFA0),
    (0xFFF0, 0xFFFB),
    (0x1BCA0, 0x1BCA3),
    (0x1D173, 0x1D17A),
    (0xE0000, 0xE0FFF),
)
_INVISIBLE = re.compile(
    "[" + "".join(f"{chr(first)}-{chr(last)}" for first, last in _INVISIBLE_RANGES) + "]"
)
_UNSHOWN_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})


Form: TypeAlias = Literal["NFC", "NFD", "NFKC", "NFKD"]
# What may hold a mark: no mark is a letter or a digit, but two letters of half width become marks.
_RUN = re.compile(r"(?:[^\w\x00-\x7f]|[\uff9e\uff9f]){9,}+")
_DECOMPOSED: Mapping[Form, Form] = {"NFC": "NFD", "NFKC": "NFKD"}
_PART = 32
# So many characters take some ten milliseconds at worst.
_QUICK = 20_000
_LONGEST = 500_000


def normal_form(text: str, form: Form = "NFC") -> str:
    """Return `text` in a normal form of Unicode; the work is linear.

    `unicodedata` alone exchanges neighbours until the marks of a letter are in order, which takes
    minutes for a few hundred kilobytes of marks. Here, long runs of them are sorted first.
    """
    if text.isascii():
        return text

    apart: Form = _DECOMPOSED.get(form, form)

    def in_order(run: re.Match[str]) -> str:
        # Once: each time a match is asked for its text, that is copied.
        text = run[0]
        if unicodedata.is_normalized(apart, text):
            return text
        parts = (text[at : at + _PART] for at in range(0, len(text), _PART))
        chars = "".join(unicodedata.normalize(apart, part) for part in parts)
        if unicodedata.is_normalized(apart, chars):
            return chars
        groups = groupby(chars, key=lambda char: unicodedata.combining(char) > 0)
        return "".join(char for _, one in groups for char in sorted(one, key=unicodedata.combining))

    return unicodedata.normalize(form, _RUN.sub(in_order, text))


def normalise(text: str) -> str:
    """Return `text` in Unicode's composed form (NFC), in which all text is compared."""
    return normal_form(text)


def without_invisible(text: str) -> str:
    """Return `text` in NFC without invisible and bidirectional characters."""
    if text.isascii():
        return text
    while True:
        shorter = normal_form(_INVISIBLE.sub("", text))
        if shorter == text:
            return text
        text = shorter


def first_visible(text: str) -> str:
    """Return the first character that is not invisible; nothing if there is none."""
    return _INVISIBLE.sub("", text)[:1]


def role_of(text: str) -> str:
    """Return the role that a string stands for; a disguised spelling of `guest` is that role."""
    read = without_invisible(text).strip().casefold()
    return read if read in _ROLES_OF_NOBODY else normalise(text)


# `guest` and the roles that identify nobody: these are recognised in any spelling.
_ROLES_OF_NOBODY = frozenset({"", "anonymous", "guest"})


def is_ordinary(text: str) -> bool:
    """Return whether `text` is in NFC and has no invisible character."""
    if text.isascii():
        return True
    # A text of which that is not clear at once is in order, and so normalised in linear work.
    return _INVISIBLE.search(text) is None and unicodedata.is_normalized("NFC", text)


def takes_long(text: str, form: Form = "NFC", *, quick: int = _QUICK) -> bool:
    """Return whether a text takes long to normalise: it is very long, or no text of people.

    Such are long runs of marks, and characters that stand for many others in a compatible form.
    Up to `quick` of them do not.
    """
    if text.isascii() or len(text) <= quick:
        return False
    if len(text) > _LONGEST:
        return True
    apart: Form = _DECOMPOSED.get(form, form)
    disordered = 0
    for run in _RUN.finditer(text):
        if not unicodedata.is_normalized(apart, run[0]):
            disordered += run.end() - run.start()
        if disordered > quick:
            return True
    return "K" in form and _added(text, form) > 2 * len(text)


def _added(text: str, form: Form) -> int:
    """Return about how many characters more the form has, by those that stand for many others."""
    added = {char: len(unicodedata.normalize(form, char)) - 1 for char in set(text)}
    return sum(more * text.count(char) for char, more in added.items() if more > 2)


def is_encodable(text: str) -> bool:
    """Return whether `text` is valid Unicode, without a lone surrogate."""
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def has_control(text: str) -> bool:
    """Return whether `text` has a control character: NUL, tab, new line, escape and the like."""
    return _CONTROL.search(text) is not None


_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f]")


def compare_text(test: Callable[[str], bool], text: str) -> bool | None:
    """Run `test` on `text` in NFC; None if removing invisible characters changes the answer.

    None also for a text that takes long to normalise.
    """
    if is_ordinary(text):
        return test(text)
    if takes_long(text):
        return None
    text = normalise(text)
    answer = test(text)
    return answer if test(without_invisible(text)) == answer else None


def escape_for_display(text: str, limit: int) -> str:
    r"""Return `text` fit for display: nothing hidden, nothing moved, at most `limit` characters.

    Control, bidirectional and invisible characters become `\u{…}`; a longer text is cut, and the
    number of characters left out is appended: `…[+12]`.
    """
    shown: list[str] = []
    room = limit
    for count, char in enumerate(text):
        piece = _shown(char)
        room -= len(piece)
        if room < 0:
            return f"{''.join(shown)}…[+{len(text) - count}]"
        shown.append(piece)
    return "".join(shown)


def _shown(char: str) -> str:
    return f"\\u{{{ord(char):x}}}" if is_hidden(char) else char


def is_hidden(char: str) -> bool:
    """Return whether a character shows nothing, moves others, or has no agreed form."""
    category = unicodedata.category(char)
    return category in _UNSHOWN_CATEGORIES or _INVISIBLE.match(char) is not None


def quote(text: str) -> str:
    """Return `text` for a reason: escaped, at most 40 characters, between backticks."""
    return f"`{escape_for_display(text, 40)}`"
