"""Patterns as languages, against the engine's own matchers and RE2."""

from __future__ import annotations

import pytest
import re2
from hypothesis import assume, example, given
from hypothesis import strategies as st

from policy.checks import checked
from policy.solving import Language, contains, language
from policy.symbolic.patterns.globs import PATHS, as_path, path_glob, text_glob
from policy.symbolic.patterns.regexes import Unread, found_in_text, whole_text
from policy.symbolic.patterns.texts import language_of
from policy.values import compile_path_glob, compile_text_glob

CONSTANT = checked.Constant(value="")


@given(st.text("ab*?\\", max_size=6), st.text("ab*\n\\", max_size=6))
def test_a_glob_is_the_strings_that_it_matches(pattern: str, text: str) -> None:
    assert contains(language(text_glob(pattern)), text) == compile_text_glob(pattern)(text)


SEGMENTS = st.sampled_from(("a", "b", "ab", "*", "a*", "?", "*b", "**", "a?b", "\\*"))
GLOBS = st.builds(
    lambda start, parts: start + "/".join(parts),
    st.sampled_from(("/", "**/")),
    st.lists(SEGMENTS, min_size=1, max_size=4),
) | st.sampled_from(("/", "**", "/**"))
NAMES = st.sampled_from(("a", "b", "ab", "aa", "x", "aab", "*"))


@given(GLOBS, st.lists(NAMES, max_size=5))
@example("**/*", [])
@example("/**/a", ["a"])
def test_a_glob_of_paths_is_the_paths_that_it_matches(pattern: str, names: list[str]) -> None:
    text = "".join(f"/{name}" for name in names)
    assert contains(language(PATHS), text)
    matches = compile_path_glob(pattern)(as_path(text))
    assert contains(language(path_glob(pattern)), text) == matches


ATOMS = st.sampled_from(
    (
        "a",
        "b",
        "k",
        "S",
        ".",
        "^",
        "$",
        r"\b",
        r"\B",
        r"\A",
        r"\z",
        r"\d",
        r"\w",
        r"\W",
        r"\s",
        r"\n",
        r"\.",
        r"\x41",
        "[ab]",
        "[^a]",
        "[a-c_-]",
        r"[\W\d]",
        "[[:alpha:]]",
        "é",
        "{",
        "]",
    )
)
SOURCES: st.SearchStrategy[str] = st.recursive(
    ATOMS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4).map("".join),
        st.lists(inner, min_size=1, max_size=3).map(lambda parts: f"({'|'.join(parts)})"),
        st.builds(
            "{}(?:{}){}".format,
            st.sampled_from(("", "(?i)", "(?s)", "(?i-s)")),
            inner,
            st.sampled_from(("", "*", "+", "?", "*?", "{2}", "{0,2}", "{1,}")),
        ),
    ),
    max_leaves=6,
)
TEXTS = st.text("abkKsS\u212a\u017f_1 .\nAé{", max_size=6)


def _read(source: str, text: str) -> tuple[Language, Language]:
    options = re2.Options()
    options.log_errors = False
    try:
        re2.compile(source, options)
    except re2.error:
        assume(False)
    try:
        return language(whole_text(source)), language(found_in_text(source))
    except Unread:
        assume(False)
        raise


@given(SOURCES, TEXTS)
@example("(?i)k", "\u212a")
@example(r"(?i)\W", "\u212a")
@example(r"(?i)[^k]", "\u212a")
@example(r"\b", "")
@example(r"\B", "")
@example("a$", "a\n")
@example(r"\ba|b\b", "a b")
@example("(?i:a)a", "AA")
def test_a_regular_expression_is_the_strings_that_it_matches(source: str, text: str) -> None:
    whole, found = _read(source, text)
    encoded = text.encode()
    assert contains(whole, text) == (re2.fullmatch(source, encoded) is not None)
    assert contains(found, text) == (re2.search(source, encoded) is not None)


@pytest.mark.parametrize("source", ["(?m)^a", r"\pL", "(?i)é", r"\Qa\E", "[[:^alpha:]]", r"\07"])
def test_an_expression_whose_meaning_is_not_certain_is_not_read(source: str) -> None:
    with pytest.raises(Unread):
        whole_text(source)
    test = checked.RegexTest(left=CONSTANT, pattern=source, whole=True, text="")
    assert language_of(test) is None
