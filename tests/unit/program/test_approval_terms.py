"""The digest of an asking rule: equal for equal meaning, different for every other."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from policy.model import Reason, Terms, Verdict
from tests.unit.program.compiling import ask, program

PAY = (
    "a: allow pay when input.amount > 1 with approval "
    'by "ops" remember 1h for input.to up to 3 times'
)
GLOBAL = "policy for every agent\n"


def asking(
    policy: Mapping[str, str] | str, tool: str = "pay", input: object = None
) -> tuple[Reason, ...]:
    given = {"amount": 5, "to": "bob"} if input is None else input
    decision = ask(program(policy), tool, given).decision
    return tuple(reason for reason in decision.reasons if reason.verdict is Verdict.ASK)


def digest(policy: Mapping[str, str] | str, tool: str = "pay", input: object = None) -> str:
    (reason,) = asking(policy, tool, input)
    assert reason.terms is not None
    assert reason.terms.digest is not None
    assert reason.terms.digest.startswith("sha256:")
    return reason.terms.digest


@pytest.mark.parametrize(
    "same",
    [
        f"default deny\n\n# moved\n{PAY}",
        f"default deny\n{PAY.replace('a:', 'other:')}",
        f'default deny\n{PAY} because "money leaves" audit "x"',
        f"default deny\nnumbers least = 1\n{PAY}",
        "default deny\nlet least = 1\n" + PAY.replace("> 1", "> least"),
        "default deny\nlet big = input.amount > 1\n" + PAY.replace("input.amount > 1", "big"),
    ],
)
def test_what_means_the_same_has_the_same_digest(same: str) -> None:
    assert digest(same) == digest(f"default deny\n{PAY}")


@pytest.mark.parametrize(
    "edited",
    [
        PAY.replace("> 1", "> 2"),
        PAY.replace("> 1", ">= 1"),
        PAY.replace("pay", "pa*"),
        PAY.replace("pay", "pay, lookup"),
        PAY.replace('"ops"', '"sec"'),
        PAY.replace('"ops"', '"ops", "sec"'),
        PAY.replace('"ops"', '"ops" two people'),
        PAY.replace("1h", "2h"),
        PAY.replace("1h", "session"),
        PAY.replace("for input.to ", ""),
        PAY.replace("input.to", "input.note"),
        PAY.replace("3 times", "4 times"),
        PAY.replace(" remember 1h for input.to up to 3 times", ""),
        PAY + ' unless input.to == "eve"',
        PAY.replace("input.amount > 1", "input.amount is present"),
        "b: allow pay\n" + PAY.replace("allow pay", "ask pay").replace("with approval ", ""),
        "tool pay writes input.note\n" + PAY,
    ],
)
def test_an_edit_that_changes_what_is_asked_changes_the_digest(edited: str) -> None:
    assert digest(f"default deny\n{edited}") != digest(f"default deny\n{PAY}")


def test_what_a_named_set_holds_is_part_of_the_meaning() -> None:
    rule = "a: allow pay when input.to in friends with approval"
    before = digest(f'default deny\nstrings friends = "bob"\n{rule}')
    assert before == digest(f'default deny\nstrings friends = "bob"\n{rule}')
    assert before != digest(f'default deny\nstrings friends = "bob", "eve"\n{rule}')


def test_what_a_pack_is_given_is_part_of_the_meaning() -> None:
    pack = (
        'pack "p"\nparam who: string\na: allow pay when input.to == who with approval by "${who}"\n'
    )

    def used(who: str) -> str:
        use = f'default deny\nuse "packs/p.policy" with who = "{who}" granting\n'
        files = {"global.policy": GLOBAL + use, "packs/p.policy": pack}
        return digest(files, input={"to": who})

    assert used("bob") == used("bob") != used("eve")


def test_the_same_rule_in_another_layer_is_another_request() -> None:
    body = "m: ask pay\n"
    other = {"agents/a.policy": f'policy for agent "ann"\n{body}'}
    both = asking({"global.policy": f"{GLOBAL}default allow\ng: ask pay\n", **other})
    assert len({reason.terms.digest for reason in both if reason.terms is not None}) == 2


def test_a_default_that_asks_has_a_digest_and_what_no_rule_asks_has_no_terms() -> None:
    plain, named = digest("default ask"), digest("default deny\ndefault ask for pay")
    assert plain != named
    assert asking("default ask")[0].terms == Terms(digest=plain)
    (confirmation,) = asking("default allow", "confirmed", {})
    assert (confirmation.rule, confirmation.terms) == ("confirmation", None)


def test_only_what_asks_has_terms() -> None:
    decision = ask(
        program(f"default deny\n{PAY}\nd: shadow deny pay"), "pay", {"amount": 5}
    ).decision
    assert [(r.verdict.value, r.terms is None) for r in decision.reasons] == [
        ("ask", False),
        ("allow", True),
    ]
    assert [r.terms for r in decision.shadowed] == [None]
