"""Checking never raises, and its result does not depend on the order of the files."""

from __future__ import annotations

from random import Random

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from policy.catalog import builtin_catalog
from policy.checks import Checked, PolicySources, check
from policy.diagnostics import CODES
from policy.layers import merge
from policy.model import Source
from policy.syntax import parse, print_tree, tree
from tests.strategies import policy_files

CATALOG = builtin_catalog()
NAMES = ("a.policy", "agents/b.policy", "packs/c.policy")

SLOW = settings(suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])


def placed(files: list[tree.PolicyFile]) -> tuple[tree.PolicyFile, ...]:
    """Return the files as if read from a folder: printed and parsed, so that spans are true."""
    texts = [Source(name=n, text=print_tree(f)) for n, f in zip(NAMES, files, strict=False)]
    return tuple(parse(source).tree for source in texts)


def checked(files: tuple[tree.PolicyFile, ...]) -> Checked:
    return check(PolicySources(files=files), CATALOG)


@SLOW
@given(st.lists(policy_files(), min_size=1, max_size=3))
def test_any_policy_is_checked_without_an_exception(files: list[tree.PolicyFile]) -> None:
    found = checked(placed(files))
    merged = merge(found.policies, CATALOG)
    said = [*found.diagnostics, *merged.diagnostics]
    assert {d.code for d in said} <= set(CODES)
    assert all(d.message and not d.message.endswith(".") for d in said)
    assert found.policies[0].key.kind == "every"


@SLOW
@given(st.lists(policy_files(), min_size=2, max_size=3), st.randoms(use_true_random=False))
def test_the_order_of_files_changes_nothing(files: list[tree.PolicyFile], random: Random) -> None:
    inorder = placed(files)
    shuffled = list(inorder)
    random.shuffle(shuffled)
    assert checked(tuple(shuffled)) == checked(inorder)
