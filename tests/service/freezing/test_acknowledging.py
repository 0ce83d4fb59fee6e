"""A loosened policy takes effect through a service only on behalf of an owner, and on record."""

from __future__ import annotations

from pathlib import Path

import pytest

from policy import Caller, NotFound, PermissionDenied, PolicyStore, ToolError, build_tool_service
from policy.audit import MemorySink
from policy.service import GovernedService
from policy.tools import tool
from tests.fakes import BrokenSink

RULES = "policy for every agent\n\ndefault {}\nfree: allow let_it\n"


class Desk:
    """A policy of which a loosened version waits, and its service."""

    def __init__(self, folder: Path, sink: MemorySink | BrokenSink) -> None:
        rules = folder / "rules"
        rules.mkdir()
        (folder / "work").mkdir()
        (rules / "placet.toml").write_text('[reload]\nloosening = "refuse"\n')
        (rules / "global.policy").write_text(RULES.format("deny"))
        self.tried: list[str] = []

        @tool
        async def let_it() -> str:
            """Try to acknowledge."""
            try:
                await self.service.acknowledge(self.digest)
            except PermissionDenied as error:
                self.tried.append(error.kind)
            return "tried"

        self.store = PolicyStore(rules, settle=0.0)
        self.service: GovernedService = build_tool_service(
            self.store, tools=[let_it], audit=sink, workspace=folder / "work"
        )
        (rules / "global.policy").write_text(RULES.format("ask"))
        self.store.reload()
        assert self.store.status.loosening is not None
        self.digest = self.store.status.loosening.digest

    @property
    def number(self) -> int:
        assert self.store.current is not None
        return self.store.current.id.number


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


async def test_an_owner_acknowledges_it_and_that_is_recorded(tmp_path: Path) -> None:
    sink = MemorySink()
    desk = Desk(tmp_path, sink)
    with pytest.raises(NotFound):
        await desk.service.acknowledge("sha256:" + "0" * 64)
    before = desk.number
    await desk.service.acknowledge(desk.digest)
    assert desk.number == before + 1
    last = sink.records[-1]
    assert (last.tool, last.outcome) == ("placet:acknowledge", "ok")
    assert last.reasons[0].rule == "loosening"


@pytest.mark.parametrize(
    "caller", [Caller(role="clerk"), Caller(parent=Caller(agent="coder")), Caller(role="guest")]
)
async def test_nobody_else_does(tmp_path: Path, caller: Caller) -> None:
    sink = MemorySink()
    desk = Desk(tmp_path, sink)
    before = desk.number
    with pytest.raises(PermissionDenied):
        await desk.service.bound_to(caller).acknowledge(desk.digest)
    assert desk.store.reload().generation is desk.store.current
    assert desk.number == before
    assert sink.records[-1].tool == "placet:acknowledge"


async def test_no_tool_does_in_the_middle_of_a_call(tmp_path: Path) -> None:
    desk = Desk(tmp_path, MemorySink())
    before = desk.number
    assert (await desk.service.execute("let_it", {})).value == "tried"
    assert (len(desk.tried), desk.number) == (1, before)


async def test_what_cannot_be_recorded_has_no_effect(tmp_path: Path) -> None:
    desk = Desk(tmp_path, BrokenSink())
    before = desk.number
    with pytest.raises(ToolError):
        await desk.service.acknowledge(desk.digest)
    desk.store.reload()
    assert desk.number == before
