"""What a confined command may connect to, by the rules in force while it runs."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, cast

import pytest

from policy import PolicyStore
from policy.approvals import Approved, Denied
from policy.audit import MemorySink
from policy.model import Execution, PermissionDenied
from policy.sandbox import Peer
from policy.service import GovernedService, build_tool_service
from policy.service.program_launcher import ProgramLauncher
from tests.unit.sandbox.confining import needs_bubblewrap
from tests.unit.sandbox.network.stand_ins import Elsewhere, answering, elsewhere
from tests.waiting import until

pytestmark = needs_bubblewrap

ON = '[sandbox]\ndriver = "bubblewrap"\nnetwork = "hosts"\n'
ADDRESSES = {
    "a.test": ("93.184.216.34",),
    "b.test": ("93.184.216.35",),
    "own.test": ("10.1.2.3",),
    "mixed.test": ("10.1.2.3", "93.184.216.34"),
}


class World:
    """A service, the hosts that its commands find, and what was looked up and connected to."""

    def __init__(self, folder: Path, hosts: Elsewhere) -> None:
        self.rules = folder / "rules"
        self.rules.mkdir()
        (folder / "work").mkdir()
        self._hosts = hosts
        self.looked_up: list[str] = []
        self.dialled: list[tuple[str, int]] = []
        self.records = MemorySink()

    async def look_up(self, name: str) -> tuple[str, ...] | None:
        self.looked_up.append(name)
        return ADDRESSES.get(name)

    async def dial(self, address: str, port: int) -> Peer:
        self.dialled.append((address, port))
        return Peer.of(await asyncio.open_connection("127.0.0.1", self._hosts.ports["a.test", 80]))

    def write(self, rules: str, settings: str = "") -> None:
        text = f"policy for every agent\n\ndefault deny\n\n{rules}\n"
        (self.rules / "global.policy").write_text(text, encoding="utf-8")
        (self.rules / "placet.toml").write_text(ON + settings, encoding="utf-8")

    def service(self, rules: str, settings: str = "", **more: Any) -> GovernedService:
        self.write(rules, settings)
        self.store = PolicyStore(self.rules)
        assert self.store.current is not None, self.store.status.diagnostics
        return build_tool_service(
            self.store,
            workspace=self.rules.parent / "work",
            audit=self.records,
            look_up=self.look_up,
            **more,
        )

    def connections(self) -> list[tuple[str, str, str | None]]:
        """Return the recorded connections: host, outcome, and the id of the call around each."""
        return [
            (str(cast(Any, record.input)["url"]), record.outcome, record.parent)
            for record in self.records.records
            if record.tool == "sandbox_connect"
        ]


@pytest.fixture
async def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[World]:
    async with elsewhere() as hosts:
        await hosts.serve("a.test", 80, answering)
        world = World(tmp_path, hosts)
        monkeypatch.setattr("policy.service.sandbox_connections.dial", world.dial)
        yield world


async def output(service: GovernedService, *urls: str) -> str:
    """Return what curl prints for some URLs, one after the other."""
    script = "; ".join(f"curl -sS {url}; echo" for url in urls)
    found = await service.execute("bash_exec", {"command": script})
    return str(found.value["stdout"])


REFUSED = "the sandbox does not connect to {}:80: {}"


async def test_without_anything_that_names_it_no_host_is_reached(world: World) -> None:
    service = world.service("allow bash_exec")
    said = await output(service, "http://a.test/")
    assert said.startswith(REFUSED.format("a.test", "no rule allows this"))
    # A name that would not be connected to is not even looked up: it could carry something out.
    assert world.looked_up == []


async def test_a_default_opens_no_network(world: World) -> None:
    service = world.service("allow bash_exec")
    text = (world.rules / "global.policy").read_text().replace("default deny", "default allow")
    (world.rules / "global.policy").write_text(text)
    world.store.reload()
    assert "no rule allows this" in await output(service, "http://a.test/")


async def test_a_rule_that_only_denies_hosts_opens_none(world: World) -> None:
    service = world.service('allow bash_exec\ndeny * when connects to "b.test"')
    assert "no rule allows this" in await output(service, "http://a.test/")
    assert world.dialled == []


async def test_no_rule_about_connections_widens_what_the_running_call_may_reach(
    world: World,
) -> None:
    service = world.service(
        'allow bash_exec when runs only "make *" and connects only to "a.test"\n'
        'allow sandbox_connect when connects only to ["a.test", "b.test"]',
        'connects = ["b.test"]\n',
    )
    makefile = "all:\n\t-curl -sS http://a.test/x\n\t-curl -sS http://b.test/x\n"
    (world.rules.parent / "work" / "Makefile").write_text(makefile)
    await service.execute("bash_exec", {"command": "make"})
    assert world.looked_up == ["a.test"]


async def test_a_rule_allows_connections_by_name(world: World) -> None:
    service = world.service('allow bash_exec\nallow sandbox_connect when connects only to "a.test"')
    said = await output(service, "http://a.test/x", "http://b.test/")
    assert said.startswith("GET /x HTTP/1.1")
    assert REFUSED.format("b.test", "no rule allows this") in said
    assert world.dialled == [("93.184.216.34", 80)]
    assert world.looked_up == ["a.test"]


async def test_the_configuration_allows_connections_and_a_rule_denies_them(world: World) -> None:
    service = world.service(
        "allow bash_exec\n"
        'no-b: deny sandbox_connect when connects to "b.test" because "b is not for agents"',
        'connects = ["*.test"]\n',
    )
    said = await output(service, "http://a.test/x", "http://b.test/")
    assert said.startswith("GET /x HTTP/1.1")
    assert REFUSED.format("b.test", "b is not for agents") in said


async def test_each_connection_is_a_recorded_call_within_the_one_that_runs(world: World) -> None:
    service = world.service("allow bash_exec", 'connects = ["a.test"]\n')
    await output(service, "http://a.test/x", "http://b.test/")
    (command,) = [each for each in world.records.records if each.tool == "bash_exec"]
    assert world.connections() == [
        ("http://a.test:80", "ok", command.id),
        ("http://b.test:80", "denied", command.id),
    ]


async def test_an_edit_applies_within_a_running_command(world: World) -> None:
    service = world.service("allow bash_exec", 'connects = ["a.test"]\n')
    work = world.rules.parent / "work"
    script = (
        "curl -sS http://a.test/1; touch first; until test -e go; do sleep 0.02; done;"
        "curl -sS http://a.test/2"
    )
    running = asyncio.create_task(service.execute("bash_exec", {"command": script}))
    await until((work / "first").exists)
    world.write('allow bash_exec\ndeny sandbox_connect when connects to "a.test"')
    world.store.reload()
    (work / "go").touch()
    said = (await running).value["stdout"]
    assert said.startswith("GET /1 HTTP/1.1 ")
    assert "a rule denies this" in said


KEEPING = """
import http.client, os, time
proxy = http.client.HTTPConnection("127.0.0.1", 3128)
def asked(path):
    proxy.request("GET", "http://a.test" + path)
    print(proxy.getresponse().read().decode().strip(), flush=True)
asked("/1")
asked("/2")
open("first", "w").close()
while not os.path.exists("go"): time.sleep(0.02)
asked("/3")
"""


@pytest.mark.parametrize("by", ["an edit", "bash_exec", "sandbox_connect"])
async def test_a_connection_that_is_kept_is_judged_again(world: World, by: str) -> None:
    service = world.service("allow bash_exec", 'connects = ["a.test"]\n')
    work = world.rules.parent / "work"
    (work / "keep.py").write_text(KEEPING)
    run = {"command": "/usr/bin/python3 keep.py"}
    running = asyncio.create_task(service.execute("bash_exec", run))
    await until((work / "first").exists)
    if by == "an edit":
        world.write("allow file_read")
        world.store.reload()
    else:
        await service.freeze([by], because="stopped")
    (work / "go").touch()
    first, second, third = (await running).value["stdout"].splitlines()
    assert (first.split()[1], second.split()[1]) == ("/1", "/2")
    assert ("not allowed any more" if by == "an edit" else "stopped") in third
    assert [url for url, _, _ in world.connections()] == ["http://a.test:80"] * 2


@pytest.mark.parametrize(
    ("answer", "reached"), [(Approved(by="ann"), True), (Denied(by="ann"), False)]
)
async def test_people_are_asked_where_a_rule_asks(
    world: World, answer: object, reached: bool
) -> None:
    asked = []

    class Approver:
        async def ask(self, request: Any) -> Any:
            asked.append(request.input["url"])
            return answer

    service = world.service(
        'allow bash_exec\nask sandbox_connect when connects to "a.test"',
        'connects = ["*.test"]\n',
        approver=Approver(),
    )
    said = await output(service, "http://a.test/x", "http://b.test/y")
    assert asked == ["http://a.test:80"]
    assert ("GET /x" in said) is reached
    assert ("the approval was refused" in said) is not reached
    assert "GET /y" in said


async def test_a_name_leads_to_no_private_address_unless_that_is_permitted(world: World) -> None:
    rule = "allow bash_exec\nallow sandbox_connect when connects only to {}"
    service = world.service(rule.format('"*.test"'))
    refused = await output(
        service, "http://own.test/", "-Iso /dev/null -w '%{http_code}' http://own.test/"
    )
    assert refused.splitlines() == [REFUSED.format("own.test", "no rule allows this"), "", "403"]
    assert "GET /x" in await output(service, "http://mixed.test/x")
    assert world.dialled == [("93.184.216.34", 80)]
    world.write(rule.format('["own.test", "10.1.0.0/16"]'))
    world.store.reload()
    assert "GET /x" in await output(service, "http://own.test/x")
    assert world.dialled[1:] == [("10.1.2.3", 80)]
    world.write(rule.format('"*.test"') + "\ndeny sandbox_connect when connects to private")
    world.store.reload()
    assert "a rule denies this" in await output(service, "http://own.test/")


async def test_nobody_calls_the_tool_and_nobody_sees_it(world: World) -> None:
    service = world.service("allow bash_exec\nallow sandbox_connect")
    with pytest.raises(Execution, match="no tool is called"):
        await service.execute("sandbox_connect", {"url": "http://a.test:80"})
    assert "sandbox_connect" not in {each.name for each in service.list()}
    assert service.describe("sandbox_connect") is None
    assert world.dialled == []


FETCH = """
import sys, urllib.error, urllib.request
for url in sys.argv[1:]:
    try:
        print(urllib.request.urlopen(url).read().decode())
    except urllib.error.HTTPError as error:
        print(error.reason)
"""
TESTS = 'tests: allow bash_exec when runs only "/usr/bin/python3 *" and connects only to "{}"'


async def test_a_rule_says_what_code_connects_to_that_nobody_has_seen(world: World) -> None:
    service = world.service(TESTS.format("a.test"), 'connects = ["b.test"]\n')
    work = world.rules.parent / "work"
    (work / "fetch.py").write_text(FETCH)
    (work / "suite.py").write_text(
        "import runpy, sys\nsys.argv[1:] = ['http://a.test/x', 'http://b.test/']\n"
        "runpy.run_path('fetch.py')\n"
    )
    run = {"command": "/usr/bin/python3 suite.py"}
    said = (await service.execute("bash_exec", run)).value["stdout"].splitlines()
    why = "the rule that allows the call does not let it connect there"
    # The list of the configuration adds nothing to what the rule says.
    assert said == ["GET /x HTTP/1.1 ", REFUSED.format("b.test", why)]
    world.write(TESTS.format("b.test"))
    world.store.reload()
    said = (await service.execute("bash_exec", run)).value["stdout"].splitlines()
    assert said == [REFUSED.format("a.test", why), "GET / HTTP/1.1 "]
    # Without a sandbox that bounds it, nobody knows what the code connects to.
    world.write(TESTS.format("a.test"), "required = false\n")
    world.store.reload()
    with pytest.raises(PermissionDenied):
        await service.execute("bash_exec", run)


async def test_a_bound_may_be_a_network(world: World) -> None:
    service = world.service(TESTS.format("10.1.0.0/16"))
    (world.rules.parent / "work" / "fetch.py").write_text(FETCH)
    (world.rules.parent / "work" / "suite.py").write_text(
        "import runpy, sys\nsys.argv[1:] = ['http://own.test/x', 'http://a.test/']\n"
        "runpy.run_path('fetch.py')\n"
    )
    command = {"command": "/usr/bin/python3 suite.py"}
    said = (await service.execute("bash_exec", command)).value["stdout"].splitlines()
    why = "the rule that allows the call does not let it connect there"
    assert said == ["GET /x HTTP/1.1 ", REFUSED.format("a.test", why)]
    assert world.dialled == [("10.1.2.3", 80)]


B_LISTED = 'connects = ["b.test"]\n'
ONCE = "\nlimit bash_exec to 1 per hour"


@pytest.mark.parametrize(
    ("edit", "settings", "a", "b"),
    [
        (TESTS.format("b.test") + ONCE, B_LISTED, False, False),
        ("allow file_read", B_LISTED, False, False),
        # The limit is used up by the command itself.
        (TESTS.format("a.test") + ONCE + "\nother: allow file_read", B_LISTED, True, False),
        ('allow bash_exec\nallow sandbox_connect when connects only to "*.test"', "", True, False),
    ],
)
async def test_an_edit_takes_connections_from_a_running_command_and_gives_none(
    world: World, edit: str, settings: str, a: bool, b: bool
) -> None:
    service = world.service(TESTS.format("a.test") + ONCE, B_LISTED)
    work = world.rules.parent / "work"
    (work / "fetch.py").write_text(FETCH)
    (work / "suite.py").write_text(
        "import os, runpy, sys, time\n"
        "sys.argv[1:] = ['http://a.test/x', 'http://b.test/y']\n"
        "runpy.run_path('fetch.py')\n"
        "open('first', 'w').close()\n"
        "while not os.path.exists('go'): time.sleep(0.02)\n"
        "runpy.run_path('fetch.py')\n"
    )
    run = {"command": "/usr/bin/python3 suite.py"}
    running = asyncio.create_task(service.execute("bash_exec", run))
    await until((work / "first").exists)
    world.write(edit, settings)
    world.store.reload()
    (work / "go").touch()
    said = (await running).value["stdout"].splitlines()
    assert [line.startswith("GET ") for line in said] == [True, False, a, b]


async def test_no_program_starts_whose_call_relies_on_what_is_gone(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    service = world.service(TESTS.format("a.test"))
    launch = ProgramLauncher.launch

    async def late(self: ProgramLauncher, program: Any, **streams: int) -> Any:
        settings = (world.rules / "placet.toml").read_text().replace('"hosts"', '"all"')
        (world.rules / "placet.toml").write_text(settings)
        world.store.reload()
        return await launch(self, program, **streams)

    monkeypatch.setattr(ProgramLauncher, "launch", late)
    with pytest.raises(Execution) as caught:
        await service.execute("bash_exec", {"command": "/usr/bin/python3 suite.py"})
    assert caught.value.code == "sandbox-missing"
