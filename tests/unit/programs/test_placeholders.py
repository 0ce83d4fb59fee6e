"""What replaces the placeholders of `find -exec`, `fd -x` and `xargs -I` in words."""

from __future__ import annotations

import pytest

from policy.programs.found_paths import NOT_SEARCHED, FoundPaths
from policy.programs.placeholders import OF_FIND, USUAL, Placeholders
from policy.shell import Word

FOUND = FoundPaths("src")
FOUND_WORD = FOUND.word()


@pytest.mark.parametrize(
    ("placeholders", "word", "replaced"),
    [
        (OF_FIND, Word("a"), Word("a")),
        (OF_FIND, Word("{}"), FOUND_WORD),
        (OF_FIND, Word("{/}"), Word("{/}")),
        (OF_FIND, Word("a{}b"), Word("a", "opaque")),
        (OF_FIND, Word("{}b"), Word("src", "opaque")),
        (USUAL, Word("{/}"), Word("", "opaque", many=True)),
        (USUAL, Word("{//}/../../x"), Word("", "opaque", many=True)),
        (USUAL, Word("x{.}{}"), Word("x", "opaque", many=True)),
        # The literal end of a word is none if something replaces it.
        (OF_FIND, Word("", "opaque", tail="/{}"), Word("", "opaque")),
        (OF_FIND, Word("", "opaque", tail="/a"), Word("", "opaque", tail="/a")),
        (OF_FIND, Word("", "opaque", below_start="{}/a"), Word("", "opaque", many=True)),
        (Placeholders(wholes=("a", "b")), Word("cba"), Word("c", "opaque")),
    ],
)
def test_a_placeholder_stands_for_words_that_are_not_known(
    placeholders: Placeholders, word: Word, replaced: Word
) -> None:
    assert placeholders.replaced(word, FOUND) == replaced


def test_a_path_of_no_known_search_is_not_known() -> None:
    assert OF_FIND.replaced(Word("{}"), NOT_SEARCHED) == Word("", "opaque")
