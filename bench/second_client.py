"""Show that one client does not hold up another: `python -m bench.second_client`, three minutes.

A server runs with two clients that have tokens of their own. One calls a tool that does nothing,
again and again, first alone and then while another process sends inputs that were made to be slow,
each kind in turn. The exit status is 1 where the 99th percentile beside a kind is over 50 ms, and
more than five times what it was alone: on a busy machine, both are large.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import json
import os
import re
import secrets
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from statistics import median, quantiles
from typing import Any, TypeAlias
from urllib.parse import urlsplit

import httpx2

from bench.effort import tell
from policy.service import tool

_ROOT = Path(__file__).resolve().parents[1]
_SECONDS = 6.0  # for which the second client is watched beside each kind of input
_PAUSE = 0.01
_GOAL = 0.050
_MOST_TIMES = 5
_AT_ONCE = 8  # calls of the noisy client

_MARKS = "\u0323\u0301\u0345\u0328"
_RULES = """policy for every agent

default deny
label untrusted on results of fetch
tools: allow echo, fetch, wait, mail, fill
shell: allow bash_exec when runs only "git log *"
copied: deny use when input.text from untrusted
used: allow use when input.text != "never"
mails: limit mail to 1000 per day per input.to
keys: redact results of fetch matching /never[0-9]+/
"""


@tool
async def echo(text: str) -> str:
    """Return a text."""
    return text


@tool
async def use(text: str) -> str:
    """Use a text."""
    return "used"


@tool
async def fetch(kind: str) -> str:
    """Return a long text of a kind."""
    return {"marks": "a" + _MARKS * 20_000, "text": "abc%20d " * 100_000}[kind]


@tool
def wait() -> str:
    """Block a thread."""
    time.sleep(2)
    return "waited"


@tool
async def mail(to: list[str]) -> str:
    """Send a mail."""
    return "sent"


@tool
async def fill(cells: list[str]) -> str:
    """Fill the cells of a table."""
    return "filled"


TOOLS = [echo, use, fetch, wait, mail, fill]


class Caller:
    """A client of the server that sends what it likes."""

    def __init__(self, url: str, token: str) -> None:
        self.url = url
        self.headers = {
            "Authorization": f"Bearer {token}",
            "Accept": "application/json, text/event-stream",
            "Content-Type": "application/json",
        }
        self.http = httpx2.AsyncClient(timeout=60.0, limits=httpx2.Limits(max_connections=100))

    async def open(self) -> None:
        """Open a session, for all further messages."""
        hello = {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "bench", "version": "1"},
        }
        headers = {key: value for key, value in self.headers.items() if key != "Mcp-Session-Id"}
        response = await self.http.post(
            self.url, json=_request("initialize", hello), headers=headers
        )
        session = response.headers.get("mcp-session-id")
        if session is not None:
            self.headers = {**headers, "Mcp-Session-Id": session}

    async def call(self, name: str, **arguments: Any) -> httpx2.Response:
        """Call a tool."""
        message = _request("tools/call", {"name": name, "arguments": arguments})
        return await self.http.post(self.url, json=message, headers=self.headers)

    async def send(self, body: bytes) -> None:
        """Send a message as it is."""
        await self.http.post(self.url, content=body, headers=self.headers)


Noise: TypeAlias = Callable[[Caller], Awaitable[object]]


def _request(method: str, params: dict[str, Any]) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": secrets.token_hex(8), "method": method, "params": params}


async def _unfinished(caller: Caller) -> None:
    """Send most of a message, and hold the connection for a while."""
    where = urlsplit(caller.url)
    _, writer = await asyncio.open_connection(where.hostname, where.port)
    head = {**caller.headers, "Host": where.netloc, "Content-Length": "4000000"}
    lines = "".join(f"{key}: {value}\r\n" for key, value in head.items())
    writer.write(f"POST {where.path} HTTP/1.1\r\n{lines}\r\n".encode() + b" " * 3_900_000)
    with suppress(ConnectionError):
        await writer.drain()
        await asyncio.sleep(2)
    writer.close()


async def _copied(caller: Caller) -> None:
    await caller.call("fetch", kind="text")
    await caller.call("use", text=" ".join(f"value{number}" for number in range(700)))


_COLONS = "git log -L " + ":" * 85_000
_PATHS = "PYTHONPATH=" + "a:" * 40_000 + " git log"
_NOISES: dict[str, Noise] = {
    "an unterminated text of escapes, 210 kB": lambda c: c.send(b'{"a": "' + b'\\"' * 105_000),
    "a text of 4 MB": lambda c: c.call("echo", text="x" * 3_900_000),
    "20,000 values": lambda c: c.call("echo", text=[0] * 19_900),
    "2,000 strings that may be paths": lambda c: c.call(
        "fill", cells=[f"cell {number}" for number in range(2_000)]
    ),
    "20,000 strings that may be paths": lambda c: c.call(
        "fill", cells=[f"cell {number}" for number in range(19_900)]
    ),
    "combining marks in an input": lambda c: c.call("use", text="a" + _MARKS * 25_000),
    "combining marks in a result that is redacted": lambda c: c.call("fetch", kind="marks"),
    "700 words looked for in what a label marks": _copied,
    "19,000 budgets of one call": lambda c: c.call(
        "mail", to=[f"a{number}@x.example" for number in range(19_000)]
    ),
    "500 budgets of each call": lambda c: c.call(
        "mail", to=[f"{secrets.token_hex(4)}@x.example" for number in range(500)]
    ),
    "sessions without end": lambda c: c.open(),
    "messages that do not end": _unfinished,
    "calls that block a thread": lambda c: c.call("wait"),
    "85,000 colons for `git log -L`": lambda c: c.call("bash_exec", command=_COLONS),
    "40,000 folders in PYTHONPATH": lambda c: c.call("bash_exec", command=_PATHS),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """How long the second client waited beside one kind of input, in seconds."""

    beside: str
    half: float
    most: float  # 99th percentile


def main() -> int:
    """Measure every kind, or make the noise of one; return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m bench.second_client", description=__doc__)
    parser.add_argument("--only", nargs="+", metavar="WORD", help="kinds with these words")
    parser.add_argument("--seconds", type=float, default=_SECONDS)
    parser.add_argument(
        "--noise", nargs=3, metavar=("KIND", "URL", "TOKEN"), help=argparse.SUPPRESS
    )
    chosen = parser.parse_args()
    if chosen.noise is not None:
        kind, url, token = chosen.noise
        with suppress(KeyboardInterrupt):
            asyncio.run(_make_noise(_NOISES[kind], Caller(url, token)))
        return 0
    kinds = [
        kind for kind in _NOISES if chosen.only is None or any(word in kind for word in chosen.only)
    ]
    alone, rows = asyncio.run(_measure(kinds, chosen.seconds))
    print("| beside | p50, ms | p99, ms | p99 ÷ alone |\n|---|---|---|---|")
    for row in (alone, *rows):
        ratio = row.most / alone.most
        print(f"| {row.beside} | {row.half * 1e3:.1f} | {row.most * 1e3:.1f} | {ratio:.1f} |")
    slow = [row.beside for row in rows if row.most > max(_GOAL, _MOST_TIMES * alone.most)]
    tell(f"done; too slow beside: {', '.join(slow) or 'nothing'}")
    return 1 if slow else 0


async def _make_noise(noise: Noise, caller: Caller) -> None:
    """Send one kind of input until killed, a few at once."""
    await caller.open()

    async def again() -> None:
        while True:
            with suppress(httpx2.HTTPError, ConnectionError):
                await noise(caller)

    await asyncio.gather(*(again() for _ in range(_AT_ONCE)))


async def _measure(kinds: list[str], seconds: float) -> tuple[Row, list[Row]]:
    """Return what the second client waited alone, and beside each kind."""
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        async with _server(Path(folder)) as (url, tokens):
            quiet = Caller(url, tokens["quiet"])
            await quiet.open()
            await _watched(quiet, 1.0)  # warms up
            alone = _row("nothing", await _watched(quiet, seconds))
        for kind in kinds:
            tell(kind)
            # A server of its own each: what one kind has left behind does not burden the next.
            with tempfile.TemporaryDirectory() as inner:
                async with _server(Path(inner)) as (url, tokens):
                    quiet = Caller(url, tokens["quiet"])
                    await quiet.open()
                    await _watched(quiet, 1.0)
                    async with _noisy(kind, url, tokens["noisy"]):
                        rows.append(_row(kind, await _watched(quiet, seconds)))
            tell(f"{rows[-1].most * 1e3:.0f} ms")
    return alone, rows


def _row(beside: str, waits: list[float]) -> Row:
    most = quantiles(waits, n=100)[-1] if len(waits) > 1 else waits[0]
    return Row(beside=beside, half=median(waits), most=most)


async def _watched(quiet: Caller, seconds: float) -> list[float]:
    """Call again and again for a while, and return how long each call took."""
    waits, ends = [], time.perf_counter() + seconds
    while time.perf_counter() < ends or not waits:
        began = time.perf_counter()
        # A server that stands still for longer closes connections that it believes idle.
        with suppress(httpx2.HTTPError):
            response = await quiet.call("echo", text="hello")
            assert response.status_code == 200 and "hello" in response.text, response.text
        waits.append(time.perf_counter() - began)
        await asyncio.sleep(_PAUSE)
    return waits


@asynccontextmanager
async def _noisy(kind: str, url: str, token: str) -> AsyncIterator[None]:
    """Have another process send inputs of a kind."""
    command = [sys.executable, "-m", "bench.second_client", "--noise", kind, url, token]
    process = await asyncio.create_subprocess_exec(*command, cwd=_ROOT)
    try:
        await asyncio.sleep(2)  # it has to start; what comes of it is measured afterwards
        yield
    finally:
        process.kill()
        await process.wait()


@asynccontextmanager
async def _server(folder: Path) -> AsyncIterator[tuple[str, dict[str, str]]]:
    """Serve two clients; give the address and their tokens."""
    tokens = {name: secrets.token_hex(16) for name in ("quiet", "noisy")}
    for name in ("rules", "work"):
        (folder / name).mkdir()
    (folder / "rules" / "global.policy").write_text(_RULES)
    tables = [
        f'[serve.clients.{name}]\ntoken = "sha256:{hashlib.sha256(token.encode()).hexdigest()}"\n'
        f"user = {json.dumps(name)}\n"
        for name, token in tokens.items()
    ]
    (folder / "rules" / "placet.toml").write_text("".join(tables))
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "policy", "serve", str(folder / "rules")),
        *("--workspace", str(folder / "work"), "--tools", "bench.second_client:TOOLS"),
        *("--http", "127.0.0.1:0"),
        stdin=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(_ROOT)},
    )
    assert process.stderr is not None
    found, said = None, ""
    while found is None:
        line = (await process.stderr.readline()).decode()
        assert line, f"the server has ended: {said}"
        said += line
        found = re.search(r"http://\S+/mcp", line)
    rest = asyncio.create_task(process.stderr.read())
    try:
        yield found[0], tokens
    finally:
        process.kill()
        await process.wait()
        await rest


if __name__ == "__main__":
    sys.exit(main())
