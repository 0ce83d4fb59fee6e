"""The page about profiles of programs names every role."""

from __future__ import annotations

from pathlib import Path

import pytest

from policy.programs.profiles.roles import ROLES

PAGE = (Path(__file__).resolve().parents[1] / "docs" / "programs.md").read_text(encoding="utf-8")
SHOWN = PAGE.partition("## Roles")[2].partition("## Examples")[0]


@pytest.mark.parametrize("role", sorted(ROLES))
def test_every_role_is_on_the_page(role: str) -> None:
    assert f"`{role}`" in SHOWN
