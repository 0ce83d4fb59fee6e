"""The code in the page about registry, versions, chains and identities runs as written."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from typing import Any

import pytest

from policy.service import Allow, Deny
from policy.tools import builtin_handlers
from tests.fakes import CountingHandler
from tests.service.registry.stage import Governed

PAGE = (Path(__file__).parents[3] / "docs/tool-service.md").read_text()


def code(heading: str) -> dict[str, Any]:
    """Return what the code below a heading defines."""
    section = PAGE.split(f"\n{heading}\n", 1)[1]
    block = re.search(r"```python\n(.*?)```", section, re.S)
    assert block is not None
    names: dict[str, Any] = {}
    exec(block[1], names)
    return names


async def test_changes_can_be_followed(tmp_path: Path) -> None:
    g = Governed(tmp_path, "allow *\n")
    seen: list[str] = []
    following = asyncio.create_task(code("## The registry")["follow"](g.service, seen))
    await asyncio.sleep(0)
    g.register(CountingHandler("a")).dispose()
    await following
    assert seen == ["Registered", "Unregistered"]


async def test_versions_stand_side_by_side(tmp_path: Path) -> None:
    g = Governed(tmp_path, "allow greet\n")
    said, then = await code("### Versions")["greetings"](g.service)
    assert said == ["hello you, hello", "hello you"]
    assert then == "hello you"


async def test_a_chain_calls_its_steps(tmp_path: Path) -> None:
    async def count(input: dict[str, Any], ctx: Any) -> Any:
        return len(input["text"].split())

    (tmp_path / "a.txt").write_text("a b c")
    rules = "allow count_page, word_count\nallow file_read when reads only workspace\n"
    tools = [*builtin_handlers(), CountingHandler("word_count", count)]
    g = Governed(tmp_path, rules, *tools, code("### Chains")["count_page"])
    assert await g.call("count_page", path="a.txt") == 3
    assert await g.call("count_page", path="/etc/passwd") == "execution/execution"


def test_an_identity_can_be_checked_alone(capsys: pytest.CaptureFixture[str]) -> None:
    names = code("## Callers")
    assert names["engine"].check(names["helper"], "file_read") == Allow()
    assert isinstance(names["engine"].check(names["helper"], "bash_exec"), Deny)
    assert capsys.readouterr().out.startswith("Allow() Deny(reason=")
