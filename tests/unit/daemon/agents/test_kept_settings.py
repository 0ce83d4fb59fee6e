"""The settings of agents and editors that stay read-only in a workspace."""

from __future__ import annotations

from pathlib import Path

from policy.daemon.agents import AGENTS
from tests.unit.sandbox.confining import plan_in


def test_the_settings_that_hooks_protect_are_read_only_in_a_sandbox(tmp_path: Path) -> None:
    named = {each for agent in AGENTS.values() for each in agent.settings if each[:2] == "./"}
    assert named
    for each in named:
        path = tmp_path / each
        path.parent.mkdir(exist_ok=True)
        path.write_text("{}")
    kept = plan_in(tmp_path).kept
    for each in named:
        assert any((tmp_path / each).is_relative_to(one) for one in kept), each
