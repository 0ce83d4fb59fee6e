"""What a path may be read as, told by single characters, against the whole text in another form."""

from __future__ import annotations

from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policy.values import PathContext, Unreadable, normal_form, read_path, without_invisible
from policy.values.paths import spelling

_TEXTS = st.text("/.~a\u0301\u0338\u200b…‥․．／＼é℀⁄ﷺ①⒈\u034f", max_size=8)


def _dots(text: str) -> int:
    return sum(part in (".", "..") for part in text.split("/"))


@given(_TEXTS)
def test_characters_that_become_others_are_told_as_in_the_whole_text(text: str) -> None:
    other = normal_form(text, "NFKC")
    slashes = other.count("/") != text.count("/") or "\\" in other
    assert spelling._compatible_differs(text) == (slashes or _dots(other) != _dots(text))
    first = without_invisible(text)[:1]
    assert spelling._hides_its_beginning(text) == (first in ("/", "~") and first != text[:1])


@pytest.mark.parametrize("text", ["x" + "\u0301\u0323" * 1_900, "\ufdfa…" * 1_000, "é" * 4_000])
def test_a_path_is_read_without_making_its_compatible_form(text: str) -> None:
    handed: list[int] = []

    def noting(text: str, *form: str) -> str:
        handed.append(len(text))
        return normal_form(text, *form)  # type: ignore[arg-type]

    with patch.object(spelling, "normal_form", noting):
        found = read_path(text, PathContext(cwd="/work", workspace="/work"))
    assert sum(handed) <= len(set(text))
    assert isinstance(found, Unreadable) == text.startswith("x")
