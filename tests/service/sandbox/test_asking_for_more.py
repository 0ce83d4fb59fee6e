"""A command gets a folder or a host more once a person has agreed, for the rest of the session."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from policy import PolicyStore
from policy.approvals import Approved
from policy.model import Caller
from policy.sandbox import Peer
from policy.service import GovernedService, build_tool_service
from tests.unit.sandbox.confining import needs_bubblewrap
from tests.unit.sandbox.network.stand_ins import answering, elsewhere

pytestmark = needs_bubblewrap

SETTINGS = '[sandbox]\ndriver = "bubblewrap"\nreads = ["../data"]\nnetwork = "hosts"\n'
POLICY = """\
policy for every agent

default deny

paths data = "{data}/**"

build: allow bash_exec when runs only "make *" and reads only workspace unless runs "make report"
report:
  allow bash_exec when runs only "make report" and reads only [workspace, data]
  with approval remember 8h for input.command up to 20 times
hosts: allow sandbox_connect when connects only to "*.test"
  with approval remember 8h for input.url up to 100 times
"""
MAKEFILE = """\
all report:
\t@cat {data}/d 2>/dev/null || echo nothing
fetch:
\t@curl -sS http://a.test/x
"""


class Approver:
    """Agrees to everything, and notes what it was asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    async def ask(self, request: Any) -> Approved:
        self.asked.append(str(request.input.get("command") or request.input.get("url")))
        return Approved(by="ann")


class World:
    """A service whose sandbox may show one folder, and connect to one host."""

    def __init__(self, folder: Path) -> None:
        for name in ("rules", "work", "data"):
            (folder / name).mkdir()
        self._data = folder / "data"
        (self._data / "d").write_text("of data\n")
        (folder / "work" / "Makefile").write_text(MAKEFILE.format(data=self._data))
        self.rules = folder / "rules"
        (self.rules / "placet.toml").write_text(SETTINGS)
        self.write(POLICY)
        self.store = PolicyStore(self.rules)
        assert self.store.current is not None, self.store.status.diagnostics
        self.approver = Approver()
        self.service = build_tool_service(
            self.store, workspace=folder / "work", approver=self.approver, look_up=self._look_up
        )

    def write(self, policy: str) -> None:
        (self.rules / "global.policy").write_text(policy.format(data=self._data))

    async def make(self, target: str, service: GovernedService | None = None) -> str:
        run = {"command": f"make {target}"}
        return str((await (service or self.service).execute("bash_exec", run)).value["stdout"])

    async def _look_up(self, name: str) -> tuple[str, ...] | None:
        return ("93.184.216.34",)


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


async def test_a_folder_is_shown_to_the_commands_that_a_person_has_agreed_to(world: World) -> None:
    assert await world.make("all") == "nothing\n"
    assert world.approver.asked == []
    assert await world.make("report") == "of data\n"
    assert await world.make("report") == "of data\n"
    assert world.approver.asked == ["make report"]
    # What was agreed to is no folder for everybody.
    assert await world.make("all") == "nothing\n"


async def test_another_session_asks_for_itself(world: World) -> None:
    other = world.service.bound_to(Caller(session="other"))
    for service in (world.service, other, world.service, other):
        assert await world.make("report", service) == "of data\n"
    assert world.approver.asked == ["make report"] * 2


async def test_an_edit_of_the_rule_asks_again(world: World) -> None:
    await world.make("report")
    world.write(POLICY.replace("[workspace, data]", "workspace"))
    world.store.reload()
    assert await world.make("report") == "nothing\n"
    assert world.approver.asked == ["make report"] * 2


async def test_no_answer_shows_what_nobody_configured(world: World) -> None:
    (world.rules / "placet.toml").write_text(SETTINGS.replace('reads = ["../data"]\n', ""))
    world.store.reload()
    assert await world.make("report") == "nothing\n"
    assert world.approver.asked == ["make report"]


@pytest.fixture
async def reachable(world: World, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[World]:
    async with elsewhere() as hosts:
        await hosts.serve("a.test", 80, answering)

        async def dial(address: str, port: int) -> Peer:
            return Peer.of(await asyncio.open_connection("127.0.0.1", hosts.ports["a.test", 80]))

        monkeypatch.setattr("policy.service.sandbox_connections.dial", dial)
        yield world


async def test_a_host_is_asked_for_once_in_a_session(reachable: World) -> None:
    for _ in range(2):
        assert (await reachable.make("fetch")).startswith("GET /x")
    assert reachable.approver.asked == ["http://a.test:80"]
