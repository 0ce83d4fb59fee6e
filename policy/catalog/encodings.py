"""The text encodings that a file can be read in: those whose reading takes linear time.

Python knows some hundred more, and two of them (`punycode`, `idna`) take quadratic time: a file of
two megabytes kept a thread busy for minutes after its call had ended.
"""

from __future__ import annotations

from typing import Any, Literal, TypeAlias, get_args

Encoding: TypeAlias = Literal[
    "utf-8",
    "utf-8-sig",
    "utf-16",
    "utf-16-le",
    "utf-16-be",
    "utf-32",
    "ascii",
    "latin-1",
    "iso-8859-2",
    "iso-8859-15",
    "cp1250",
    "cp1251",
    "cp1252",
    "koi8-r",
    "shift_jis",
    "euc-jp",
    "gb18030",
    "big5",
    "euc-kr",
]
ENCODINGS: tuple[str, ...] = get_args(Encoding)

# Other names of these, in lower case, with `-` for `_` and blanks.
_OTHER_NAMES = {
    "utf8": "utf-8",
    "utf8-sig": "utf-8-sig",
    "utf16": "utf-16",
    "utf16le": "utf-16-le",
    "utf-16le": "utf-16-le",
    "utf16be": "utf-16-be",
    "utf-16be": "utf-16-be",
    "utf32": "utf-32",
    "us-ascii": "ascii",
    "latin1": "latin-1",
    "iso-8859-1": "latin-1",
    "iso8859-1": "latin-1",
    "l1": "latin-1",
    "latin2": "iso-8859-2",
    "iso8859-2": "iso-8859-2",
    "latin9": "iso-8859-15",
    "iso8859-15": "iso-8859-15",
    "windows-1250": "cp1250",
    "windows-1251": "cp1251",
    "windows-1252": "cp1252",
    "koi8r": "koi8-r",
    "shift-jis": "shift_jis",
    "sjis": "shift_jis",
    "eucjp": "euc-jp",
    "gbk": "gb18030",
    "gb2312": "gb18030",
    "big-5": "big5",
    "euckr": "euc-kr",
}


def listed_encoding(value: Any) -> Any:
    """Return the listed name of an encoding, given by any usual name."""
    if not isinstance(value, str):
        return value
    name = value.strip().lower().replace("_", "-").replace(" ", "-")
    return _OTHER_NAMES.get(name, name)
