"""Measure the gateway: `python -m bench.gateway`, some three minutes.

A call is timed beside a relay that judges nothing, in turns. Then: many clients at once, many tools
that are announced, and many clients that come and go. The exit status is 1 where an answer is lost
or another client's, where a goal is missed, or where a process or descriptor is left.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import secrets
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal, TypeAlias

import httpx2
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.types import CallToolRequest, CallToolRequestParams, CallToolResult

from bench.effort import tell
from bench.mcp.raw_server import listed
from bench.page import GATEWAY_MARKS, write
from bench.timing import median

_RESULTS = Path(__file__).parent / "results" / "gateway.json"
_ROOT = Path(__file__).resolve().parents[1]
_SERVER = Path(__file__).parent / "mcp" / "raw_server.py"
_RULES = 50
_ROUNDS, _CALLS = 7, 150
_CLIENTS, _ALL_CALLS = 200, 1_000
_CONNECTS, _AT_ONCE = 1_000, 10
_PATIENCE = 300.0
_NOTHING = open(os.devnull, "w")  # noqa: SIM115 - as long as the process
Era: TypeAlias = Literal["auto", "legacy"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """One figure, and the goal for it."""

    what: str
    found: str
    goal: str
    met: bool


class Place:
    """A folder with a policy of fifty rules before the raw server."""

    def __init__(self, folder: Path, *, isolation: str) -> None:
        self.folder = folder
        self.server = [sys.executable, "-I", "-S", str(_SERVER), str(folder)]
        self.token = secrets.token_hex(16)
        (folder / "rules").mkdir()
        (folder / "work").mkdir()
        (folder / "token").write_text(self.token)
        refusals = "".join(
            f'r{n}: deny mcp raw/* when input.text == "never {n}" because "{n}"\n'
            for n in range(_RULES - 1)
        )
        (folder / "rules" / "global.policy").write_text(
            f"policy for every agent\n\ndefault deny\n\nall: allow mcp raw/*\n{refusals}"
        )
        program, *arguments = self.server
        (folder / "rules" / "placet.toml").write_text(
            f'[mcp.servers.raw]\ncommand = "{program}"\nargs = {json.dumps(arguments)}\n'
            f'isolation = "{isolation}"\n[catalogue.servers]\nraw = "raw.json"\n'
        )
        (folder / "rules" / "raw.json").write_text(json.dumps(listed(grown=True)))

    @property
    def gateway(self) -> list[str]:
        """The command of the gateway."""
        rules, work = str(self.folder / "rules"), str(self.folder / "work")
        return [sys.executable, "-m", "policy", "gateway", rules, "--workspace", work]


@asynccontextmanager
async def _stdio(command: list[str]) -> AsyncIterator[Client]:
    parameters = StdioServerParameters(
        command=command[0], args=command[1:], env={"PYTHONPATH": str(_ROOT)}
    )
    async with Client(stdio_client(parameters, errlog=_NOTHING)) as client:
        await client.list_tools()
        yield client


@asynccontextmanager
async def _http(place: Place) -> AsyncIterator[tuple[str, int]]:
    """Serve over HTTP; give the address, and the process."""
    process = await asyncio.create_subprocess_exec(
        *place.gateway,
        *("--http", "127.0.0.1:0", "--token-file", str(place.folder / "token")),
        stdin=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(_ROOT)},
    )
    assert process.stderr is not None
    found = None
    while found is None:
        line = (await process.stderr.readline()).decode()
        assert line, "the gateway has ended"
        found = re.search(r"http://\S+/mcp", line)
    rest = asyncio.create_task(process.stderr.read())
    try:
        yield found[0], process.pid
    finally:
        process.terminate()
        await process.wait()
        await rest


@asynccontextmanager
async def _client(place: Place, url: str, era: Era) -> AsyncIterator[Client]:
    headers = {"Authorization": f"Bearer {place.token}"}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=_PATIENCE) as http,
        Client(streamable_http_client(url, http_client=http), mode=era) as client,
    ):
        yield client


async def _call(place: Place) -> Figure:
    """Time a call through the gateway, and through the relay, in turns."""
    tell("a call through the gateway and through a relay")
    relay = [sys.executable, "-m", "bench.mcp.typed_relay", *place.server]
    ways = {"gateway": place.gateway, "relay": relay, "server": place.server}
    names = {"gateway": "raw__echo", "relay": "echo", "server": "echo"}
    taken: dict[str, list[float]] = {way: [] for way in ways}
    async with AsyncExitStack() as stack:
        clients = {
            way: await stack.enter_async_context(_stdio(command)) for way, command in ways.items()
        }
        for number in range(_ROUNDS + 1):
            for way, client in clients.items():
                found = await _timed(client, names[way])
                if number:  # the first round warms up
                    taken[way].append(found)
    ratios = [one / other for one, other in zip(taken["gateway"], taken["relay"], strict=True)]
    times = {way: median(found) * 1e3 for way, found in taken.items()}
    said = ", ".join(f"{way} {found:.2f} ms" for way, found in times.items())
    ratio = median(ratios)
    return Figure(
        what=f"a call under {_RULES} rules ÷ one through a typed relay ({said})",
        found=f"{ratio:.2f}",
        goal="≤ 1.00",
        met=ratio <= 1,
    )


async def _timed(client: Client, name: str) -> float:
    taken: list[float] = []
    for number in range(_CALLS):
        began = time.perf_counter()
        result = await client.call_tool(name, {"text": str(number)})
        taken.append(time.perf_counter() - began)
        assert result.content[0].text == str(number)  # type: ignore[union-attr]
    return median(taken)


async def _crowd(place: Place, era: Era) -> Figure:
    """Have many clients call at once; each answer must be that to its own call."""
    tell(f"{_CLIENTS} clients at once, {era}")
    wrong = 0
    together = asyncio.Event()

    async def one(url: str, number: int) -> None:
        nonlocal wrong
        async with _client(place, url, era) as client:
            await together.wait()
            for turn in range(_ALL_CALLS // _CLIENTS):
                text = f"client {number}, call {turn}"
                result = await client.call_tool("raw__echo", {"text": text})
                if result.is_error or result.content[0].text != text:  # type: ignore[union-attr]
                    wrong += 1

    async with _http(place) as (url, _):
        async with _client(place, url, era) as first:
            await first.list_tools()
        clients = [asyncio.create_task(one(url, number)) for number in range(_CLIENTS)]
        together.set()
        results = await asyncio.gather(*clients, return_exceptions=True)
    lost = sum(isinstance(result, BaseException) for result in results)
    revision = "without a handshake" if era == "auto" else "with a handshake"
    return Figure(
        what=f"{_CLIENTS} clients at once {revision}, {_ALL_CALLS:,} calls: lost or crossed",
        found=f"{lost + wrong}",
        goal="0",
        met=not lost and not wrong,
    )


async def _growth(place: Place) -> Figure:
    """Time from the answer to a list of 300 new tools until one of them can be called."""
    tell("300 tools that are announced")
    async with _stdio(place.gateway) as client:
        await client.call_tool("raw__grow", {})
        # As JSON: the SDK's client lists the tools again for one that it does not know.
        params = CallToolRequestParams(name="raw__tool_299", arguments={"text": "x"})
        request = CallToolRequest(params=params)
        while (await client.session.send_request(request, CallToolResult)).is_error:  # noqa: ASYNC110
            await asyncio.sleep(0.002)
        seconds = time.time() - float((place.folder / "listed").read_text())
    return Figure(
        what="300 tools in force after their list",
        found=f"{seconds:.2f} s",
        goal="≤ 0.5 s",
        met=seconds <= 0.5,
    )


async def _passing(place: Place) -> Figure:
    """Have many clients come, call and go; each has a process of its own behind the gateway."""
    tell(f"{_CONNECTS:,} clients that come and go")
    room = asyncio.Semaphore(_AT_ONCE)

    async with _http(place) as (url, pid):

        async def one(number: int) -> None:
            async with room, _client(place, url, "legacy") as client:
                result = await client.call_tool("raw__echo", {"text": str(number)})
                assert result.content[0].text == str(number)  # type: ignore[union-attr]

        await asyncio.gather(*map(one, range(_AT_ONCE)))
        before = await _steady(pid)
        await asyncio.gather(*map(one, range(_CONNECTS)))
        after = await _steady(pid)
    return Figure(
        what=f"{_CONNECTS:,} clients that come, call and go, each with a process: descriptors "
        "and processes left",
        found=f"{max(after[0] - before[0], 0)} and {max(after[1] - before[1], 0)}",
        goal="0 and 0",
        met=after[0] <= before[0] and after[1] <= before[1],
    )


async def _steady(pid: int) -> tuple[int, int]:
    """Return how many descriptors and descendants a process has once that no longer changes."""
    last, same = (-1, -1), 0
    while same < 10:
        await asyncio.sleep(0.2)
        now = len(os.listdir(f"/proc/{pid}/fd")), len(_descendants(pid))
        same, last = (same + 1 if now == last else 0), now
    return last


def _descendants(pid: int) -> list[int]:
    found: list[int] = []
    for task in os.listdir(f"/proc/{pid}/task"):
        try:
            text = Path(f"/proc/{pid}/task/{task}/children").read_text()
        except OSError:
            continue
        for child in map(int, text.split()):
            found += [child, *_descendants(child)] if os.path.exists(f"/proc/{child}") else []
    return found


async def _measured() -> list[Figure]:
    found: list[Figure] = []
    for isolation in ("shared", "session"):
        with tempfile.TemporaryDirectory(prefix="placet-bench-") as folder:
            place = Place(Path(folder), isolation=isolation)
            if isolation == "shared":
                found += [await _call(place), await _crowd(place, "auto")]
                found += [await _crowd(place, "legacy"), await _growth(place)]
            else:
                found.append(await _passing(place))
    return found


def table(found: list[Figure]) -> str:
    """Return the figures as Markdown."""
    lines = ["| what | found | goal | |", "| --- | --: | --: | --- |"]
    for one in found:
        lines.append(
            f"| {one.what} | {one.found} | {one.goal} | {'met' if one.met else 'missed'} |"
        )
    return "\n".join(lines)


def main() -> int:
    """Measure everything; return the exit status."""
    found = asyncio.run(_measured())
    print(table(found))
    values: dict[str, Any] = {
        "date": f"{datetime.now(UTC):%Y-%m-%d}",
        "figures": [asdict(one) for one in found],
    }
    _RESULTS.parent.mkdir(exist_ok=True)
    _RESULTS.write_text(json.dumps(values, indent=1) + "\n")
    write(table(found) + "\n", GATEWAY_MARKS)
    return 0 if all(one.met for one in found) else 1


if __name__ == "__main__":
    sys.exit(main())
