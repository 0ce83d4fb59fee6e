"""Words that may be a command line or code are told from names, paths, globs and texts."""

from __future__ import annotations

import pytest

from policy.programs.words.possible_code import may_be_code
from policy.shell import Word


@pytest.mark.parametrize(
    ("before", "text"),
    [
        ("-x", "git push"),
        ("--onSuccess", "cp a b"),
        ("exec", "cat .env"),
        ("-build.cmd", "a&&b"),
        ("--x", "`id`"),
        ("-pe", "process.exit()"),
        ("run", "a;b"),
        ("run", "$(id)"),
        ("run", "a|b"),
        ("run", "cat<.env"),
        ("run", "x=cp a b"),
        ("run", "PAGER=cat .env"),
        ("run", "--x=cat .env"),
        ("run", "https://a.example/;id"),
        ("-T", "rm x"),
    ],
)
def test_a_command_line_and_code_are_seen(before: str, text: str) -> None:
    assert may_be_code(Word(text), Word(before))


@pytest.mark.parametrize(
    ("before", "text"),
    [
        ("", "build"),
        ("--port", "3000"),
        ("", "src/**/*.{ts,tsx}"),
        ("", "src/**/!(*.spec).ts"),
        ("", "app/(shop)/[id]/page.tsx"),
        ("", "@scope/pkg@^1.2.0"),
        ("", ">=1.2 <2"),
        ("", "KEY=value"),
        ("", "-DCMAKE_CXX_FLAGS=-Wall -Wextra"),
        ("", '--define:process.env.MODE="production"'),
        ("", "http://localhost:3000/?a=b&c=d"),
        ("", "tests/a.py::test_x[1-2]"),
        ("-t", "adds two numbers"),
        ("-k", "a and not b"),
        ("--grep", "a|b"),
        ("-m", "it's done; really"),
        ("", "--testNamePattern=adds (two) numbers"),
        ("", "--filter=...[origin/main]"),
    ],
)
def test_everyday_words_are_no_code(before: str, text: str) -> None:
    assert not may_be_code(Word(text), Word(before) if before else None)
