"""Globs, by type of pattern; the laws compare them with exhaustive search."""

from __future__ import annotations

import pytest

from policy.values import compile_name_glob, compile_path_glob, has_wildcard, literal_text


@pytest.mark.parametrize(
    ("pattern", "matches", "misses"),
    [
        ("file_read", ["file_read"], ["file_reads", "File_read", "xfile_read", ""]),
        ("file_*", ["file_", "file_read"], ["file", "xfile_a"]),
        ("*_read", ["_read", "file_read"], ["read", "file_reads"]),
        ("a?", ["ab", "aa"], ["a", "abc"]),
        ("*", ["", "anything", "a\nb"], []),
        ("a*b*c", ["abc", "axxbyyc"], ["acb", "ab"]),
        ("ab*ba", ["abba", "abxba"], ["aba"]),
        ("", [""], ["a"]),
        (r"a\*", ["a*"], ["ab", r"a\b"]),
        (r"a\b", [r"a\b"], ["ab"]),
        ("[ab]", ["[ab]"], ["a"]),
    ],
)
def test_a_name_glob_is_anchored(pattern: str, matches: list[str], misses: list[str]) -> None:
    test = compile_name_glob(pattern)
    assert [text for text in matches if not test(text)] == []
    assert [text for text in misses if test(text)] == []


@pytest.mark.parametrize(
    ("pattern", "matches", "misses"),
    [
        (
            "/srv/work/**",
            ["/srv/work", "/srv/work/a/b"],
            ["/srv/work-evil/a", "/srv", "/srv/workx"],
        ),
        ("**/.env", [".env", "/.env", "/a/b/.env"], ["/a/.env/b", "/a/x.env", "/.envx"]),
        ("**/.git/**", ["/a/.git", "/a/.git/config", ".git"], ["/a/.github/x"]),
        ("/a/*/c", ["/a/b/c"], ["/a/c", "/a/b/b/c"]),
        ("/a/*.py", ["/a/x.py", "/a/.py"], ["/a/b/x.py"]),
        ("/a/**/c", ["/a/c", "/a/b/c", "/a/b/b/c"], ["/a/b", "/x/a/c"]),
        ("/**", ["/", "/a", "/a/b"], ["", "a"]),
        ("**", ["", "/", "a/b", "/a"], []),
        ("/", ["/"], ["", "/a"]),
        ("/a**b", ["/ab", "/axb"], ["/a/b"]),
    ],
)
def test_a_path_glob_keeps_to_segments(pattern: str, matches: list[str], misses: list[str]) -> None:
    test = compile_path_glob(pattern)
    assert [text for text in matches if not test(text)] == []
    assert [text for text in misses if test(text)] == []


def test_only_an_unescaped_wildcard_is_one() -> None:
    assert has_wildcard("a*") and has_wildcard("?")
    assert not has_wildcard(r"a\*") and not has_wildcard("a[b]")
    assert literal_text(r"a\*\?\\") == "a*?\\"
    assert literal_text("a*") is None
