"""A label that asks for what is not kept is told what to ask instead."""

from __future__ import annotations

import pytest

from tests.unit.checks.checking import all_of


@pytest.mark.parametrize(
    ("label", "instead"),
    [
        ('a on results of file_read when reads "/v/**"', "`unless input.path matches /PATTERN/`"),
        (
            'a on results of web_fetch unless connects only to "a.example"',
            "`unless url(input.url).host in HOSTS`",
        ),
        ('a on results of file_write when runs "ls"', "`unless input.FIELD matches /PATTERN/`"),
        ('a on results of file_read when user.id == "u"', "fields of `input` and `result` alone"),
    ],
)
def test_the_help_names_the_field_that_holds_the_resource(label: str, instead: str) -> None:
    (found,) = [one for one in all_of(f"label {label}\n") if one.code == "bad-label"]
    assert instead in found.help
