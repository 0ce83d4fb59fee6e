"""MCP servers behind a service: their tools, decided, recorded and kept in step."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp.types import CallToolRequest, CallToolRequestParams
from pydantic import RootModel

from policy import Caller, PolicyStore
from policy.audit import MemorySink
from policy.catalog import LOCK_FILE
from policy.generation import McpServer, StdioServer
from policy.mcp import McpServers, configured_servers, resolved_program
from policy.model import Execution, PermissionDenied, ToolError, Transport
from policy.pins import (
    Lock,
    PinState,
    Reviewed,
    accepted,
    definitions_of,
    write_lock,
)
from policy.proxy import ListChanges, tool_server
from policy.service import GovernedService, build_tool_service
from policy.tools import NotAsListed, RelayedResult
from policy.tools import tool as host_tool
from tests.fakes import CountingHandler
from tests.mcp_servers.scripted import NAMES, tool
from tests.waiting import until

SERVER = Path(__file__).resolve().parents[2] / "mcp_servers" / "scripted.py"
HEADER = "policy for every agent\n\ndefault deny\n\n"
ADA, BOB = Caller(user="ada", session="one"), Caller(user="bob", session="two")


def command(folder: Path, mode: str = "") -> tuple[str, ...]:
    return (sys.executable, "-I", "-S", str(SERVER), mode, str(folder))


def scripted(folder: Path, name: str = "one", mode: str = "", **settings: Any) -> McpServer:
    return McpServer(name=name, transport=StdioServer(command=command(folder, mode)), **settings)


class Stage:
    """A service under rules in a folder, with its records."""

    def __init__(self, folder: Path, rules: str, **files: str) -> None:
        self.folder = folder / "rules"
        self.folder.mkdir()
        (self.folder / "global.policy").write_text(HEADER + rules)
        for name, text in files.items():
            (self.folder / name.replace("_", ".")).write_text(text)
        self.store = PolicyStore(self.folder)
        self.sink = MemorySink()
        self.service: GovernedService = build_tool_service(
            self.store, tools=(), audit=self.sink, workspace=folder, caller=ADA
        )

    @asynccontextmanager
    async def serving(self, *servers: McpServer, **options: Any) -> AsyncIterator[McpServers]:
        behind = McpServers(self.service, **options)
        try:
            await behind.use(servers)
            yield behind
        finally:
            await behind.close()

    @property
    def names(self) -> set[str]:
        return set(self.service.registry.list())


ALL = {f"one__{name}" for name in NAMES}
# Its tools are new, so that people would be asked; a list that was reviewed says that they are not.
REVIEWED = json.dumps([tool(name) for name in ("echo", "note", "fails", "dies", "state", "waits")])
LISTED = '[catalogue.servers]\none = "one.json"\n'


def reviewed(folder: Path, rules: str) -> Stage:
    return Stage(folder, rules, placet_toml=LISTED, one_json=REVIEWED)


async def test_tools_are_called_through_the_policy(tmp_path: Path) -> None:
    s = reviewed(tmp_path, "allow one__echo\ndeny one__note\n")
    async with s.serving(scripted(tmp_path)):
        assert s.names == ALL
        output = await s.service.execute("one__echo", {"text": "hi"})
        assert output.value == "hi"
        assert output.metadata.source == "mcp"
        with pytest.raises(PermissionDenied):
            await s.service.execute("one__note", {"text": "x"})
        assert [tool.name for tool in s.service.list()] == ["one__echo"]
    assert (tmp_path / "calls").read_text() == 'echo {"text": "hi"}\n'
    assert [(record.asked_tool, record.outcome, record.source) for record in s.sink.records] == [
        ("one__echo", "ok", "mcp"),
        ("one__note", "denied", "mcp"),
    ]


async def test_rules_match_the_server_and_its_tool(tmp_path: Path) -> None:
    s = reviewed(tmp_path, "allow mcp one/echo\n")
    async with s.serving(scripted(tmp_path)):
        assert (await s.service.execute("one__echo", {"text": "hi"})).value == "hi"


async def test_a_result_is_kept_as_the_server_sent_it(tmp_path: Path) -> None:
    s = reviewed(tmp_path, "allow one__echo\n")
    async with s.serving(scripted(tmp_path)):
        output = await s.service.execute("one__echo", {"text": "hi"})
    assert output.relayed == RelayedResult(
        content=({"type": "text", "text": "hi", "vendorKey": "kept"},),
        meta={"example.com/vendor": {"kept": True}},
        more={"vendorKey": "kept"},
    )


async def test_a_failure_that_a_server_reports_is_recorded_as_one(tmp_path: Path) -> None:
    s = reviewed(tmp_path, "allow one__fails\n")
    async with s.serving(scripted(tmp_path)):
        output = await s.service.execute("one__fails", {})
    assert output.is_error
    assert output.value == "no such file"
    (record,) = s.sink.records
    assert (record.outcome, record.error, record.code) == ("failed", "execution", "tool-error")
    # What a server says is not in a record.
    assert record.message == "the tool reported that it failed"


async def test_a_call_that_may_have_run_says_so_and_runs_once(tmp_path: Path) -> None:
    s = reviewed(tmp_path, "allow one__dies\n")
    async with s.serving(scripted(tmp_path)):
        with pytest.raises(Transport, match="may have run, but the server `one` did not answer"):
            await s.service.execute("one__dies", {})
    assert (tmp_path / "calls").read_text() == "dies {}\n"
    (record,) = s.sink.records
    assert record.outcome == "unreachable"


async def test_callers_do_not_see_each_others_state(tmp_path: Path) -> None:
    s = reviewed(tmp_path, "allow one__note, one__state\n")
    async with s.serving(scripted(tmp_path)):
        await s.service.execute("one__note", {"text": "of ada"})
        seen = await s.service.execute("one__state", {})
        assert seen.value["notes"] == ["of ada"]
        others = await s.service.bound_to(BOB).execute("one__state", {})
        assert others.value["notes"] == []


async def test_tools_of_a_server_are_one_change_of_the_policy(tmp_path: Path) -> None:
    s = Stage(tmp_path, "allow one__echo\n")
    before = s.store.current
    assert before is not None
    async with s.serving(scripted(tmp_path)):
        after = s.store.current
        assert after is not None
        assert after.id.number == before.id.number + 1


async def test_announced_tools_are_registered(tmp_path: Path) -> None:
    s = reviewed(tmp_path, "allow one__echo\n")
    async with s.serving(scripted(tmp_path, isolation="shared")) as servers:
        client = servers.client("one")
        assert client is not None
        await client.call_tool("grow", {})
        await until(lambda: "one__grown" in s.names)
        assert s.names == ALL | {"one__grown"}
        # Four announcements in a row are one reason to ask.
        assert len((tmp_path / "lists").read_text().splitlines()) == 2


async def test_tools_are_listed_again_after_the_session_was_lost(tmp_path: Path) -> None:
    s = reviewed(tmp_path, "allow one__dies\n")
    async with s.serving(scripted(tmp_path, isolation="shared")):
        with pytest.raises(Transport):
            await s.service.execute("one__dies", {})
        await until(lambda: len((tmp_path / "starts").read_text().splitlines()) == 2)
        assert s.names == ALL


async def test_a_server_that_starts_later_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("policy.mcp.served_server._FIRST_PAUSE", 0.01)
    s = Stage(tmp_path, "allow one__echo\n")
    async with s.serving(scripted(tmp_path, mode="ends until told")) as servers:
        assert s.names == set()
        assert "exit status 3" in servers.report()["one"].problems[0]
        (tmp_path / "told").touch()
        await until(lambda: s.names == ALL)
        assert servers.report()["one"].problems == ()


async def test_a_server_that_does_not_start_does_not_keep_others_from_it(tmp_path: Path) -> None:
    s = reviewed(tmp_path, "allow one__echo\n")
    broken = scripted(tmp_path, "broken", "ends")
    async with s.serving(broken, scripted(tmp_path)) as servers:
        assert s.names == ALL
        report = servers.report()
        assert "ended with exit status 3" in report["broken"].problems[0]
        assert report["one"].problems == ()
        assert report["one"].status.state == "open"


async def test_only_changed_servers_are_started_again(tmp_path: Path) -> None:
    s = reviewed(tmp_path, "allow one__echo\n")
    one, two = scripted(tmp_path), scripted(tmp_path, "two")
    async with s.serving(one, two) as servers:
        first = servers.client("one")
        await servers.use((one, scripted(tmp_path, "two", "two pages")))
        assert servers.client("one") is first
        assert len((tmp_path / "starts").read_text().splitlines()) == 3
        await servers.use((one,))
        assert s.names == ALL


async def test_a_name_that_is_taken_is_a_problem_of_the_server(tmp_path: Path) -> None:
    s = Stage(tmp_path, "allow *\n")
    s.service.register(CountingHandler("one__echo"))
    async with s.serving(scripted(tmp_path)) as servers:
        (problem,) = servers.report()["one"].problems
        assert "a tool called `one__echo` is registered already" in problem
        assert s.names == {f"one__{name}" for name in NAMES}
        assert isinstance(s.service.registry.get("one__echo"), CountingHandler)


PATHS = (("../x", "clients accept letters, digits"), ("y" * 60, "and clients accept 64"))


@pytest.mark.parametrize(("name", "said"), PATHS)
async def test_names_that_nobody_could_call_are_refused(
    tmp_path: Path, name: str, said: str
) -> None:
    s = Stage(tmp_path, "allow one__echo\n")
    (tmp_path / "tools").write_text(name)
    async with s.serving(scripted(tmp_path, mode="odd name")) as servers:
        assert s.names == {"one__echo"}
        (problem,) = servers.report()["one"].problems
        assert said in problem


async def test_a_schema_that_is_too_deep_keeps_its_own_tool_out(tmp_path: Path) -> None:
    s = reviewed(tmp_path, "allow one__echo\n")
    async with s.serving(scripted(tmp_path, mode="deep schema")) as servers:
        assert "one__deep" not in s.names and "one__echo" in s.names
        (problem,) = servers.report()["one"].problems
        assert "tool `deep`: it cannot be read: nested too deeply" in problem
        assert (await s.service.execute("one__echo", {"text": "hi"})).value == "hi"


BROKEN = ("endless line", "garbage", "very deep schema", "endless pages", "no list", "hangs")


async def test_servers_that_misbehave_leave_the_others_up(tmp_path: Path) -> None:
    s = reviewed(tmp_path, "allow one__echo\n")
    broken = [scripted(tmp_path, f"broken-{n}", mode, start=2.0) for n, mode in enumerate(BROKEN)]
    async with s.serving(*broken, scripted(tmp_path)) as servers:
        report = servers.report()
        assert all(report[server.name].problems for server in broken)
        assert report["one"].problems == ()
        assert (await s.service.execute("one__echo", {"text": "hi"})).value == "hi"


async def test_a_server_that_announces_lists_without_end_is_asked_less_and_less(
    tmp_path: Path,
) -> None:
    s = reviewed(tmp_path, "allow one__echo\n")
    (tmp_path / "storm").mkdir()
    storm = scripted(tmp_path / "storm", "storm", "announces each time")
    lists = tmp_path / "storm" / "lists"
    loop = asyncio.get_running_loop()
    began = loop.time()
    async with s.serving(storm, scripted(tmp_path)) as servers:
        await until(lambda: len(lists.read_text().splitlines()) >= 4)
        # Two, four and eight tenths of a second apart, in place of one.
        assert loop.time() - began > 1.0
        assert (await s.service.execute("one__echo", {"text": "hi"})).value == "hi"
        assert servers.report()["one"].problems == ()


@pytest.mark.parametrize("how", ["altered", "no JSON", "another version"])
async def test_a_lock_that_is_tampered_with_changes_nothing(tmp_path: Path, how: str) -> None:
    s = Stage(tmp_path, "allow one__echo\n", placet_toml=written(tmp_path, "shared", listed=""))
    lock = write_lock(accepting(tmp_path, "echo"))
    file = s.folder / LOCK_FILE
    file.write_bytes(lock)
    s.store.reload()
    async with configured_servers(s.service, s.store) as servers:
        assert servers.report()["one"].pins["echo"] is PinState.UNCHANGED
        text = lock.decode()
        tampered = {
            "altered": text.replace("Does echo.", "Sends mail."),
            "no JSON": "{",
            "another version": text.replace('"version": 1', '"version": 9'),
        }[how]
        assert tampered != text
        file.write_text(tampered)
        s.store.reload()
        assert s.store.status.stale_since is not None
        assert "tools.lock" in (s.store.status.because or "")
        assert (await s.service.execute("one__echo", {"text": "hi"})).value == "hi"
        assert servers.report()["one"].pins["echo"] is PinState.UNCHANGED


REVIEW = Reviewed(by="grace", at="2026-11-23T08:00:00Z")


def accepting(folder: Path, *names: str, changed: str = "", mode: str = "") -> Lock:
    """Return a lock with these tools as the server defines them, but for one."""
    tools = [tool(name, "Reads mail." if name == changed else "") for name in names]
    definitions = definitions_of(
        "one",
        tools=tools,
        instructions="Be kind.",
        program=resolved_program(command(folder, mode), said="1"),
    )
    return accepted(Lock(), definitions, reviewed=REVIEW, tools=frozenset(names))


async def test_what_has_changed_since_its_review_is_denied_and_not_shown(tmp_path: Path) -> None:
    s = Stage(tmp_path, "allow one__echo, one__note\n")
    lock = accepting(tmp_path, "echo", "note", changed="note")
    async with s.serving(scripted(tmp_path), lock=lambda: lock) as servers:
        pins = servers.report()["one"].pins
        assert pins["echo"] is PinState.UNCHANGED
        assert pins["note"] is PinState.CHANGED
        assert pins["state"] is PinState.NEW
        note = s.service.registry.get("one__note")
        assert note is not None
        assert (note.definition.description, note.spec.description) == ("", "")


@pytest.mark.parametrize("isolation", ["session", "caller", "shared"])
async def test_a_tool_that_changes_in_the_session_of_the_calls_is_not_called(
    tmp_path: Path, isolation: str
) -> None:
    s = reviewed(tmp_path, "allow one__echo, one__note, one__state\n")
    async with s.serving(scripted(tmp_path, isolation=isolation)):
        assert (await s.service.execute("one__echo", {"text": "before"})).value == "before"
        await s.service.execute("one__note", {"text": "change"})
        for _ in range(2):
            with pytest.raises(PermissionDenied) as denied:
                await s.service.execute("one__echo", {"text": "after"})
            assert denied.value.code == "not-reviewed"
            assert "ssh" not in str(denied.value)
        assert (await s.service.execute("one__state", {})).value["notes"] == []
        others = await asyncio.gather(
            s.service.bound_to(BOB).execute("one__echo", {"text": "of bob"}),
            return_exceptions=True,
        )
        assert isinstance(others[0], PermissionDenied) is (isolation == "shared")
    assert "after" not in (tmp_path / "calls").read_text()
    assert s.sink.records[2].outcome == "denied"


async def test_a_session_that_has_another_list_from_its_start_is_noticed(tmp_path: Path) -> None:
    s = reviewed(tmp_path, "allow one__echo, one__note\n")
    async with s.serving(scripted(tmp_path, mode="another the second time")):
        for _ in range(2):
            with pytest.raises(PermissionDenied) as denied:
                await s.service.execute("one__echo", {"text": "hi"})
            assert denied.value.code == "not-reviewed"
        await s.service.execute("one__note", {"text": "the same as ever"})
    assert (tmp_path / "calls").read_text() == 'note {"text": "the same as ever"}\n'


async def test_a_change_that_is_not_announced_is_noticed_when_the_list_is_old(
    tmp_path: Path,
) -> None:
    s = reviewed(tmp_path, "allow one__echo, one__note\n")
    async with s.serving(scripted(tmp_path, check=0.001)):
        await s.service.execute("one__note", {"text": "change quietly"})
        await asyncio.sleep(0.002)
        with pytest.raises(PermissionDenied) as denied:
            await s.service.execute("one__echo", {"text": "hi"})
        assert denied.value.code == "not-reviewed"


async def test_a_list_that_is_not_old_is_not_asked_for_again(tmp_path: Path) -> None:
    s = reviewed(tmp_path, "allow one__echo\n")
    async with s.serving(scripted(tmp_path)):
        for _ in range(3):
            await s.service.execute("one__echo", {"text": "hi"})
    # Once for the tools, and once in the session of the calls.
    assert len((tmp_path / "lists").read_text().splitlines()) == 2


@pytest.mark.parametrize("accepted", [True, False])
async def test_other_instructions_in_a_session_count_for_what_was_reviewed_with_them(
    tmp_path: Path, *, accepted: bool
) -> None:
    s = reviewed(tmp_path, "allow one__echo\n")
    lock = accepting(tmp_path, "echo", mode="rude later") if accepted else Lock()
    async with s.serving(scripted(tmp_path, mode="rude later"), lock=lambda: lock):
        call = s.service.execute("one__echo", {"text": "hi"})
        if not accepted:
            assert (await call).value == "hi"
            return
        with pytest.raises(PermissionDenied) as denied:
            await call
        assert denied.value.code == "not-reviewed"


async def test_tools_that_were_accepted_say_why_their_server_cannot_be_called(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("policy.mcp.served_server._FIRST_PAUSE", 3600)
    s = Stage(tmp_path, "allow one__echo, one__note\n")
    mode = "ends until told"
    lock = accepting(tmp_path, "echo", "note", mode=mode, changed="note")
    (s.folder / LOCK_FILE).write_bytes(write_lock(lock))
    s.store.reload()
    async with s.serving(scripted(tmp_path, mode=mode), lock=lambda: lock):
        assert s.names == {"one__echo", "one__note"}
        with pytest.raises(Transport, match=r"`one` was not called: .* with exit status 3"):
            await s.service.execute("one__echo", {"text": "hi"})
        (tmp_path / "told").touch()
        await until_it_may_be_tried_again(s)
        with pytest.raises(PermissionDenied) as denied:
            await s.service.execute("one__note", {"text": "x"})
        assert denied.value.code == "not-reviewed"
        assert s.names == ALL
    assert (tmp_path / "calls").read_text() == 'echo {"text": "hi"}\n'


async def test_only_tools_of_servers_are_not_as_listed(tmp_path: Path) -> None:
    """A tool of the program cannot make its failure look like a denial."""

    @host_tool
    def look() -> str:
        """Look."""
        raise NotAsListed

    s = Stage(tmp_path, "allow look\n")
    s.service.register(look)
    with pytest.raises(Execution):
        await s.service.execute("look", {})


async def until_it_may_be_tried_again(s: Stage) -> None:
    """Call until the pause after failures is over."""
    async with asyncio.timeout(60):
        while True:
            try:
                assert (await s.service.execute("one__echo", {"text": "hi"})).value == "hi"
            except Transport:
                await asyncio.sleep(0.05)
            else:
                return


TOML = """
[mcp.servers.one]
command = {command}
args = {args}
isolation = "{isolation}"

{listed}
"""


def written(folder: Path, isolation: str, *, listed: str = LISTED) -> str:
    program, *arguments = command(folder)
    return TOML.format(
        command=json.dumps(program),
        args=json.dumps(arguments),
        isolation=isolation,
        listed=listed,
    )


async def test_servers_of_the_configuration_follow_its_edits(tmp_path: Path) -> None:
    s = Stage(
        tmp_path, "allow one__echo\n", placet_toml=written(tmp_path, "shared"), one_json=REVIEWED
    )
    settings = s.folder / "placet.toml"
    async with configured_servers(s.service, s.store) as servers:
        assert s.names == ALL
        assert (await s.service.execute("one__echo", {"text": "hi"})).value == "hi"
        first = servers.client("one")
        settings.write_text(written(tmp_path, "caller"))
        s.store.reload()
        await until(lambda: servers.client("one") not in (first, None))
        settings.write_text("")
        s.store.reload()
        await until(lambda: s.names == set())
        with pytest.raises(ToolError):
            await s.service.execute("one__echo", {})


class Raw(RootModel[dict[str, Any]]):
    """A result as it was sent."""


@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_clients_get_results_with_all_of_their_keys(tmp_path: Path, mode: str) -> None:
    s = reviewed(tmp_path, "allow one__echo, one__fails\n")
    server = tool_server(lambda client: s.service, ListChanges())
    async with s.serving(scripted(tmp_path)), Client(server, mode=mode) as client:

        async def call(name: str) -> dict[str, Any]:
            params = CallToolRequestParams(name=name, arguments={"text": "hi"})
            return (await client.session.send_request(CallToolRequest(params=params), Raw)).root

        echoed, failed = await call("one__echo"), await call("one__fails")
    assert echoed["content"] == [{"type": "text", "text": "hi", "vendorKey": "kept"}]
    assert echoed["vendorKey"] == "kept"
    assert echoed["_meta"]["example.com/vendor"] == {"kept": True}
    assert not echoed.get("isError")
    assert failed["isError"]
    assert failed["content"] == [{"type": "text", "text": "no such file"}]


@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_clients_get_redacted_results_with_all_other_keys(tmp_path: Path, mode: str) -> None:
    rules = (
        "allow one__echo, one__fails\n"
        'names: redact results of mcp one/* matching /ada|such/ with "[name]"\n'
    )
    s = reviewed(tmp_path, rules)
    server = tool_server(lambda client: s.service, ListChanges())
    async with s.serving(scripted(tmp_path)), Client(server, mode=mode) as client:

        async def call(name: str) -> dict[str, Any]:
            params = CallToolRequestParams(name=name, arguments={"text": "hi ada"})
            return (await client.session.send_request(CallToolRequest(params=params), Raw)).root

        echoed, failed = await call("one__echo"), await call("one__fails")
    assert echoed["content"] == [{"type": "text", "text": "hi [name]", "vendorKey": "kept"}]
    assert echoed["vendorKey"] == "kept"
    assert echoed["_meta"]["example.com/vendor"] == {"kept": True}
    assert failed["isError"]
    assert failed["content"] == [{"type": "text", "text": "no [name] file"}]
    assert [one.places for record in s.sink.records for one in record.redactions] == [1, 1]


async def test_an_error_of_the_protocol_is_a_failure_of_the_tool(tmp_path: Path) -> None:
    s = Stage(
        tmp_path, "allow one__gone\n", placet_toml=LISTED, one_json=json.dumps([tool("gone")])
    )
    (tmp_path / "tools").write_text("gone")
    async with s.serving(scripted(tmp_path, mode="odd name")):
        with pytest.raises(Execution, match="answered with an error: unknown tool gone"):
            await s.service.execute("one__gone", {})
