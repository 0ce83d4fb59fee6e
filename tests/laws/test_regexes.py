"""Regular expressions that are matched without RE2 match the same strings as with RE2."""

from __future__ import annotations

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from policy.values import Regex, StringRegex, Unreadable, compile_regex, compile_without_shortcuts

# The Kelvin sign and the long s are the other case of letters of ASCII.
_TEXTS = st.text("abkKsS\u212a\u017f; -\n\\.\r\tB09\v_é", max_size=12)
_ATOMS = st.sampled_from(
    r"a b k K s S ; - é _ ab ks \. \n \\ ^ $ \A \z \s \d \w \b \B \- \_ \x61 \pL \Qa.b\E . .* .+"
    r" [ab] [^a] [a-c;] []a] [a-] [\]\n] [\d_] [k-s] [0-9] [[:alpha:]]".split()
) | st.sampled_from([" ", "; ", "\n", "\\ "])
_TIMES = st.sampled_from(
    ["", "", "", "?", "*", "+", "{2}", "{0,2}", "{1,}", "{0}", "*?", "??", "{a"]
)


def _larger(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return (
        st.lists(inner, min_size=1, max_size=4).map("".join)
        | st.lists(inner, min_size=1, max_size=3).map(lambda each: f"({'|'.join(each)})")
        | st.builds(lambda each, times: f"(?:{each}){times}", inner, _TIMES)
        | st.builds(lambda each: f"(?P<x>{each})", inner)
    )


_BODIES = st.recursive(st.builds(lambda a, t: a + t, _ATOMS, _TIMES), _larger, max_leaves=8)
_FLAGS = st.sampled_from(["", "", "(?i)", "(?s)", "(?is)", "(?m)"])
_SOURCES = (
    st.builds(lambda flags, body: flags + body, _FLAGS, _BODIES)
    | st.lists(_BODIES, min_size=2, max_size=3).map("|".join)
    | st.text("ab^$.|()[]{}*+?\\-,20isPn:<>", max_size=10)
)


@given(_SOURCES, st.lists(_TEXTS, min_size=1, max_size=8))
@example("^(DROP|TRUNCATE|ALTER) ", ["DROP x", "x DROP x", "DROP"])
@example("(^|; )(sudo|rm -rf|curl) ", ["sudo x", "a; curl x", "a curl x", "; sudo"])
@example("a$", ["a\n", "a", "ba", "ab"])
@example("(?i)k", ["\u212a", "K"])
@example("^.*$", ["a", "a\n", "\n", ""])
@example("(a|$)(^|b)", ["", "ab", "b", "a"])
def test_a_prefilter_answers_as_re2_does(source: str, texts: list[str]) -> None:
    quick, slow = compile_regex(source), compile_without_shortcuts(source)
    assert quick == slow
    assume(isinstance(quick, Regex) and isinstance(slow, Regex))
    assert isinstance(quick, Regex)
    assert isinstance(slow, Regex)
    for text in texts:
        assert quick.found_in(text) == slow.found_in(text), text
        assert quick.matches_whole(text) == slow.matches_whole(text), text


@pytest.mark.parametrize(
    ("source", "plain"),
    [
        ("^(DROP|TRUNCATE) ", StringRegex(starts=("DROP ", "TRUNCATE "))),
        ("--force", StringRegex(contains=("--force",))),
        (
            "(^|; )(sudo|rm -rf) ",
            StringRegex(starts=("sudo ", "rm -rf "), contains=("; sudo ", "; rm -rf ")),
        ),
        (r"\.(pem|key)$", StringRegex(ends=(".pem", ".key"))),
        ("^(main|master)$", StringRegex(equals=("main", "master"))),
        ("(?i)drop table", StringRegex(contains=("drop table",), lower=True)),
        ("^deploy-.*$", StringRegex(starts=("deploy-",), one_line=True)),
        ("rm -rf .*", StringRegex(contains=("rm -rf ",))),
        ("rm +-rf", None),
        (r"\bsudo\b", None),
        ("^a*b", None),
    ],
)
def test_a_simple_search_is_recognised(source: str, plain: StringRegex | None) -> None:
    regex = compile_regex(source)
    assert isinstance(regex, Regex)
    assert regex.search_shortcut == plain


@pytest.mark.parametrize(
    ("source", "plain"),
    [
        ("a|b", StringRegex(equals=("a", "b"))),
        ("deploy-.*", StringRegex(starts=("deploy-",), one_line=True)),
        ("(?s).*x.*", StringRegex(contains=("x",))),
        ("[a-z]+", None),
    ],
)
def test_a_simple_full_match_is_recognised(source: str, plain: StringRegex | None) -> None:
    regex = compile_regex(source)
    assert isinstance(regex, Regex)
    assert regex.full_match_shortcut == plain


@pytest.mark.parametrize("source", ["(" * 300 + "a" + ")" * 300, "([ab]{9}){9}" * 40, "a|" * 4_000])
def test_large_sources_are_compiled_in_no_time(source: str) -> None:
    assert not isinstance(compile_regex(source), Unreadable)


def test_matching_invalid_unicode_is_indeterminate() -> None:
    for source in ("a", "(?i)a", "a+b"):
        regex = compile_regex(source)
        assert isinstance(regex, Regex)
        assert regex.found_in("\ud800a") is None
        assert regex.matches_whole("\ud800a") is None
