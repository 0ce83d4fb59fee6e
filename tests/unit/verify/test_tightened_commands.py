"""Fewer commands, and fewer or later earlier calls, are tighter without a look at any script."""

from __future__ import annotations

import pytest

from policy.catalog import Catalog, Resource
from policy.generation import shipped_profiles
from policy.verify import compare
from tests.laws.engine import build_over
from tests.laws.policies import PolicyText
from tests.unit.verify.proving import Policy, tool

_TEXT = {"type": "string"}
_SHELL = tool("sh", {"command": _TEXT}, Resource(verb="runs", steps=("command",)))
_CATALOG = Catalog(specs=(_SHELL, tool("note", {"text": _TEXT}), tool("pay", {})), complete=True)
_PROFILES = shipped_profiles()


def _policy(*rules: str) -> Policy:
    text = ("policy for every agent", "default deny", "allow note", *rules)
    files = PolicyText(files=(("global.policy", text),))
    return Policy(program=build_over(files, _CATALOG, profiles=_PROFILES).program)


@pytest.mark.parametrize(
    ("loose", "tight"),
    [
        ('allow sh when runs only "git *"', 'allow sh when runs only "git status"'),
        ('allow sh when runs only "git *"', 'allow sh when runs only "git log *"'),
        ('allow sh when runs only ["git *", "ls *"]', 'allow sh when runs only "git status"'),
        (
            'allow sh when runs only "git *" with approval by "ops"',
            'allow sh when runs only "git status" with approval by "ops"',
        ),
        ("allow pay after note within 1h", "allow pay after note within 30m"),
        ("allow pay after note", "allow pay after note within 30m"),
        ("allow pay after sh, note", "allow pay after note"),
    ],
)
def test_fewer_calls_are_tighter(loose: str, tight: str) -> None:
    assert not compare(_policy(loose), _policy(tight)).may_loosen
    assert compare(_policy(tight), _policy(loose)).may_loosen


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('allow sh when runs only "git *"', 'allow sh when runs only "ls *"'),
        ('allow sh when runs only "git status"', 'allow sh when runs only "git push --force *"'),
        ('allow sh when runs only "git *"', 'allow sh when runs only "git push --force *"'),
        ("allow pay after note within 1h", "allow pay after sh within 30m"),
    ],
)
def test_other_calls_are_not_called_tighter(before: str, after: str) -> None:
    assert compare(_policy(before), _policy(after)).may_loosen
