"""The code in docs/writing-tools.md runs as written, in a service with real rules."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import pytest

from policy import PolicyStore
from policy.approvals import Approved, ScriptedApprover
from policy.model import PermissionDenied, ValidationFailed
from policy.service import GovernedService, build_tool_service, register_builtins
from policy.tools import ToolRegistry

ROOT = Path(__file__).parents[3]
TEXT = (ROOT / "docs/writing-tools.md").read_text()
RULES = re.findall(r"```\n(policy .*?)```", TEXT, re.S)


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Any]]:
    file = tmp_path_factory.mktemp("page") / "writing_tools_page.py"
    file.write_text("\n".join(re.findall(r"```python\n(.*?)```", TEXT, re.S)))
    spec = spec_from_file_location(file.stem, file)
    assert spec is not None and spec.loader is not None
    module = module_from_spec(spec)
    sys.modules[file.stem] = module
    spec.loader.exec_module(module)
    yield vars(module)
    del sys.modules[file.stem]


def store_of(folder: Path, rules: str) -> PolicyStore:
    (folder / "rules").mkdir()
    (folder / "rules" / "global.policy").write_text(rules)
    (folder / "work").mkdir()
    return PolicyStore(folder / "rules")


async def test_translate_is_written_in_three_steps(page: dict[str, Any], tmp_path: Path) -> None:
    rule = re.search(r"`(allow translate [^`]*)`", TEXT)
    assert rule is not None
    store = store_of(tmp_path, f"policy for every agent\ndefault deny\n{rule[1]}\nallow file_list")
    service = page["service_for"](store, tmp_path / "work")
    async with store.watch():
        given = {"text": "good morning", "target_language": "fr"}
        assert (await service.execute("translate", given)).value == "bonjour"
        with pytest.raises(PermissionDenied):
            await service.execute("translate", {**given, "target_language": "tlh"})
        with pytest.raises(ValidationFailed, match="target_language"):
            await service.execute("translate", {"text": "x"})
        assert [shown.name for shown in service.list()] == ["file_list", "translate"]
        definition = service.describe("translate")
    assert definition.category == "text"
    assert "good morning" in definition.llm_context
    assert list(definition.parameters["required"]) == ["text", "target_language"]
    assert definition.parameters["properties"]["source_language"] == {
        "type": "string",
        "description": "The language of the text; found out where none is given.",
    }


async def test_word_count_tells_what_it_returns(page: dict[str, Any], tmp_path: Path) -> None:
    store = store_of(tmp_path, "policy for every agent\ndefault deny\nallow word_count")
    service = build_tool_service(store, tools=[page["word_count"]])
    async with store.watch():
        output = await service.execute("word_count", {"text": "one two\n three "})
        definition = service.describe("word_count")
    assert output.value == {"count": 3}
    assert definition is not None and definition.output is not None
    assert definition.output["properties"]["count"]["type"] == "integer"
    assert await page["word_count"].call_json({"text": "a b"}) == {"count": 2}


@pytest.fixture
def files(page: dict[str, Any], tmp_path: Path) -> tuple[PolicyStore, GovernedService, Path]:
    store = store_of(tmp_path, RULES[0])
    service = build_tool_service(
        store,
        tools=[page["FileTool"]()],
        workspace=tmp_path / "work",
        approver=ScriptedApprover(Approved(by="ada")),
    )
    return store, service, tmp_path / "work"


async def test_file_does_three_things_each_under_its_own_rule(
    files: tuple[PolicyStore, GovernedService, Path],
) -> None:
    store, service, work = files
    async with store.watch():
        await service.execute("file", {"operation": "write", "path": "a", "content": "hi"})
        assert (work / "a").read_text() == "hi"
        found = await service.execute("file", {"operation": "read", "path": "a"})
        assert found.value == {"status": "success", "data": "hi"}
        missing = await service.execute("file", {"operation": "read", "path": "b"})
        assert missing.value == {"status": "error", "message": "there is no such file"}
        with pytest.raises(PermissionDenied, match="nothing is deleted here"):
            await service.execute("file", {"operation": "delete", "path": "a"})
        for path in ("/etc/passwd", "../x"):
            with pytest.raises(PermissionDenied):
                await service.execute("file", {"operation": "read", "path": path})
    assert (work / "a").exists()


async def test_a_field_of_another_operation_is_refused_as_the_page_says(
    files: tuple[PolicyStore, GovernedService, Path],
) -> None:
    store, service, _ = files
    said = re.search(r"`` (`content` is not a field.*?`path`) ``", TEXT.replace("\n", " "))
    assert said is not None
    async with store.watch():
        with pytest.raises(ValidationFailed, match=re.escape(said[1])):
            await service.execute("file", {"operation": "read", "path": "a", "content": "x"})
        with pytest.raises(ValidationFailed, match="operation `write` needs `content`"):
            await service.execute("file", {"operation": "write", "path": "a"})
        with pytest.raises(ValidationFailed, match=r"must be one of `read`, `write`$"):
            await service.execute("file", {"operation": "chmod", "path": "a"})
        with pytest.raises(ValidationFailed, match="`operation` is missing"):
            await service.execute("file", {"path": "a"})


async def test_context_appends_and_replaces_and_says_when_to(
    page: dict[str, Any], tmp_path: Path
) -> None:
    store = store_of(
        tmp_path, "policy for every agent\ndefault deny\nallow context\nallow send_message"
    )
    service = build_tool_service(store, tools=[page["ContextTool"](), page["send_message"]])
    async with store.watch():
        await service.execute("context", {"operation": "append", "text": "ab"})
        noted = await service.execute("context", {"operation": "replace", "old": "b", "new": "c"})
        sent = await service.execute("send_message", {"text": "bye"})
        rules = {shown.name: shown.usage_rule for shown in service.list()}
    assert (noted.value, sent.value) == ("ac", None)
    assert rules == {
        "context": "Use append to add new information, replace to modify existing.",
        "send_message": "When send_message is called, the conversation ends.",
    }


async def test_a_tool_with_its_own_schema_gets_the_context(
    page: dict[str, Any], tmp_path: Path
) -> None:
    store = store_of(tmp_path, "policy for every agent\ndefault deny\nallow weather")
    service = build_tool_service(store, tools=[page["Weather"]()])
    async with store.watch():
        output = await service.execute("weather", {"place": "Paris"})
        with pytest.raises(ValidationFailed, match="`place` is missing"):
            await service.execute("weather", {})
    assert output.value == {"place": "Paris", "asked_by": "default"}


async def test_unlike_tools_stand_in_one_list(page: dict[str, Any]) -> None:
    assert sorted(page["tools_by_name"]()) == ["file", "translate", "weather", "word_count"]
    assert await page["run"]("word_count", {"text": "a b c"}) == {"count": 3}
    with pytest.raises(ValidationFailed, match="`place` is missing"):
        await page["run"]("weather", {})


async def test_the_built_in_tools_are_registered_together(tmp_path: Path) -> None:
    registry = ToolRegistry()
    entries = register_builtins(registry)
    assert registry.list() == tuple(sorted(entry.name for entry in entries))
    assert "bash_exec" in registry.list()
    service = build_tool_service(tools=[])
    register_builtins(service)
    with pytest.raises(Exception, match="registered already"):
        register_builtins(service)
    assert service.registry.list() == registry.list()
