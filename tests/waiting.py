"""Waiting for what another process or thread does, of which no event tells a test."""

from __future__ import annotations

import asyncio
import inspect
import os
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeVar, overload

PATIENCE = 120.0  # seconds until a test gives up; the machine may be busy
_PAUSE = 0.01  # seconds between two looks

Found = TypeVar("Found")


@overload
async def until(look: Callable[[], Awaitable[Found]]) -> Found: ...
@overload
async def until(look: Callable[[], Found]) -> Found: ...
async def until(look: Callable[[], object]) -> object:
    """Look again and again, and return what a look finds at last: the first that is not empty."""
    async with asyncio.timeout(PATIENCE):
        while True:
            found = look()
            if inspect.isawaitable(found):
                found = await found
            if found:
                return found
            await asyncio.sleep(_PAUSE)


def wait_until(look: Callable[[], Found]) -> Found:
    """Do so in a test without an event loop, or without letting the loop go on."""
    ends = time.monotonic() + PATIENCE
    while not (found := look()):
        assert time.monotonic() < ends, "it took too long"
        time.sleep(_PAUSE)
    return found


def skip_time(seconds: float) -> None:
    """Put the running loop's clock forward: what waits for time to pass waits so much less."""
    loop = asyncio.get_running_loop()
    time_before = loop.time
    loop.time = lambda: time_before() + seconds  # type: ignore[method-assign]


async def gone(pid: int | str) -> None:
    """Wait for a process that was killed to be gone; dying takes the kernel a moment."""
    await until(lambda: not runs(pid))


def runs(pid: int | str) -> bool:
    """Tell whether a process runs; one that is dead but not collected does not."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False
    return stat.rpartition(")")[2].split()[0] not in ("Z", "X")


def is_written(file: Path) -> bool:
    """Tell whether another process has written a whole line to a file."""
    return file.exists() and file.read_text().endswith("\n")


def working_in(folder: Path) -> list[str]:
    """Return the processes that work in a folder, as seen from outside."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            if os.readlink(f"/proc/{pid}/cwd") == str(folder.resolve()):
                found.append(pid)
        except OSError:
            continue
    return found
