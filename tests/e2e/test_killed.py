"""After `kill -9` at any step of a call, the call has one outcome and no process is left.

PLACET_KILLS says how often the server is killed at each step, 1 unless given; `make kills` takes
20, over stdio and over HTTP.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.serving import ROOT
from tests.e2e.test_http import ACCEPT
from tests.e2e.test_wire import HELLO, hear, request, say
from tests.plain_http import plain_client
from tests.preloaded import module
from tests.waiting import PATIENCE, until, working_in

KILLS = int(os.environ.get("PLACET_KILLS", "1"))
READY = {"jsonrpc": "2.0", "method": "notifications/initialized"}

pytestmark = pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="which processes are left is read from /proc"
)

# At each step: what is on record of the call after a restart, and whether it had its effect.
STEPS: dict[str, tuple[list[tuple[str, str | None]], bool]] = {
    "before the record": ([], False),
    "before the handler": ([("start", None), ("end", "interrupted")], False),
    "in the handler": ([("start", None), ("end", "interrupted")], True),
    "before the end record": ([("start", None), ("end", "interrupted")], True),
    "before the answer": ([("start", None), ("end", "ok")], True),
}
ENDLESS = (
    "touch {0}; setsid sleep 600 & (sleep 600 &) ; touch {0}.children; sleep 600; touch went-on"
)


@pytest.mark.long
@pytest.mark.parametrize("transport", ["stdio", "http"])
async def test_a_server_killed_at_each_step_leaves_one_outcome_a_call_and_no_process(
    tmp_path: Path, transport: str
) -> None:
    await _one_outcome_a_call_and_no_process(tmp_path, transport, list(STEPS))


async def test_a_server_killed_in_the_handler_leaves_one_outcome_and_no_process(
    tmp_path: Path,
) -> None:
    await _one_outcome_a_call_and_no_process(tmp_path, "stdio", ["in the handler"])


async def _one_outcome_a_call_and_no_process(
    tmp_path: Path, transport: str, steps: Sequence[str]
) -> None:
    work = tmp_path / "work"
    expected: dict[str, list[tuple[str, str | None]]] = {"last": [("start", None), ("end", "ok")]}
    for number, step in product(range(KILLS), steps):
        told, has_effect = STEPS[step]
        effect = f"effect-{step.replace(' ', '-')}-{number}"
        await _killed(tmp_path, transport, step, effect)
        assert await _nobody_in(work)
        assert (work / effect).exists() is has_effect, step
        if told:
            expected[effect] = told
    # Each start closes what the last kill left open; this one leaves nothing behind.
    async with asyncio.timeout(PATIENCE), _serving(tmp_path, "stdio", "none") as process:
        _call(process, "touch last")
        assert (await hear(process))["result"]["isError"] is False
        await process.communicate(b"")
    assert process.returncode == 0
    lines = [json.loads(line) for line in (tmp_path / "audit.jsonl").read_text().splitlines()]
    calls: dict[str, list[tuple[str, str | None]]] = {}
    effects: dict[str, str] = {}
    for line in lines:
        calls.setdefault(line["id"], []).append((line["event"], line["outcome"]))
        if line["input"] is not None:
            effects[line["id"]] = line["input"]["command"].split(";")[0].removeprefix("touch ")
    assert {effects[id]: events for id, events in calls.items()} == expected
    assert len(calls) == len(expected)
    assert not (work / "went-on").exists()
    assert not (tmp_path / "audit.jsonl.runs").exists()
    assert await _nobody_in(work)


async def _killed(folder: Path, transport: str, step: str, effect: str) -> None:
    """Have a server make one call, and kill it where that has come to this step."""
    in_handler = step == "in the handler"
    command = ENDLESS.format(effect) if in_handler else f"touch {effect}"
    stopped = folder / "work" / f"{effect}.children" if in_handler else folder / "stopped"
    async with asyncio.timeout(PATIENCE), _serving(folder, transport, step) as process:
        if transport == "stdio":
            _call(process, command)
            await until(stopped.exists)
        else:
            calling = asyncio.create_task(_call_over_http(_url(folder), command))
            await until(lambda: stopped.exists() or calling.done())
            calling.cancel()
            with suppress(asyncio.CancelledError):
                await calling
        assert stopped.exists()
        process.kill()
        await process.wait()
    (folder / "stopped").unlink(missing_ok=True)
    (folder / "url").unlink(missing_ok=True)


@asynccontextmanager
async def _serving(folder: Path, transport: str, step: str) -> AsyncIterator[Process]:
    """Give a server of its own, ready for a call."""
    name, arguments = "tests.e2e.stopping_server", (str(folder), transport, step)
    killed = step != "none"
    process = await asyncio.create_subprocess_exec(
        *((sys.executable, "-m", name, *arguments) if killed else module(name, *arguments)),
        stdin=PIPE if transport == "stdio" else DEVNULL,
        stdout=PIPE,
        cwd=ROOT,
        limit=1_000_000,
    )
    try:
        if transport == "stdio":
            say(process, request(0, "initialize", HELLO))
            await hear(process)
            say(process, json.dumps(READY).encode())
        else:
            await until((folder / "url").exists)
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        await process.communicate()


def _call(process: Process, command: str) -> None:
    say(process, request(1, "tools/call", _arguments(command)))


def _arguments(command: str) -> dict[str, Any]:
    return {"name": "bash_exec", "arguments": {"command": command}}


async def _call_over_http(url: str, command: str) -> None:
    async with plain_client(headers=ACCEPT, timeout=PATIENCE) as http:
        hello = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": HELLO}
        greeted = await http.post(url, json=hello)
        session = {"Mcp-Session-Id": greeted.headers["mcp-session-id"]}
        await http.post(url, json=READY, headers=session)
        call = json.loads(request(1, "tools/call", _arguments(command)))
        await http.post(url, json=call, headers=session)


def _url(folder: Path) -> str:
    return (folder / "url").read_text("utf-8")


async def _nobody_in(folder: Path) -> bool:
    """Wait for no process to work in a folder any more; dying takes the kernel a moment."""
    await until(lambda: not working_in(folder))
    return True
