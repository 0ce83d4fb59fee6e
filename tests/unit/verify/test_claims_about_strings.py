"""Claims about patterns of one field: whatever the patterns, they are decided."""

from __future__ import annotations

import pytest

from tests.unit.verify.proving import proof, tool

TEXT = {"type": "string"}
MAIL = tool("mail", {"to": TEXT, "subject": TEXT})
RULES = (
    'a: allow mail when input.to like "*@ours.example" and input.subject like "Re:*"',
    'b: deny mail when input.to starts with "root"',
    r'c: deny mail when input.to matches /(?s).*@ours\.example/ and input.to contains "+"',
)


@pytest.mark.parametrize(
    ("condition", "status"),
    [
        ('input.to ends with ".evil"', "holds"),
        ('input.to like "root@*"', "holds"),
        ('input.to == "root@ours.example"', "holds"),
        (r"input.to contains /\broot\+/", "holds"),
        (r"input.to matches /[a-z]+\+[a-z]+@.*/", "holds"),
        (r"input.to matches /[a-z]+-[a-z]+@.*/", "broken"),
        ('not (input.to like "*@ours.example")', "holds"),
        ('input.to like "*@ours.example" and not (input.to contains "@")', "holds"),
        ('input.to like "a?b@*" and input.subject ends with "!"', "broken"),
        ('input.subject like "Fwd:*"', "holds"),
        ('input.to in ["x@ours.example", "y@theirs.example"]', "broken"),
        ('input.to in ["root@ours.example", "y@theirs.example"]', "holds"),
    ],
)
def test_a_claim_about_patterns_is_decided(condition: str, status: str) -> None:
    found = proof(f"prove never allow mail when {condition}", *RULES, specs=(MAIL,))
    assert found.status == status


def test_a_string_that_breaks_a_claim_is_short_and_ordinary() -> None:
    claim = r"prove never allow mail when input.to matches /[a-z]+-[0-9]+@.*/"
    found = proof(claim, *RULES, specs=(MAIL,))
    assert found.counterexample is not None
    shown = found.counterexample.situation.input
    assert shown == {"to": "a-0@ours.example", "subject": "Re:"}


def test_a_claim_that_only_strange_strings_break_is_broken() -> None:
    found = proof(
        'prove never allow mail when input.subject contains "+"',
        r"a: allow mail when input.subject matches /[^ -~]*.\n/",
        r"b: deny mail when input.subject matches /.\n/",
        specs=(MAIL,),
    )
    assert found.counterexample is not None
    assert found.counterexample.situation.input["subject"].endswith("+\n")


def test_a_pattern_with_invisible_characters_between_does_not_hide_a_string() -> None:
    """For `a\u200bb` the claim is indeterminate, which counts as met, and no rule denies it."""
    found = proof(
        'prove never allow mail when input.to == "ab"',
        'a: allow mail when input.to like "a*"',
        'b: deny mail when input.to == "ab"',
        specs=(MAIL,),
    )
    assert found.status == "holds"


def test_values_that_a_schema_lists_are_all_that_patterns_are_tried_with() -> None:
    listed = tool("pick", {"size": {"enum": ["small", "large", "larger"]}})
    for pattern, status in (("lar*", "broken"), ("s*", "holds"), ("*x*", "holds")):
        found = proof(
            f'prove never allow pick when input.size like "{pattern}"',
            'a: allow pick when not (input.size starts with "sm")',
            specs=(listed,),
        )
        assert found.status == status


def test_a_hundred_rules_about_one_field_are_decided() -> None:
    allowed = [f'allow mail when input.to like "*.{n}@ours.example"' for n in range(50)]
    denied = [f'deny mail when input.to starts with "x{n}."' for n in range(50)]
    rules = (*allowed, *denied)
    claims = {
        'input.to like "x7.*" and not (input.to contains "\\n")': "holds",
        'input.to ends with "@theirs.example"': "holds",
        'input.to like "y*"': "broken",
    }
    for condition, status in claims.items():
        found = proof(f"prove never allow mail when {condition}", *rules, specs=(MAIL,))
        assert found.status == status


@pytest.mark.parametrize("count", [3, 40])
def test_a_call_that_breaks_a_claim_has_ordinary_values(count: int) -> None:
    """A huge number, or a role in disguise, is only shown where nothing else breaks the claim."""
    meter = tool("meter", {"n": {"type": "integer"}, "to": TEXT})
    rules = [f"deny meter when input.n == {n}" for n in range(count)]
    roles = [f'deny meter when session.role == "team{n}"' for n in range(count)]
    found = proof(
        f"prove never allow meter when input.n >= {count - 1}",
        *("allow meter", *rules, *roles),
        specs=(meter,),
    )
    assert found.counterexample is not None
    assert found.counterexample.situation.input["n"] == count
    assert dict(found.counterexample.given()) == {}


def test_a_role_in_disguise_is_shown_where_only_that_breaks_a_claim() -> None:
    found = proof(
        'prove never allow mail when session.role == "ops"',
        "allow mail",
        'deny mail when not (session.role != "ops")',
        'deny mail when session.role == "ops"',
        specs=(MAIL,),
    )
    assert found.status == "holds"


def test_a_set_that_is_too_large_for_an_automaton_beside_a_pattern_raises_nothing() -> None:
    named = ", ".join(f'"x{"y" * 200}{number}"' for number in range(30))
    rules = (f"strings big = {named}", "a: allow mail", "d: deny mail when input.to in big")
    starts = 'input.to starts with "x"'
    found = proof(f"prove always deny mail when {starts}", *rules, specs=(MAIL,))
    assert found.status != "holds"
    assert found.because == ""
    claim = f"prove always deny mail when input.to in big and {starts}"
    assert proof(claim, *rules, specs=(MAIL,)).status == "holds"
