"""Claims about elements of lists, values that are equal to others, and windows of the week."""

from __future__ import annotations

import pytest

from tests.unit.verify.proving import proof, tool

TEXT, WHOLE = {"type": "string"}, {"type": "integer"}
ITEM = {
    "type": "object",
    "properties": {"price": {"type": "number"}, "count": WHOLE},
    "required": ["price", "count"],
}
SEND = tool(
    "send",
    {
        "to": TEXT,
        "owner": TEXT,
        "kind": {"enum": ["note", "bill"]},
        "cc": {"type": "array", "items": TEXT},
        "sizes": {"type": "array", "items": WHOLE},
        "items": {"type": "array", "items": ITEM},
        "most": WHOLE,
    },
)


@pytest.mark.parametrize(
    ("claimed", "rules", "status"),
    [
        # Elements.
        (
            "any x in input.sizes: x > 100",
            ["allow send when all x in input.sizes: x <= 50"],
            "holds",
        ),
        (
            "any x in input.sizes: x > 10",
            ["allow send when all x in input.sizes: x <= 50"],
            "broken",
        ),
        (
            "any x in input.sizes: x > 100",
            ["allow send", "deny send when any x in input.sizes: x > 50"],
            "holds",
        ),
        (
            "any x in input.sizes: x > input.most",
            ["allow send when all x in input.sizes: x + 1 <= input.most"],
            "holds",
        ),
        (
            'any x in input.cc: x == "evil"',
            ['allow send when all x in input.cc: x in ["a", "b"]'],
            "holds",
        ),
        (
            'any x in input.cc: x like "*.evil.example"',
            ['allow send when all x in input.cc: x ends with ".ours.example"'],
            "holds",
        ),
        (
            'any x in input.cc: x starts with "a"',
            ['allow send when all x in input.cc: x ends with ".ours.example"'],
            "broken",
        ),
        (
            "any x in input.items: x.price > 100",
            ["allow send when all x in input.items: x.price <= 50"],
            "holds",
        ),
        (
            "any x in input.items: x.price > 10",
            ["allow send when all x in input.items: x.price <= 50"],
            "broken",
        ),
        (
            "all x in input.sizes: x > 5",
            ["allow send when any x in input.sizes: x < 3"],
            "holds",
        ),
        # Membership.
        ("input.to not in input.cc", ["allow send when input.to in input.cc"], "holds"),
        (
            'input.to in input.cc and input.to ends with ".evil"',
            ['allow send when all x in input.cc: x ends with ".ours"'],
            "holds",
        ),
        (
            'input.to == "evil"',
            [
                'allow send when input.to in ["a", input.owner]',
                'deny send when input.owner == "evil"',
            ],
            "holds",
        ),
        (
            'input.to == "evil"',
            ['allow send when input.to in ["a", input.owner]', 'deny send when input.owner == "a"'],
            "broken",
        ),
        # Equal strings.
        (
            'input.to == "x"',
            ['allow send when input.to == input.owner and input.owner == "y"'],
            "holds",
        ),
        (
            'input.to like "ev*"',
            [
                "allow send when input.to == input.owner",
                'deny send when input.owner starts with "e"',
            ],
            "holds",
        ),
        (
            'input.to starts with "q"',
            [
                "allow send when input.to == input.owner",
                'deny send when input.owner starts with "e"',
            ],
            "broken",
        ),
        ('input.to == "letter"', ["allow send when input.to == input.kind"], "holds"),
        ('input.to == "bill"', ["allow send when input.to == input.kind"], "broken"),
        ("user.id != input.owner", ["allow send when input.owner == user.id"], "holds"),
        # Windows.
        ("now within 20:00..22:00", ["allow send when now within 08:00..18:00"], "holds"),
        ("now within 17:00..22:00", ["allow send when now within 08:00..18:00"], "broken"),
        (
            "now within 08:00..18:00 on weekends",
            ["allow send when now within 06:00..20:00 on weekdays"],
            "holds",
        ),
        (
            "now within 00:00..06:00 on tue",
            ["allow send when now within 22:00..07:00 on mon"],
            "broken",
        ),
        (
            "now within 00:00..06:00 on wed",
            ["allow send when now within 22:00..07:00 on mon"],
            "holds",
        ),
        (
            'now within 12:00..13:00 "Asia/Tokyo"',
            ['allow send when now within 08:00..12:00 "Asia/Tokyo"'],
            "holds",
        ),
    ],
)
def test_a_claim_is_decided(claimed: str, rules: list[str], status: str) -> None:
    assert proof(f"prove never allow send when {claimed}", *rules, specs=(SEND,)).status == status


def test_windows_of_two_zones_are_not_related() -> None:
    """Although no time of day in Tokyo is the same in Paris."""
    found = proof(
        'prove never allow send when now within 12:00..13:00 "Asia/Tokyo"',
        'allow send when now within 12:00..13:00 "Europe/Paris"',
        specs=(SEND,),
    )
    assert found.status == "undecided"


def test_more_tests_of_one_list_than_there_are_names_for_elements_are_read() -> None:
    denied = [f"deny send when any x in input.sizes: x == {number}" for number in range(60)]
    found = proof(
        "prove never allow send when any x in input.sizes: x == 7",
        *("allow send", *denied),
        specs=(SEND,),
    )
    assert found.status == "holds"
