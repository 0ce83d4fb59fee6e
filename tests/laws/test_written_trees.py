"""What a program may write below a tree: no file that it may write is overlooked by a pattern."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policy.values import (
    Reach,
    begins_above,
    compile_name_glob,
    compile_path_glob,
    globs_intersect,
    reaches,
)

_SEGMENTS = st.sampled_from(["a", "b", ".a", "*", "?", ".*", "*a", "a?", "**"])
_GLOBS = st.lists(_SEGMENTS, min_size=1, max_size=4).map("/".join)
_NAMES = ("a", "b", ".a", "ab", "ba")
_TREES = ("/", "/a", "/a/b", "/.a")
_BELOW = [
    "/".join(names) for count in (1, 2, 3) for names in itertools.product(_NAMES, repeat=count)
]
_TEXTS = ["".join(each) for count in range(5) for each in itertools.product("ab", repeat=count)]
_LETTERS = st.text("ab*?", max_size=3)


@given(_LETTERS, _LETTERS)
def test_two_globs_intersect_if_some_text_matches_both(one: str, other: str) -> None:
    first, second = compile_name_glob(one), compile_name_glob(other)
    # Two patterns of three characters that share a text share one of at most four.
    found = any(first(text) and second(text) for text in _TEXTS)
    assert globs_intersect(one, other) == found


@given(_GLOBS, _GLOBS, st.sampled_from(_TREES))
def test_a_file_that_is_written_is_met(pattern: str, below: str, tree: str) -> None:
    wanted, written = f"/{pattern}", Reach(globs=(below,))
    matches, reached = compile_path_glob(wanted), compile_path_glob(below)
    paths = [f"{tree.rstrip('/')}/{path}" for path in _BELOW if reached(path)]
    if any(map(matches, paths)):
        assert reaches(written, wanted, tree)


@pytest.mark.parametrize(
    ("pattern", "tree", "begins"),
    [
        ("**/.git/hooks/**", "/work/.git", True),
        ("**/.git/hooks/**", "/work/.git/hooks/x", True),
        ("**/.git/hooks/**", "/work/.git/info", False),
        ("**/.git/hooks/**", "/work", False),
        ("**/a/*/b", "/work/a/x", True),
        ("**", "/work", True),
        ("/work/**", "/work", False),
    ],
)
def test_a_floating_pattern_begins_in_the_folders_of_a_tree(
    pattern: str, tree: str, begins: bool
) -> None:
    assert begins_above(pattern, tree) == begins
