"""Many unknown tools in a large catalogue: similar names are searched once for all of them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from policy.checks.names.scopes import Scope
from policy.generation import read_policy


def test_the_names_of_a_scope_are_gone_through_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = 0
    every = Scope.visible

    def visible(scope: Scope) -> Iterator[str]:
        nonlocal asked
        asked += 1
        return every(scope)

    monkeypatch.setattr(Scope, "visible", visible)
    names = "\n".join(f'let n{i} = "{i}"' for i in range(20))
    rules = "\n".join(f"r{i}: deny unheard_of_{i}" for i in range(20))
    text = f"policy for every agent\ndefault deny\ntools files = file_read\n{names}\n{rules}\n"
    (tmp_path / "a.policy").write_text(f"{text}near: deny filez\n")
    built = read_policy(tmp_path)
    assert [one.code for one in built.diagnostics] == ["unknown-tool"] * 21
    assert "did you mean `files`?" in {one.help for one in built.diagnostics}
    assert asked == 1
