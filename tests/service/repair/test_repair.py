"""Calls as models really spell them: repaired where unambiguous, else refused.

Everything is mended before it is decided, so rules judge what runs; and it is on record.
"""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from policy import PolicyStore
from policy.audit import MemorySink
from policy.model import NotFound, PermissionDenied, ValidationFailed
from policy.service import build_tool_service
from tests.fakes import CountingHandler
from tests.unit.admission.test_malformed_calls import ROWS, catalog

RULES = """\
policy for every agent

default deny

fine:   allow get_mp3_file, file_read, file_reap, search, "ändere_öl"
secret: deny file_read when input.path contains "secret"
"""


class World:
    """A service of a few tools that count what they are called with."""

    def __init__(self, folder: Path) -> None:
        (folder / "global.policy").write_text(RULES)
        path = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
        self.tools = {
            name: CountingHandler(name, schema=path, open_fields=False)
            for name in ("get_mp3_file", "file_read", "file_reap", "file_delete", "ändere_öl")
        }
        self.tools["search"] = CountingHandler("search", schema=SEARCH, open_fields=False)
        self.sink = MemorySink()
        store = PolicyStore(folder)
        self.service = build_tool_service(store, tools=self.tools.values(), audit=self.sink)
        assert store.current is not None, store.status


SEARCH = {
    "type": "object",
    "properties": {
        "query": {"type": "string"},
        "limit": {"type": "integer", "default": 10},
        "tags": {"type": "array", "items": {"type": "string"}},
        "filter": {"type": "object", "properties": {"fileType": {"type": "string"}}},
    },
    "required": ["query"],
}


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


@pytest.mark.parametrize(
    ("spelled", "meant"),
    [
        ("getMP3File", "get_mp3_file"),
        ("GET_MP3_FILE", "get_mp3_file"),
        ("get.mp3.file", "get_mp3_file"),
        ("get-mp3-file", "get_mp3_file"),
        ("ÄNDERE_ÖL", "ändere_öl"),
        ("ändereÖl", "ändere_öl"),
        ("a\u0308ndere_o\u0308l", "ändere_öl"),
        ("get_mp3_flie", "get_mp3_file"),
        ("file_read()", "file_read"),
    ],
)
async def test_a_name_that_can_only_mean_one_tool_is_mended_and_the_call_goes_on(
    world: World, spelled: str, meant: str
) -> None:
    out = await world.service.execute(spelled, {"path": "a"})
    assert out.metadata.tool == meant
    assert world.tools[meant].inputs == [{"path": "a"}]
    (record,) = world.sink.records
    assert (record.asked_tool, record.tool) == (spelled, meant)
    assert record.repairs == out.metadata.repairs == (f"tool name `{spelled}` read as `{meant}`",)


@pytest.mark.parametrize(
    "spelled", ["file_reax", "read_file", "Datei_lesen", "fil", "get_mp4_file"]
)
async def test_a_name_that_may_mean_another_or_none_is_not_found(
    world: World, spelled: str
) -> None:
    with pytest.raises(NotFound):
        await world.service.execute(spelled, {"path": "a"})
    assert not any(tool.calls for tool in world.tools.values())


async def test_the_mended_name_is_what_rules_judge(world: World) -> None:
    for spelled in ("FileDelete", "file_delet", "file.delete"):
        with pytest.raises(PermissionDenied) as refused:
            await world.service.execute(spelled, {"path": "a"})
        assert refused.value.tool == "file_delete"
    assert world.tools["file_delete"].calls == 0


async def test_the_mended_input_is_what_rules_judge(world: World) -> None:
    for given in ({"Path": "secret"}, '"{\\"PATH\\": \\"secret\\"}"'):
        with pytest.raises(PermissionDenied):
            await world.service.execute("FileRead", given)
    assert world.tools["file_read"].calls == 0


@pytest.mark.parametrize(
    ("given", "becomes"),
    [
        ({"query": "x", "limit": "5"}, {"query": "x", "limit": 5}),
        ({"query": "x", "tags": "a"}, {"query": "x", "limit": 10, "tags": ["a"]}),
        ({"query": "x", "tags": '["a"]'}, {"query": "x", "limit": 10, "tags": ["a"]}),
        ({"Query": "x", "LIMIT": "5"}, {"query": "x", "limit": 5}),
        (
            {"query": "x", "filter": '{"file_type": "pdf"}'},
            {"query": "x", "limit": 10, "filter": {"fileType": "pdf"}},
        ),
        ('{"query": "x"}', {"query": "x", "limit": 10}),
    ],
)
async def test_an_input_that_can_only_mean_one_thing_is_mended_and_on_record(
    world: World, given: Any, becomes: dict[str, Any]
) -> None:
    out = await world.service.execute("search", given)
    assert world.tools["search"].inputs == [becomes]
    (record,) = world.sink.records
    assert record.repairs == out.metadata.repairs
    assert bool(record.repairs) == (not isinstance(given, str))


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({}, "`query` is missing"),
        ({"query": 5}, "`query` must be text, not a whole number"),
        ({"query": "x", "limit": "many"}, "`limit` must be a whole number, not text"),
        ({"query": "x", "qeury": "y"}, "`qeury` is not a field of `search`; did you mean `query`?"),
        ("{", "the input cannot be read"),
    ],
)
async def test_what_cannot_be_mended_says_what_to_change(
    world: World, given: Any, said: str
) -> None:
    with pytest.raises(ValidationFailed) as refused:
        await world.service.execute("search", given)
    assert said in refused.value.message
    assert world.tools["search"].calls == 0


async def test_real_malformed_calls_run_mended_or_not_at_all(tmp_path: Path) -> None:
    (tmp_path / "global.policy").write_text("policy for every agent\ndefault allow\n")
    tools = {
        spec.name: CountingHandler(spec.name, schema=spec.schema, open_fields=False)
        for spec in catalog().specs
    }
    sink = MemorySink()
    service = build_tool_service(PolicyStore(tmp_path), tools=tools.values(), audit=sink)
    ran = 0
    for row in ROWS:
        with suppress(NotFound, ValidationFailed):
            await service.execute(row["tool"], row["raw_args"])
        record = sink.records[-1]
        if record.outcome == "ok":
            ran += 1
            assert bool(record.repairs) == bool(row["problems"])
        else:
            assert row["problems"], row
        if not row["problems"]:
            assert tools[row["tool"]].inputs[-1] == json.loads(row["raw_args"])
    assert len(sink.records) == len(ROWS)
    assert sum(tool.calls for tool in tools.values()) == ran == 207


async def test_of_two_fields_that_fit_by_case_and_by_parts_neither_is_meant(
    tmp_path: Path,
) -> None:
    text = {"type": "string"}
    schema = {"type": "object", "properties": {"file_path": text, "filepath": text}}
    tool = CountingHandler("search", schema=schema, open_fields=False)
    (tmp_path / "global.policy").write_text("policy for every agent\ndefault deny\nallow search\n")
    service = build_tool_service(PolicyStore(tmp_path), tools=[tool])
    with pytest.raises(ValidationFailed, match="`filePath` is not a field"):
        await service.execute("search", {"filePath": "x"})
    output = await service.execute("search", {"FILEPATH": "x", "File_Path": "y"})
    assert output.metadata.repairs == (
        "`FILEPATH` read as `filepath`",
        "`File_Path` read as `file_path`",
    )
