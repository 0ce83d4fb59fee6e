"""Time what the proxy of a sandbox costs: `python -m bench.sandbox_network`, half a minute.

Needs bubblewrap and curl. 10 MB pass directly and through the proxy; `true` starts in bubblewrap
with nothing but `/usr`, and confined with its network, both below the supervisor that every program
has. Each pair takes turns, and of each the fastest tenth counts, since three processes that pass on
the same bytes wait for cores on a machine that is not quiet. The exit status is 1 where the proxy
takes over twice the direct time, or the start over four times that of bubblewrap.
"""

from __future__ import annotations

import asyncio
import os
import socket
import sys
import tempfile
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from time import perf_counter

from policy.generation import Reach
from policy.processes import Launcher, ProgramToStart, SupervisedLauncher
from policy.sandbox import Bubblewrap, ConfinedLauncher, NotReached, Peer, Target, dial, plan_of
from policy.sandbox.network.proxy import HostProxy

_TIMES = 40
_SIZE = 10_000_000
_MOST_TRANSFER, _MOST_START = 2.0, 4.0
_BARE = ("--unshare-all", "--ro-bind", "/usr", "/usr", "--symlink", "usr/bin", "/bin")
_LIBRARIES = ("--symlink", "usr/lib", "/lib", "--symlink", "usr/lib64", "/lib64")
# A process of its own, so that it does not share an event loop with the proxy.
_SERVER = """
import http.server, sys
class Handler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *ignored): pass
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(server.server_port, flush=True)
server.serve_forever()
"""


async def _run(*arguments: str) -> str:
    process = await asyncio.create_subprocess_exec(
        *arguments, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL
    )
    out, _ = await process.communicate()
    assert process.returncode == 0, arguments
    return out.decode()


async def _fetched(url: str, *more: str) -> float:
    """Return how long curl takes for a transfer, without its own start."""
    shown = ("-w", "%{time_total}", "-o", os.devnull)
    return float(await _run("curl", "-sS", *shown, *more, url))


async def _transfers(folder: str) -> tuple[list[float], list[float]]:
    (Path(folder) / "file").write_bytes(os.urandom(_SIZE))
    server = await asyncio.create_subprocess_exec(
        sys.executable, "-c", _SERVER, cwd=folder, stdout=asyncio.subprocess.PIPE
    )
    assert server.stdout is not None
    port = int(await server.stdout.readline())

    async def connect(target: Target) -> Peer:
        try:
            return await dial("127.0.0.1", port)
        except OSError as error:
            raise NotReached(str(error)) from error

    listener = socket.create_server(("127.0.0.1", 0))
    proxy_at = f"http://127.0.0.1:{listener.getsockname()[1]}"
    direct, proxied = [], []
    try:
        async with HostProxy(listener, connect):
            for _ in range(_TIMES):
                direct.append(await _fetched(f"http://127.0.0.1:{port}/file"))
                proxied.append(await _fetched("http://a.test/file", "-x", proxy_at))
    finally:
        server.kill()
        await server.wait()
    return direct, proxied


async def _starts(folder: str) -> tuple[list[float], list[float]]:
    async def connect(target: Target) -> Peer:
        raise NotReached("nothing is connected here")

    plan = plan_of(Reach(network="hosts"), folder=folder, home="/home/x", workspace=folder)
    launcher = ConfinedLauncher(
        Bubblewrap(), lambda program: plan, connect_for=lambda program: connect
    )
    program = ProgramToStart(arguments=("true",), env={"PATH": os.defpath}, folder=folder)

    bare_program = replace(program, arguments=("bwrap", *_BARE, *_LIBRARIES, "true"))

    async def ran(launcher: Launcher, program: ProgramToStart) -> None:
        launched = await launcher.launch(program, stdin=0, stdout=1, stderr=2)
        assert await launched.wait() == 0
        await launched.end()

    async def bare() -> None:
        await ran(SupervisedLauncher(), bare_program)

    async def confined() -> None:
        await ran(launcher, program)

    alone, with_network = [], []
    for _ in range(_TIMES):
        alone.append(await _timed(bare))
        with_network.append(await _timed(confined))
    return alone, with_network


async def _timed(run: Callable[[], Awaitable[None]]) -> float:
    start = perf_counter()
    await run()
    return perf_counter() - start


def _ratio(what: str, slow: list[float], fast: list[float], *, most: float) -> bool:
    """Print two times and their ratio; return whether that is within the goal."""
    one, other = (sorted(each)[len(each) // 10] for each in (slow, fast))
    found = one / other
    print(f"{what}: {one * 1e3:.1f} ms, {found:.2f} times {other * 1e3:.1f} ms (at most {most:g})")
    return found <= most


async def _measure() -> bool:
    with tempfile.TemporaryDirectory() as folder:
        direct, proxied = await _transfers(folder)
        alone, with_network = await _starts(folder)
    passes = _ratio("10 MB through the proxy", proxied, direct, most=_MOST_TRANSFER)
    starts = _ratio("start with a network", with_network, alone, most=_MOST_START)
    return passes and starts


def main() -> int:
    """Print the times, and tell whether they are within the goals."""
    return int(not asyncio.run(_measure()))


if __name__ == "__main__":
    sys.exit(main())
