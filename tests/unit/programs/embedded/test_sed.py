"""Sed scripts are read as GNU sed and its relatives read them."""

from __future__ import annotations

import pytest

from policy.programs.embedded.sed import read_sed

HARMLESS = [
    ":a;N;$!ba;s/\\n/ /g",
    ":a\ns/x/y/\nta",
    "/x/{s/a/b/;b};p",
    "$!{$!N;ba};s/x/]/",
    ":a N;$!ba",
    "b end; s/x/y/; :end",
    "v 4.2",
    "s/x/[/;s/y/]/",
    "s/[^\\]]*/[x]/",
    "s/[[:alpha:]\\/]/]/",
    "s/[a\\/b]/x/g ; p",
    "s#[^/]*/##",
    "s/[/]/x/g",
    "s,[^,]*$,,",
    "/[/]/s/[]/]/y/",
    "y/[]/()/",
    "/x/ I,/y/M p",
    "$!{a foo: w out\n}",
    "a\\\n\\\nw out",
    "s/a\\\nb/c\\\nd/",
    "y/abc/xyz/;1!G;h;$!d",
]
RUNS = [
    ":a e id",
    ":a\te id",
    "1!b x e id\n:x",
    "t x e id",
    "Tx e id",
    "v 4.2 e id",
    "{b}e id",
    "s/a/b/ e",
    # In brackets `/` is a character: the second `s` of one reading is the replacement of another.
    "s/[]/]/g;s/;e id\n#/x/",
    "s/[[:alpha:]/]/e id/e",
    "s/[^\\]/x/;s/]/e id/",
    "y/[/]/;e id/x/",
    "s/[\\]/e id/;s/x/]/",
    # The text of an `a` that another option begins ends at the line's end.
    "s/x/q\ne id\n/",
    "s\xe9a\xe9b\xe9",
]
FILES = [
    (":a r .env", [("reads", ".env")]),
    (":a w .env", [("writes", ".env")]),
    ("v 4.2 w out", [("writes", "out")]),
    ("s/a/b/ w out", [("writes", "out")]),
    ("w out ", [("writes", "out ")]),
    # One reading's label is another's command.
    (":a R one\nW two;three", [("reads", "one"), ("writes", "two;three")]),
    (":a a\\\nw out", [("writes", "out")]),
]


@pytest.mark.parametrize("script", HARMLESS)
def test_a_script_over_the_text_alone_has_no_effects(script: str) -> None:
    assert read_sed(script).accesses == ()
    assert not read_sed(script).gap


@pytest.mark.parametrize("script", RUNS)
def test_a_script_that_may_run_commands_says_so(script: str) -> None:
    assert read_sed(script).gap


@pytest.mark.parametrize(("script", "accesses"), FILES)
def test_the_files_of_a_script_are_found(script: str, accesses: list[tuple[str, str]]) -> None:
    assert [(one.verb, one.name) for one in read_sed(script).accesses] == accesses
