"""Hosts that plugins connect to: each connection is a call, within the call that runs."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, cast

import pytest

from policy.model import Execution, ToolError
from policy.sandbox import Peer
from tests.service.plugins.running_plugins import Running, module, program, running, table
from tests.unit.sandbox.confining import needs_bubblewrap
from tests.unit.sandbox.network.stand_ins import Elsewhere, certificate_of, elsewhere

# By the contract of Extism: `fetch` makes the request that is its input, and returns the answer.
FETCH = """(module
  (import "extism:host/env" "http_request" (func $request (param i64 i64) (result i64)))
  (import "extism:host/env" "http_status_code" (func $status (result i32)))
  (import "extism:host/env" "http_headers" (func $headers (result i64)))
  (import "extism:host/env" "input_offset" (func $input (result i64)))
  (import "extism:host/env" "length" (func $length (param i64) (result i64)))
  (import "extism:host/env" "output_set" (func $output_set (param i64 i64)))
  (import "extism:host/env" "error_set" (func $error_set (param i64)))
  (memory (export "memory") 1)
  (func (export "fetch") (result i32) (local $answer i64)
    (local.set $answer (call $request (call $input) (i64.const 0)))
    (if (i32.ne (call $status) (i32.const 200))
      (then (call $error_set (local.get $answer)) (return (i32.const 1))))
    (call $output_set (local.get $answer) (call $length (local.get $answer)))
    (i32.const 0))
  (func (export "headers") (result i32) (local $answer i64)
    (drop (call $request (call $input) (i64.const 0)))
    (local.set $answer (call $headers))
    (call $output_set (local.get $answer) (call $length (local.get $answer)))
    (i32.const 0)))
"""
ADDRESSES = {
    "a.test": ("93.184.216.34",),
    "b.test": ("93.184.216.35",),
    "own.test": ("10.1.2.3",),
}
NEEDS = {"network": "hosts", "connects": ["*.test"]}


class Hosts:
    """What was looked up and connected to; every address is the one server."""

    def __init__(self, served: Elsewhere) -> None:
        self._served = served
        self.looked_up: list[str] = []
        self.dialled: list[tuple[str, int]] = []

    async def look_up(self, name: str) -> tuple[str, ...] | None:
        self.looked_up.append(name)
        return ADDRESSES.get(name)

    async def dial(self, address: str, port: int) -> Peer:
        self.dialled.append((address, port))
        here = self._served.ports["a.test", port]
        return Peer.of(await asyncio.open_connection("127.0.0.1", here))


async def telling(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Answer a request with its header, as JSON."""
    head = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")[:-2]
    body = json.dumps(head).encode()
    writer.write(b"HTTP/1.1 200 OK\r\nX-It: is\r\ncontent-length: %d\r\n\r\n%b" % (len(body), body))
    await writer.drain()


@pytest.fixture
async def hosts(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Hosts]:
    async with elsewhere() as served:
        await served.serve("a.test", 80, telling)
        found = Hosts(served)
        monkeypatch.setattr("policy.service.sandbox_connections.dial", found.dial)
        yield found


def policy(rules: str) -> str:
    return f"policy for every agent\n\ndefault deny\n\n{rules}\n"


def granted(*connects: str) -> str:
    return f'[plugins.hostile.sandbox]\nnetwork = "hosts"\nconnects = {json.dumps(connects)}\n'


def connections(on: Running) -> list[tuple[str, str, str | None]]:
    """Return the recorded connections: host, outcome, and the id of the call around each."""
    return [
        (str(cast(Any, record.input)["url"]), record.outcome, record.parent)
        for record in on.records.records
        if record.tool == "sandbox_connect"
    ]


async def test_a_module_reaches_the_hosts_that_manifest_grant_and_rules_share(
    tmp_path: Path, hosts: Hosts
) -> None:
    folder = module(tmp_path, FETCH, "fetch", "headers", access=NEEDS)
    tables = table(folder, more=granted("a.test", "b.test", "elsewhere.example"))
    rules = policy(
        "allow ext hostile/*\n"
        'no-b: deny sandbox_connect when connects to "b.test" because "b is not for agents"'
    )
    async with running(tmp_path, tables, policy=rules, look_up=hosts.look_up) as on:
        said = await on.call(
            "ext__hostile__fetch",
            url="http://a.test/x?y#z",
            headers={"Accept": "x", "Host": "b.test", "Connection": "upgrade"},
        )
        assert said == ["GET /x?y HTTP/1.1", "host: a.test", "accept: x", "connection: close"]
        assert hosts.dialled == [("93.184.216.34", 80)]
        call = next(one for one in on.records.records if one.tool == "ext__hostile__fetch")
        assert connections(on) == [("http://a.test:80", "ok", call.id)]
        headers = await on.call("ext__hostile__headers", url="http://a.test/")
        assert headers["x-it"] == "is"
        hosts.looked_up.clear()
        for url, why in (
            ("http://b.test/", "b is not for agents"),
            # Not even looked up, and no call: one of the lists does not have it.
            ("http://c.test/", "manifest and grant of the plugin do not both name it"),
            ("http://elsewhere.example/", "manifest and grant of the plugin do not both name it"),
        ):
            with pytest.raises(Execution) as failed:
                await on.call("ext__hostile__fetch", url=url)
            host = url.removeprefix("http://").rstrip("/")
            assert f"the sandbox does not connect to {host}:80: {why}" in failed.value.message
            assert f"The sandbox does not let this plugin connect to {host}:80;" in str(
                failed.value.message
            )
            assert failed.value.code == on.records.records[-1].code == "denied-by-sandbox"
        assert hosts.looked_up == []
        for url in ("file:///etc/passwd", "http://no url"):
            with pytest.raises(Execution, match="its URL cannot be used"):
                await on.call("ext__hostile__fetch", url=url)
        with pytest.raises(Execution, match="its URL has no scheme"):
            await on.call("ext__hostile__fetch", url="a.test/x")


async def test_a_host_is_the_same_however_a_module_writes_it(tmp_path: Path, hosts: Hosts) -> None:
    folder = module(tmp_path, FETCH, "fetch", access=NEEDS)
    tables = table(folder, more=granted("a.test"))
    same = (
        "HTTP://A.TEST/x",
        "http://a.test./x",
        "http://me@a.test:80/x",
        "http://b.test@a.test/x",
    )
    other = (
        "http://a.test@b.test/x",
        "http://a.test:80@b.test/x",
        "http://b.test:8080/x",
        "http://[::1]/x",
        "http://[::ffff:127.0.0.1]/x",
        "http://127.1/x",
        "http://0x7f000001/x",
    )
    wrong = (
        "http://a.test\\@b.test/x",
        "http://b.test#@a.test/x",
        "http://a.test%2eb.test/x",
        "http://a.test\t/x",
        "http:///a.test/x",
        "http://012.0.0.1/x",
    )
    async with running(
        tmp_path, tables, policy=policy("allow ext hostile/*"), look_up=hosts.look_up
    ) as on:
        for url in same:
            said = await on.call("ext__hostile__fetch", url=url)
            assert said[:2] == ["GET /x HTTP/1.1", "host: a.test"]
        hosts.dialled.clear()
        for url in other:
            with pytest.raises(Execution, match="do not both name it"):
                await on.call("ext__hostile__fetch", url=url)
        for url in wrong:
            # Rules cannot read some of these either, and ask about the call itself.
            with pytest.raises(ToolError, match=r"its URL cannot be used|needs an approval"):
                await on.call("ext__hostile__fetch", url=url)
    assert hosts.dialled == []


async def test_the_rule_of_the_call_bounds_the_hosts_of_a_module(
    tmp_path: Path, hosts: Hosts
) -> None:
    tables = table(module(tmp_path, FETCH, "fetch", access=NEEDS), more=granted("*.test"))
    rules = policy('only-a: allow ext hostile/* when connects only to "a.test"')
    async with running(tmp_path, tables, policy=rules, look_up=hosts.look_up) as on:
        await on.call("ext__hostile__fetch", url="http://a.test/")
        with pytest.raises(Execution, match="does not let it connect there"):
            await on.call("ext__hostile__fetch", url="http://b.test/")
        (on.rules / "global.policy").write_text(
            policy("silent: allow ext hostile/* when connects only to nothing")
        )
        on.store.reload()
        with pytest.raises(Execution, match="does not let it connect to any host"):
            await on.call("ext__hostile__fetch", url="http://a.test/")
    assert hosts.dialled == [("93.184.216.34", 80)]


async def test_a_name_leads_to_no_private_address_unless_that_is_granted(
    tmp_path: Path, hosts: Hosts
) -> None:
    folder = module(tmp_path, FETCH, "fetch", access=NEEDS)
    rules = policy("allow ext hostile/*")
    tables = table(folder, more=granted("own.test"))
    async with running(tmp_path, tables, policy=rules, look_up=hosts.look_up) as on:
        with pytest.raises(Execution, match="no rule allows this") as caught:
            await on.call("ext__hostile__fetch", url="http://own.test/")
        assert caught.value.code == "denied-by-sandbox"
        assert [one[:2] for one in connections(on)] == [
            ("http://10.1.2.3:80", "denied"),
            ("http://own.test:80", "failed"),
        ]
        await on.edit(table(folder, more=granted("own.test", "10.1.0.0/16")))
        await on.call("ext__hostile__fetch", url="http://own.test/")
        assert hosts.dialled == [("10.1.2.3", 80)]
        # A module that is granted everything: still by calls, which rules may deny.
        await on.edit(table(folder, more='[plugins.hostile.sandbox]\nnetwork = "all"\n'))
        (on.rules / "global.policy").write_text(
            rules + "deny sandbox_connect when connects to private\n"
        )
        on.store.reload()
        await on.call("ext__hostile__fetch", url="http://a.test/")
        with pytest.raises(Execution, match="does not connect to own"):
            await on.call("ext__hostile__fetch", url="http://own.test/")


async def large(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Answer with more than the memory of the module."""
    await reader.readuntil(b"\r\n\r\n")
    writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 3000000\r\n\r\n" + b"x" * 3_000_000)
    await writer.drain()


async def endless(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Answer without an end."""
    await reader.readuntil(b"\r\n\r\n")
    writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
    while True:
        writer.write(b"x" * 100_000)
        await writer.drain()


async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Answer nothing."""
    await reader.read()


async def garbled(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Answer no HTTP."""
    await reader.readuntil(b"\r\n\r\n")
    writer.write(b"SSH-2.0\r\n\r\n")
    await writer.drain()


@pytest.mark.parametrize(
    ("serve", "why"),
    [
        (large, "it has no memory for the answer of a server"),
        (endless, "its answer has more than 16,777,216 bytes"),
        (silent, "took longer than"),
        (garbled, "the server does not answer in HTTP"),
    ],
)
async def test_a_server_that_misbehaves_fails_one_call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, serve: Any, why: str
) -> None:
    async with elsewhere() as served:
        await served.serve("a.test", 80, serve)
        hosts = Hosts(served)
        monkeypatch.setattr("policy.service.sandbox_connections.dial", hosts.dial)
        folder = module(tmp_path, FETCH, "fetch", access=NEEDS)
        bounds = (
            "[plugins.hostile.sandbox.limits]\nmemory = 1_000_000\n"
            f'[tools.ext__hostile__fetch]\ntimeout = "{"300ms" if serve is silent else "30s"}"\n'
        )
        tables, rules = (
            table(folder, more=granted("a.test") + bounds),
            policy("allow ext hostile/*"),
        )
        async with running(tmp_path, tables, policy=rules, look_up=hosts.look_up) as on:
            with pytest.raises(ToolError, match=why):
                await on.call("ext__hostile__fetch", url="http://a.test/")


async def test_a_module_speaks_tls_with_the_server_that_it_names_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trusted, tls = certificate_of("a.test", folder=tmp_path)
    monkeypatch.setenv("SSL_CERT_FILE", str(trusted))
    monkeypatch.setattr("policy.sandbox.network.http_request._trust", _trusting(trusted))
    async with elsewhere() as served:
        await served.serve("a.test", 443, telling, tls=tls)
        hosts = Hosts(served)
        monkeypatch.setattr("policy.service.sandbox_connections.dial", hosts.dial)
        tables = table(module(tmp_path, FETCH, "fetch", access=NEEDS), more=granted("*.test"))
        rules = policy("allow ext hostile/*")
        async with running(tmp_path, tables, policy=rules, look_up=hosts.look_up) as on:
            said = await on.call("ext__hostile__fetch", url="https://a.test/x")
            assert said[0] == "GET /x HTTP/1.1"
            with pytest.raises(Execution, match="its certificate is not valid"):
                await on.call("ext__hostile__fetch", url="https://b.test/x")


def _trusting(trusted: Path) -> Any:
    import ssl

    context = ssl.create_default_context(cafile=str(trusted))
    return lambda: context


ASK = """
import urllib.error, urllib.request
def call(tool, input):
    try:
        return json.loads(urllib.request.urlopen(input["url"]).read())
    except urllib.error.HTTPError as error:
        return error.reason
"""


@needs_bubblewrap
async def test_a_program_reaches_hosts_as_a_part_of_the_call_that_runs(
    tmp_path: Path, hosts: Hosts
) -> None:
    folder = program(tmp_path, ASK, access=NEEDS)
    tables = table(folder, more=granted("a.test", "b.test"))
    rules = policy(
        "allow ext hostile/* when input.url is present\n"
        'no-b: deny sandbox_connect when connects to "b.test"'
    )
    async with running(tmp_path, tables, policy=rules, look_up=hosts.look_up, confined=True) as on:
        for _ in range(2):
            said = await on.call("ext__hostile__t", url="http://a.test/x")
            assert said[0] == "GET /x HTTP/1.1"
        calls = [one.id for one in on.records.records if one.tool == "ext__hostile__t"]
        assert [one[2] for one in connections(on)] == calls
        refused = await on.call("ext__hostile__t", url="http://b.test/")
        assert refused.startswith("the sandbox does not connect to b.test:80")
        unlisted = await on.call("ext__hostile__t", url="http://c.test/")
        assert unlisted.endswith("manifest and grant of the plugin do not both name it")
