"""What is not kept of a session makes undecidable only what the rest does not decide."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

import policy
from policy.decision import Decision
from policy.generation import Generation
from policy.model import CalledTool, Caller, CallOutput, Facts, ReleasedCall, freeze
from policy.service import KeepingBounds, MemorySessionLog

RULES = """\
policy for every agent

default allow
label spam on results of web_fetch when result.spam == true
named: deny file_write unless input.path named by user
stop: deny file_read when any m in user.said: m contains "stop"
late: deny file_delete after spam
"""
FETCH = CalledTool(name="web_fetch", kind="host")
NOW = datetime(2026, 11, 25, tzinfo=UTC)
LONG = "x" * 300_000
MANY = tuple(f"note {number} {'y' * 1_000}" for number in range(1_000))


@pytest.fixture
def generation(tmp_path: Path) -> Generation:
    (tmp_path / "global.policy").write_text(RULES)
    return policy.load(tmp_path)


def decided(generation: Generation, tool: str, path: str, facts: Facts) -> tuple[str, str | None]:
    """Return the verdict, and why a rule was indeterminate."""
    given = {"path": path} if tool != "file_write" else {"path": path, "content": ""}
    decision = generation.answer(tool, given, facts=facts).decision
    assert isinstance(decision, Decision)
    return str(decision.verdict), next((one.undecided for one in decision.reasons), None)


@pytest.mark.parametrize("said", [("write /srv/a", LONG), (*MANY, "write /srv/a")])
def test_a_value_in_a_message_that_is_kept_is_named_and_others_may_be(
    generation: Generation, said: tuple[str, ...]
) -> None:
    assert decided(generation, "file_write", "/srv/a", Facts(said=said)) == ("allow", None)
    verdict, why = decided(generation, "file_write", "/srv/b", Facts(said=said))
    assert verdict == "deny" and why is not None and "bytes" in why and "kept" in why
    whole = decided(generation, "file_write", "/srv/b", Facts(said=("write /srv/a",)))
    assert whole == ("deny", None)


def test_messages_that_are_kept_decide_and_those_that_are_not_may(generation: Generation) -> None:
    found = [
        decided(generation, "file_read", "a", Facts(said=said))
        for said in [("go",), ("stop", LONG), ("go", LONG)]
    ]
    assert [verdict for verdict, _ in found] == ["allow", "deny", "deny"]
    assert [why is None for _, why in found] == [True, True, False]


def note(log: MemorySessionLog, result: object, *, hours: int, kept: bool = True) -> None:
    input = freeze({"url": "x"}) if kept else None
    at = NOW - timedelta(hours=hours)
    call = ReleasedCall(tool=FETCH, at=at, input=input)  # type: ignore[arg-type]
    release = log.release(Caller(), call, judged_by=None)
    assert release is not None
    log.finish(release, "ok", CallOutput(result=freeze(result)))


REASONS = [
    (KeepingBounds(entries=1), True, "`[history] entries` keeps 1 of a session"),
    (KeepingBounds(bytes=40), True, "`[history] bytes` keeps 40 bytes of a session"),
    (
        KeepingBounds(retention=timedelta(hours=36)),
        True,
        "`[history] retention` keeps them for 36 hours",
    ),
    (KeepingBounds(), False, "no rule read them when they were made"),
]


@pytest.mark.parametrize(("bounds", "kept", "why"), REASONS)
def test_a_decision_says_why_a_call_that_may_matter_is_not_kept(
    generation: Generation, bounds: KeepingBounds, *, kept: bool, why: str
) -> None:
    log = MemorySessionLog(bounds=bounds)
    note(log, {"spam": False}, hours=48, kept=kept)
    note(log, {"spam": False}, hours=1)
    facts = Facts(now=NOW, history=log.history(Caller()))
    told = f"not all earlier calls of `web_fetch` are kept: {why}"
    verdict, said = decided(generation, "file_delete", "a", facts)
    assert verdict == "deny" and said is not None and told in said
    # What is kept decides without the rest.
    note(log, {"spam": True}, hours=0)
    facts = Facts(now=NOW, history=log.history(Caller()))
    assert decided(generation, "file_delete", "a", facts) == ("deny", None)
