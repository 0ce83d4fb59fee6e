"""How the server handles malformed messages from clients, and how it ends."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.serving import ENDLESS, ENV, Place, place_in
from tests.waiting import PATIENCE

HELLO = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "raw", "version": "1"},
}


@asynccontextmanager
async def started(tmp_path: Path) -> AsyncIterator[Process]:
    """Give a server that has shaken hands, spoken to in raw lines."""
    process = await asyncio.create_subprocess_exec(
        *place_in(tmp_path).command(),
        stdin=PIPE,
        stdout=PIPE,
        stderr=PIPE,
        limit=64_000_000,
        env={**os.environ, **ENV},
        cwd=tmp_path,
    )
    try:
        async with asyncio.timeout(PATIENCE):
            say(process, request(0, "initialize", HELLO))
            assert (await hear(process))["result"]["serverInfo"]["name"] == "placet"
            say(process, b'{"jsonrpc": "2.0", "method": "notifications/initialized"}')
            yield process
    finally:
        if process.returncode is None:
            process.kill()
        await process.communicate()


def request(id: int, method: str, params: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).encode()


def write_call(id: int, arguments: bytes) -> bytes:
    head = b'{"jsonrpc": "2.0", "id": %d, "method": "tools/call", "params": {"name": "file_write"'
    return head % id + b', "arguments": ' + arguments + b"}}"


def say(process: Process, line: bytes) -> None:
    assert process.stdin is not None
    process.stdin.write(line + b"\n")


async def hear(process: Process) -> dict[str, Any]:
    assert process.stdout is not None
    heard = json.loads(await process.stdout.readline())
    assert isinstance(heard, dict)
    return heard


BAD_INPUTS = {
    "NaN": b'{"path": "a.txt", "content": NaN}',
    "an infinite number": b'{"path": 1e999, "content": "x"}',
    "a number for a text": b'{"path": "a.txt", "content": 7}',
    "deep nesting": b'{"path": ' + b'{"a":' * 150 + b"1" + b"}" * 151,
    "no arguments": b"{}",
    "an unknown argument": b'{"path": "a.txt", "content": "x", "mode": "777"}',
    "a NUL in a path": b'{"path": "a\\u0000b", "content": "x"}',
    "a list": b"[1, 2]",
    "a text": b'"path"',
    "10 MB of text": b'{"path": "a.txt", "content": "' + b"x" * 10_000_001 + b'"}',
}


async def test_bad_input_is_refused_and_the_server_goes_on(tmp_path: Path) -> None:
    async with started(tmp_path) as process:
        for id, arguments in enumerate(BAD_INPUTS.values(), 1):
            say(process, write_call(id, arguments))
        answers = {a["id"]: a for a in [await hear(process) for _ in BAD_INPUTS]}
        for id, what in enumerate(BAD_INPUTS, 1):
            answer = answers[id]
            refused = "error" in answer or answer["result"]["isError"]
            assert refused, (what, answer)
        say(process, write_call(99, b'{"path": "b.txt", "content": "x"}'))
        assert (await hear(process))["result"]["_meta"]["placet"]["verdict"] == "allow"
        _, said = await process.communicate(b"")
    assert process.returncode == 0
    assert b"Traceback" not in said
    assert os.listdir(tmp_path / "work") == ["b.txt"]


# Each with the id that its client waits for: where none can be found, the answer has none.
NO_MESSAGES = {
    "no JSON": (None, b"garbage"),
    "a batch": (None, b"[]"),
    "half a character": (1, write_call(1, b'{"path": "\\ud800", "content": "x"}')),
    "no UTF-8": (1, write_call(1, b'{"path": "a", "content": "\xff\xfe"}')),
    "very deep": (1, write_call(1, b'{"path": ' + b"[" * 5_000 + b"]" * 5_000 + b"}")),
}


async def test_what_is_no_message_is_answered_with_a_parse_error(tmp_path: Path) -> None:
    async with started(tmp_path) as process:
        for what, (id, line) in NO_MESSAGES.items():
            say(process, line)
            answer = await hear(process)
            assert (answer["id"], answer["error"]["code"]) == (id, -32700), what
        say(process, b"")
        say(process, request(2, "ping", {}))
        assert (await hear(process))["id"] == 2


async def test_the_last_of_two_equal_keys_is_what_is_judged_and_what_runs(tmp_path: Path) -> None:
    async with started(tmp_path) as process:
        say(process, write_call(1, b'{"path": "a.txt", "path": "/etc/x", "content": "x"}'))
        assert (await hear(process))["result"]["_meta"]["placet"]["verdict"] == "deny"
    assert os.listdir(tmp_path / "work") == []


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
async def test_a_signal_ends_it_cleanly(tmp_path: Path, number: signal.Signals) -> None:
    async with started(tmp_path) as process:
        process.send_signal(number)
        assert await process.wait() == 0
        assert process.stderr is not None
        assert b"Traceback" not in await process.stderr.read()


async def test_a_signal_ends_running_commands_too(tmp_path: Path) -> None:
    async with started(tmp_path) as process:
        endless = {"name": "bash_exec", "arguments": {"command": ENDLESS}}
        say(process, request(1, "tools/call", endless))
        while not (tmp_path / "work" / "begun").exists():
            say(process, request(2, "ping", {}))
            assert (await hear(process))["id"] == 2
        process.terminate()
        assert await process.wait() == 0
    (record,) = Place(folder=tmp_path).records()
    assert (record["tool"], record["outcome"]) == ("bash_exec", "cancelled")


@pytest.mark.parametrize(
    "number", [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.long)]
)
async def test_signals_in_a_row_leave_nothing_running_or_unrecorded(
    tmp_path: Path, number: signal.Signals
) -> None:
    async with started(tmp_path) as process:
        endless = {"name": "bash_exec", "arguments": {"command": ENDLESS}}
        say(process, request(1, "tools/call", endless))
        while not (tmp_path / "work" / "begun").exists():
            say(process, request(2, "ping", {}))
            assert (await hear(process))["id"] == 2
        while process.returncode is None:
            send_signal(process, number)
            await asyncio.sleep(0.02)
        # Once all has ended, the last one may meet the interpreter on its way out.
        assert process.returncode in (0, -number)
    (record,) = Place(folder=tmp_path).records()
    assert (record["tool"], record["outcome"]) == ("bash_exec", "cancelled")


def send_signal(process: Process, number: signal.Signals) -> None:
    """Send a signal; `Process.send_signal` may collect the exit status before the loop does."""
    with suppress(ProcessLookupError):
        os.kill(process.pid, number)
