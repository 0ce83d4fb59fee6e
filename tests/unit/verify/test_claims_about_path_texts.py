"""Claims about the text of an argument, beside rules about the path that it names."""

from __future__ import annotations

import pytest

from policy.catalog import Resource
from tests.unit.verify.file_tools import COPY, READ, TEXT
from tests.unit.verify.proving import proof, tool

BOTH = tool(
    "both",
    {"one": TEXT, "other": TEXT},
    Resource(verb="reads", steps=("one",), tree=False),
    Resource(verb="reads", steps=("other",), tree=False),
)


@pytest.mark.parametrize(
    ("denied", "claim", "status"),
    [
        ('reads "/etc/**"', 'input.path == "/etc/passwd"', "holds"),
        ('reads "/etc/**"', 'input.path in ["/etc/passwd", "/etc/shadow"]', "holds"),
        ('reads "/etc/**"', "input.path matches /\\/etc\\/[a-z]+/", "holds"),
        ('reads "**/.env"', 'input.path == ".env"', "holds"),
        ('reads "**/.env"', 'input.path ends with "/.env"', "holds"),
        ('reads "**/*.pem"', 'input.path ends with ".pem"', "holds"),
        ('reads "**/.env"', 'input.path ends with ".env"', "broken"),
        # `/etc/../x` begins with `/etc/`, and is elsewhere.
        ('reads "/etc/**"', 'input.path starts with "/etc/"', "broken"),
        ('reads "/etc/**"', 'input.path like "/etc/*.conf"', "broken"),
        ('input.path starts with "/etc/"', 'reads "/etc/**"', "broken"),
        ('reads ["/etc/**", "/srv/**"]', 'input.path == "/srv/x"', "holds"),
        # Where the home folder and the workspace are is not known.
        ('reads "~/**"', 'input.path == "/home/user/x"', "undecided"),
    ],
)
def test_a_text_and_its_path_are_one_value(denied: str, claim: str, status: str) -> None:
    rules = ("allow read when reads anything", f"deny read when {denied}")
    assert proof(f"prove never allow read when {claim}", *rules, specs=(READ,)).status == status


@pytest.mark.parametrize(
    ("allowed", "claim", "status"),
    [
        ('reads only "/srv/**"', 'input.path == "/etc/passwd"', "holds"),
        ('reads only "/srv/**"', "input.path matches /\\/etc\\/[a-z]+/", "holds"),
        ('reads only "/srv/**" and input.path matches /\\/etc\\/[a-z]+/', "", "holds"),
        ('reads only "/srv/**"', 'input.path == "/srv/a"', "broken"),
        ("reads only workspace", 'input.path == "src/x"', "broken"),
    ],
)
def test_a_path_outside_of_what_is_allowed(allowed: str, claim: str, status: str) -> None:
    rule = f"allow read when {allowed}"
    when = f" when {claim}" if claim else ""
    assert proof(f"prove never allow read{when}", rule, specs=(READ,)).status == status


def test_exceptions_are_left_out() -> None:
    rules = (
        'paths temporary = "/tmp/**" except "/tmp/x"',
        "allow read when reads anything",
        "deny read when reads temporary",
    )
    for path, status in (("/tmp/y", "holds"), ("/tmp/x", "broken")):
        claim = f'prove never allow read when input.path == "{path}"'
        assert proof(claim, *rules, specs=(READ,)).status == status


def test_each_field_has_a_path_of_its_own() -> None:
    rule = 'allow copy when reads anything and writes only "/srv/**"'
    for field, status in (("target", "holds"), ("source", "broken")):
        claim = f'prove never allow copy when input.{field} == "/etc/x"'
        assert proof(claim, rule, specs=(COPY,)).status == status


def test_one_of_two_paths_says_nothing_of_the_other() -> None:
    rules = ("allow both when reads anything", 'deny both when reads outside "/srv/**"')
    claim = 'prove never allow both when input.one == "/etc/x"'
    assert proof(claim, *rules, specs=(BOTH,)).status == "holds"
    claim = 'prove never allow both when input.one == "/srv/x" and reads "/etc/**"'
    assert proof(claim, "allow both when reads anything", specs=(BOTH,)).status == "broken"
