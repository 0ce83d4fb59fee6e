"""What is read without click is what click reads; what is not plain is left to it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import pytest
from hypothesis import given
from hypothesis import strategies as st

from policy.cli import plain
from policy.cli.decide import command

WORDS = (
    "--catalog", "--call", "--lexical", "--cache", "--no-cache", "-h", "--help", "--cat", "--", "-",
    "--call=calls", "--unknown", "rules", "rules/a.policy", "rules/b.txt", "none", "calls", "pipe",
    "", "\0", "secret", "rules/", "rules/a.policy/", "calls/", "./calls", "rules/../rules",
)  # fmt: skip


@pytest.fixture(scope="module", autouse=True)
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    before = Path.cwd()
    os.chdir(tmp_path_factory.mktemp("place"))
    Path("rules").mkdir()
    for name in ("rules/a.policy", "rules/b.txt", "calls", "secret"):
        Path(name).write_text("")
    Path("secret").chmod(0)
    yield
    os.chdir(before)


def comparable(given: dict[str, Any] | None) -> dict[str, Any] | None:
    if given is None:
        return None
    file = given.pop("call_file")
    if file is not None:
        file.close()
    places = {name: Path(given[name]) for name in ("path", "catalog_file") if given[name]}
    return given | places | {"call": file and (os.fspath(file.name), file.mode)}


def by_click(words: list[str]) -> dict[str, Any] | None:
    try:
        return comparable(command.make_context("decide", list(words)).params)
    except (click.ClickException, click.exceptions.Exit, ValueError):
        return None


@given(st.lists(st.sampled_from(WORDS), max_size=6))
def test_plain_words_are_read_as_click_reads_them(words: list[str]) -> None:
    read = comparable(plain.read(words))
    assert read is None or read == by_click(words)


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["rules"],
        ["rules/a.policy", "--lexical"],
        ["--call", "calls", "rules", "--catalog", "calls", "--cache"],
        ["--no-cache"],
    ],
)
def test_what_is_plain_needs_no_click(words: list[str]) -> None:
    assert comparable(plain.read(words)) == by_click(words) is not None


@pytest.mark.parametrize(
    ("words", "environment"),
    [
        (["decide", "--help"], {}),
        (["check"], {}),
        ([], {}),
        (["decide", "none"], {}),
        (["decide", "none"], {"PLACET_NO_FAST": "cache"}),
        (["decide", ""], {}),
        (["decide", "rules/a.policy/"], {}),
        (["decide", "--catalog", ""], {}),
        (["decide", "--call", "calls/"], {}),
    ],
)
def test_anything_else_is_left_to_click(words: list[str], environment: dict[str, str]) -> None:
    assert not plain.decided(words, environment)


@pytest.mark.parametrize("name", ["_PLACET_COMPLETE", "PLACET_NO_FAST"])
def test_an_unusual_environment_is_left_to_click(name: str) -> None:
    assert not plain.decided(["decide", "rules"], {name: "bash_source"})
