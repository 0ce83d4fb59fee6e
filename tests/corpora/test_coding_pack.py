"""`placet:coding` over commands that coding agents really ran; the counts may only get better."""

from __future__ import annotations

from policy.model import Verdict
from tests.corpora.count_verdicts import SHIPPED, counts, judged

_POLICY = SHIPPED.read_text(encoding="utf-8")
_LEAST_ALLOWED = 256
_MOST_DENIED = 37


def test_most_of_what_agents_run_is_allowed() -> None:
    found = counts(judged(_POLICY, "seen"))["all"]
    assert found.total() == 344
    assert found[Verdict.ALLOW] >= _LEAST_ALLOWED
    assert found[Verdict.DENY] <= _MOST_DENIED
