"""What a program that embeds Placet can write under `mypy --strict`, which checks this file too."""

from __future__ import annotations

from pathlib import Path
from typing import assert_type

import pytest

import policy
from policy import Decision, GenerationId, PermissionDenied, PolicyInvalid, PolicyStore


def number_of(refused: PermissionDenied) -> int | None:
    decision = refused.decision
    assert_type(decision, Decision | None)
    if decision is None:
        return None
    assert_type(decision.generation, GenerationId | None)
    return None if decision.generation is None else decision.generation.number


def codes_of(invalid: PolicyInvalid) -> list[str]:
    return [f"{found.severity} {found.code}" for found in invalid.diagnostics]


async def test_a_refusal_names_the_generation_that_decided(tmp_path: Path) -> None:
    (tmp_path / "rules.policy").write_text("policy for every agent\ndefault deny\n")
    service = policy.build_tool_service(PolicyStore(tmp_path / "rules.policy"), workspace=tmp_path)
    with pytest.raises(PermissionDenied) as caught:
        await service.execute("file_read", {"path": "a.txt"})
    assert number_of(caught.value) == 1
    decision = caught.value.decision
    assert decision is not None and decision.verdict is policy.Verdict.DENY
    assert decision.call.input["path"] == "a.txt"


def test_an_invalid_policy_has_codes(tmp_path: Path) -> None:
    (tmp_path / "rules.policy").write_text("policy for every agent\ndefault maybe\n")
    with pytest.raises(PolicyInvalid) as caught:
        policy.load(tmp_path / "rules.policy")
    assert codes_of(caught.value) == ["error syntax-error"]
