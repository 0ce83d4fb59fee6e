"""A shortcut that is switched off is not used anywhere."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from policy.evaluation import declared_resources
from policy.program import ALL_SHORTCUTS, Program, Shortcuts, compile_policy
from tests.unit.program.compiling import ask, program

RULES = "default allow\nno: deny t when input.x contains /^a/ unless input.x matches /ab|ac/\n"


def _with(shortcuts: Shortcuts) -> Program:
    made = program(RULES)
    return compile_policy(made.policy, made.catalog, profiles=made.profiles, shortcuts=shortcuts)


@pytest.mark.parametrize("generated", [True, False])
def test_without_expressions_re2_is_asked(monkeypatch: pytest.MonkeyPatch, generated: bool) -> None:
    def never(source: str) -> Any:
        pytest.fail(f"/{source}/ was compiled to be tested plainly")

    monkeypatch.setattr(declared_resources, "compile_regex", never)
    asked = _with(replace(ALL_SHORTCUTS, expressions=False, generated=generated))
    found = {text: str(ask(asked, "t", {"x": text}).decision.verdict) for text in ("a", "ab", "b")}
    assert found == {"a": "deny", "ab": "allow", "b": "allow"}
