"""The encodings that files can be read in, by their usual names; each reads in linear time."""

from __future__ import annotations

import os
import time

import pytest

from policy.admission import Admitted, RawCall, admit
from policy.catalog import ENCODINGS, builtin_catalog

_SIZE = 2_000_000


def read_with(encoding: str) -> str | None:
    """Return the encoding that a call is admitted with; None where it is refused."""
    call = RawCall(tool="file_read", input={"path": "a", "encoding": encoding})
    found = admit(call, builtin_catalog())
    return str(found.call.input["encoding"]) if isinstance(found, Admitted) else None


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_a_file_of_the_largest_size_is_decoded_at_once(encoding: str) -> None:
    for data in (os.urandom(_SIZE), b"a-" * (_SIZE // 2), b"\x1b$B" * (_SIZE // 3)):
        began = time.process_time()
        data.decode(encoding, "replace")
        assert time.process_time() - began < 2


@pytest.mark.parametrize(
    ("given", "read"),
    [
        ("utf-8", "utf-8"),
        ("UTF8", "utf-8"),
        ("utf_16_le", "utf-16-le"),
        ("ISO-8859-1", "latin-1"),
        ("Windows-1252", "cp1252"),
        ("Shift_JIS", "shift_jis"),
        ("GBK", "gb18030"),
    ],
)
def test_usual_names_stand_for_the_listed_ones(given: str, read: str) -> None:
    assert read_with(given) == read


@pytest.mark.parametrize(
    "encoding",
    ["punycode", "idna", "PunyCode", "utf-7", "unicode_escape", "rot13", "zlib", "", "x"],
)
def test_no_other_is_admitted(encoding: str) -> None:
    assert read_with(encoding) is None
