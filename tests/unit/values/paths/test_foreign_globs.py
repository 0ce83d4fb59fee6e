"""Patterns of other glob dialects are refused, naming the character that shows it."""

from __future__ import annotations

import pytest

from policy.values import (
    Path,
    PathContext,
    PathPattern,
    Unreadable,
    path_in,
    read_path,
    read_path_pattern,
)

CONTEXT = PathContext(cwd="/w", home="/h", workspace="/w")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("$HOME/.ssh/**", "~/"),
        ("${HOME}/.ssh/**", "~/"),
        ("/srv/$TMPDIR/x", "variables"),
        ("%APPDATA%/x", "variables"),
        ("C:\\Windows\\**", "Windows"),
        ("c:/Windows", "Windows"),
        ("\\\\server\\share\\x", "Windows"),
        ("src\\**", "backslash"),
        ("a\\b", "backslash"),
        ("a\\\\b", "backslash"),
        ("/etc/shadow ", "blank"),
        (" /etc/shadow", "blank"),
        ("!/a/b", "except"),
        ("/a/[bc]/d", "`[…]`"),
        ("/a/{b,c}/d", "`{…}`"),
        ("/a/{1..3}/d", "`{…}`"),
        ("/a/@(b|c)/d", "parentheses"),
        ("**.pem", "**/*.pem"),
        ("/a/b**/c", "whole segment"),
        ("/a/***", "whole segment"),
    ],
)
def test_an_item_of_another_dialect_is_refused_with_what_to_write(text: str, why: str) -> None:
    found = read_path_pattern(text)
    assert isinstance(found, Unreadable)
    assert why in found.reason


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("/a/\\[id\\]/page", "/a/[id]/page"),
        ("/a/\\[id]/page", "/a/[id]/page"),
        ("/a/\\{b,c\\}", "/a/{b,c}"),
        ("/a/\\$HOME", "/a/$HOME"),
        ("\\!a", "/w/!a"),
        ("/a/{id}/b", "/a/{id}/b"),
        ("/a/Outer$Inner.class", "/a/Outer$Inner.class"),
        ("/a/two words/b", "/a/two words/b"),
        ("/home/*/.*", "/home/ada/.bashrc"),
    ],
)
def test_an_item_that_means_its_characters_fits_them(text: str, path: str) -> None:
    pattern = read_path_pattern(text)
    assert isinstance(pattern, PathPattern)
    read = read_path(path, CONTEXT)
    assert isinstance(read, Path)
    assert path_in(read, (pattern,), (), CONTEXT) is True
