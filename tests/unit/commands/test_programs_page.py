"""The page about profiles: nothing that a profile may say is missing there."""

from __future__ import annotations

from pathlib import Path

import pytest

from policy.commands.roles import ROLES

_PAGE = (Path(__file__).resolve().parents[3] / "docs" / "programs.md").read_text("utf-8")


@pytest.mark.parametrize("role", sorted(ROLES))
def test_every_role_is_explained(role: str) -> None:
    assert f"`{role}`" in _PAGE or f"`{role}...`" in _PAGE
