"""What a set of paths includes by its text alone is matched by the set for every call.

Proofs rest on it: where one rule is certainly not about a call, no rule with less in its set is.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations

import pytest

from policy.checks import checked
from policy.model import Facts
from policy.symbolic import includes
from tests.corpora.judging import generation

ITEMS = (
    "**/payroll/**", "/srv/payroll/**", "/srv/*/2026/**", "/srv/payroll/2026/**", "/srv/p*/**",
    "/srv/**", "/srv/payroll/2026/*.txt", "**/x", "/srv/payroll/x", "~/.ssh/**", "~/.ssh/id*",
    "~/**", "payroll/**", "./**", "**/.env", "/srv/.env", "/srv/*", "/srv/?/x", "/srv/payroll",
    "/srv/pay*", "**/p/**/x", "/srv/p/**", "**/*", "/**", "/srv/**/x", "/home/user/.ssh/**",
    "/srv/pay*/x",
)  # fmt: skip
COMMANDS = (
    "cat /srv/pay*/x", "cat /srv/p?yroll/x", "cat /srv/[p]ayroll/2026/x", "cat /srv/payroll/20*/x",
    "cat /s*/payroll/x", "rm -r /srv", "ls -R /srv", "ls -R /", "cat /srv/{a,payroll}/x",
    "tar cf x.tar /srv", "cat /srv/*", "cp -r /srv/payroll /tmp/a", "cat $X", "cat $X/x",
    "cat /srv/$X", "cat /srv/payroll/$X/x", "cd /srv && cat payroll/x", "cd $X && cat payroll/x",
    "find / -name x", "grep -r a /srv", "cat /srv/payroll", "cat payroll/2026/a.txt", "cat .env",
    "cat ~/.ssh/id_rsa", "cat ~/.ssh/i*", "cat /srv/p/a/b/x", "cat **/x", "cat x/../p/x",
    "grep -r a .", "grep -r a ..", "cat */x", "cat .*", "cat /srv/.e*", "python x.py", "ls",
)  # fmt: skip
PLACES = (
    Facts(workspace="/srv", cwd="/srv"),
    Facts(workspace="/srv/payroll", cwd="/srv/payroll/2026"),
    Facts(workspace="/home/user", cwd="/", home="/home/user"),
)


def _set(item: str) -> checked.ValueSet:
    return checked.ValueSet(kind="paths", included=(item,))


def _matching(place: Facts) -> Iterator[tuple[str, frozenset[str]]]:
    """Yield what each call matches, of a rule for each item and what is outside of it."""
    rules = [
        line
        for number, item in enumerate(ITEMS)
        for line in (
            f'some-{number}: deny * when reads "{item}" or writes "{item}"',
            f'outside-{number}: deny * when reads outside "{item}"',
        )
    ]
    decide = generation("\n".join(["policy for every agent", "default allow", *rules, ""]))
    for command in COMMANDS:
        decision = decide.answer("bash_exec", {"command": command}, facts=place).decision
        yield command, frozenset(reason.rule for reason in decision.reasons)


@pytest.mark.parametrize("place", PLACES, ids=lambda place: place.workspace)
def test_what_matches_a_part_of_a_set_matches_the_set(place: Facts) -> None:
    pairs = [
        (large, small)
        for large, small in permutations(range(len(ITEMS)), 2)
        if includes(_set(ITEMS[large]), _set(ITEMS[small]))
    ]
    assert len(pairs) > 20
    for command, matched in _matching(place):
        for large, small in pairs:
            if f"some-{small}" in matched:
                assert f"some-{large}" in matched, (command, ITEMS[large], ITEMS[small])
            if f"outside-{large}" in matched:
                assert f"outside-{small}" in matched, (command, ITEMS[large], ITEMS[small])
