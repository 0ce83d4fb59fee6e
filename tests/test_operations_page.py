"""The page about operations: its programs run in order, and its command prints what it shows."""

from __future__ import annotations

import ast
import inspect
import re
import shutil
from pathlib import Path
from types import CodeType
from typing import Any

import pytest

from policy import PolicyStore, build_tool_service
from tests.unit.cli.running import run

ROOT = Path(__file__).resolve().parents[1]
PAGE = (ROOT / "docs" / "operations.md").read_text(encoding="utf-8")
PROGRAMS = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
COMMANDS = re.findall(r"```console\n\$ placet (.*?)\n(.*?)```", PAGE, re.DOTALL)


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder that holds a copy of the shipped rules, and work in it."""
    shutil.copytree(ROOT / "rules", tmp_path / "rules")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.long
async def test_the_programs_run_one_after_another(place: Path) -> None:
    names: dict[str, Any] = {}
    watching, configuring = PROGRAMS
    await done(watching, names)
    assert isinstance(names["store"], PolicyStore)
    names["service"] = build_tool_service(names["store"], workspace=place)
    await done(configuring, names)
    written = (place / "rules" / "placet.toml").read_text()
    assert "code_exec" not in written
    assert '"mcp github/*" = "deny"' in written
    assert names["made"].looser is False


@pytest.mark.parametrize(("command", "printed"), COMMANDS)
def test_the_command_prints_what_the_page_shows(place: Path, command: str, printed: str) -> None:
    result = run(*command.split())
    assert result.code == 0
    assert shortened(result.out + result.err) == shortened(printed)


def test_the_page_shows_programs_and_a_command() -> None:
    assert (len(PROGRAMS), len(COMMANDS)) == (2, 1)


def shortened(text: str) -> str:
    return re.sub(r"sha256:[0-9a-f]+…?", "sha256:…", text)


async def done(program: str, names: dict[str, Any]) -> None:
    """Run a program whose outermost lines may await."""
    code = compile(program, "operations.md", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    assert isinstance(code, CodeType)
    running = eval(code, names)
    if inspect.isawaitable(running):
        await running
