"""Calls that wait for a thread, a process or its turn begin only if they still may."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from policy import Caller, PermissionDenied, PolicyStore, build_tool_service
from policy.tools import tool
from tests.service.plugins.running_plugins import program, running, table
from tests.unit.sandbox.confining import needs_bubblewrap
from tests.waiting import until

RULES = "policy for every agent\n\ndefault deny\n"
ALLOWED = f"{RULES}\nit: allow block\n"


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


class Queue:
    """More calls of a tool that blocks than one caller may have threads."""

    def __init__(self, folder: Path) -> None:
        self._policy = folder / "rules/global.policy"
        self._policy.parent.mkdir()
        self._policy.write_text(ALLOWED)
        self.begun: list[int] = []
        may_end = self._may_end = threading.Event()
        begun = self.begun

        @tool
        def block(n: int) -> str:
            """Block."""
            begun.append(n)
            may_end.wait()
            return "ok"

        self.store = PolicyStore(self._policy.parent, settle=0.0)
        self.service = build_tool_service(self.store, tools=[block])

    def write(self, rules: str) -> None:
        before = self.store.status.generation
        self._policy.write_text(rules)
        self.store.reload()
        assert self.store.status.generation != before

    async def codes(self, meanwhile: Callable[[], Awaitable[object]]) -> list[str]:
        """Return how 20 calls end of which some begin after `meanwhile`."""
        service = self.service.bound_to(Caller(user="ann"))
        calls = [asyncio.create_task(service.execute("block", {"n": n})) for n in range(20)]
        try:
            await until(lambda: len(self.begun) == 16)
            await meanwhile()
        finally:
            self._may_end.set()
        found: list[Any] = await asyncio.gather(*calls, return_exceptions=True)
        return [each.code if isinstance(each, PermissionDenied) else each.value for each in found]


async def test_a_frozen_call_that_waits_for_a_thread_does_not_begin(tmp_path: Path) -> None:
    queue = Queue(tmp_path)

    async def freeze() -> None:
        await queue.service.freeze(["block"], because="stop")

    assert await queue.codes(freeze) == ["ok"] * 16 + ["frozen"] * 4
    assert len(queue.begun) == 16


@pytest.mark.parametrize(
    ("rules", "code"),
    [
        (f"{RULES}\nit: deny block\n", "changed-meanwhile"),
        (RULES, "changed-meanwhile"),
        (f"{ALLOWED}asks: allow block with approval when input.n > 1\n", "changed-meanwhile"),
        (f"{ALLOWED}it2: redact results of block matching /ok/\n", "changed-meanwhile"),
        # What such an edit leaves as it was runs as ever.
        (f"{ALLOWED}other: deny block when input.n > 99\n", "ok"),
        (f"{ALLOWED}once: limit block to 20 per 1h\n", "ok"),
    ],
)
async def test_an_edit_applies_to_a_call_that_waits_for_a_thread(
    tmp_path: Path, rules: str, code: str
) -> None:
    queue = Queue(tmp_path)

    async def edit() -> None:
        queue.write(rules)

    assert await queue.codes(edit) == ["ok"] * 16 + [code] * 4


NAP = """
def call(tool, input):
    with open(input["note"], "a") as file:
        file.write("begun\\n")
    while not os.path.exists(input["note"] + ".end"):
        time.sleep(0.01)
    return "done"
"""


@needs_bubblewrap
@pytest.mark.parametrize("stop", ["freeze", "edit"])
async def test_a_call_that_waits_for_its_turn_in_a_plugin_does_not_begin(
    tmp_path: Path, stop: str
) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    access = {"writes": [str(notes)], "network": "hosts", "connects": ["a.test"]}
    folder = program(tmp_path, NAP, access=access)
    own = f'[plugins.hostile.sandbox]\nwrites = ["{notes}"]\nnetwork = "hosts"\n'
    tables = table(folder, more=f'{own}connects = ["a.test"]')
    allowed = f"{RULES}\nit: allow ext hostile/*\n"
    async with running(tmp_path, tables, confined=True, policy=allowed) as on:
        note = notes / "note"
        calls = [asyncio.create_task(on.call("ext__hostile__t", note=str(note))) for _ in range(3)]
        await until(note.exists)
        if stop == "freeze":
            await on.service.freeze(["ext *"], because="stop")
        else:
            (on.rules / "global.policy").write_text(f"{RULES}\nit: deny ext hostile/*\n")
            on.store.reload()
        note.with_name("note.end").touch()
        found: list[Any] = await asyncio.gather(*calls, return_exceptions=True)
        assert note.read_text() == "begun\n"
    code = "frozen" if stop == "freeze" else "changed-meanwhile"
    assert [getattr(each, "code", each) for each in found] == ["done", code, code]


SLOW_START = """
def call(tool, input):
    return "done"

if os.path.exists("FOLDER/hold"):
    open("FOLDER/starting", "w").close()
while os.path.exists("FOLDER/hold"):
    time.sleep(0.01)
"""


async def test_a_call_that_waits_for_a_process_to_start_does_not_begin(tmp_path: Path) -> None:
    folder = program(tmp_path, SLOW_START.replace("FOLDER", str(tmp_path)))
    allowed = f"{RULES}\nit: allow ext hostile/*\n"
    async with running(tmp_path, table(folder), policy=allowed) as on:
        (tmp_path / "hold").touch()
        call = asyncio.create_task(on.call("ext__hostile__t"))
        await until((tmp_path / "starting").exists)
        await on.service.freeze(["ext *"], because="stop")
        (tmp_path / "hold").unlink()
        with pytest.raises(PermissionDenied) as refused:
            await call
        assert refused.value.code == "frozen"
        await on.service.unfreeze()
        assert await on.call("ext__hostile__t") == "done"


async def test_a_file_that_waits_to_be_read_is_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    may_end, begun = threading.Event(), []

    def read(*of: object) -> str:
        begun.append(of)
        may_end.wait()
        return "read"

    monkeypatch.setattr("policy.tools.handlers.files._read", read)
    for name in ("rules", "work"):
        (tmp_path / name).mkdir()
    (tmp_path / "rules/global.policy").write_text(f"{RULES}\nit: allow file_read\n")
    service = build_tool_service(PolicyStore(tmp_path / "rules"), workspace=tmp_path / "work")
    mine = service.bound_to(Caller(user="ann"))
    calls = [asyncio.create_task(mine.execute("file_read", {"path": "a"})) for _ in range(18)]
    try:
        await until(lambda: len(begun) == 16)
        await service.freeze(["file_*"], because="stop")
    finally:
        may_end.set()
    found: list[Any] = await asyncio.gather(*calls, return_exceptions=True)
    assert sum(isinstance(each, PermissionDenied) for each in found) == 2
    assert len(begun) == 16
