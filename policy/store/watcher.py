"""Watches a policy's path, and calls back whenever something may have changed.

Events only say when to look; the policy in force depends on contents alone. A watch on a file ends
when the file is replaced, and a watch on a folder when the folder is, so the folder's parent is
watched too, and every `poll` seconds the listing is compared, with or without events.
"""

from __future__ import annotations

import asyncio
import os
import stat
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from policy.catalog import LOCK_FILE
from policy.generation import DATA_SUFFIXES, POLICY_SUFFIX, signature
from policy.runtime import Threads

_DEBOUNCE = 50  # milliseconds that a burst may last before its events are handled anyway
_STEP = 10  # milliseconds of quiet that end a burst
_AFTER_TROUBLE = 0.05  # seconds before a folder whose watch broke is watched again


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """One folder to watch: its identity when it was looked up, and whether all below counts.

    `only` is the one name in it that counts, if not everything does.
    """

    path: str
    identity: tuple[int, int]
    deep: bool
    only: str | None = None


def targets(path: str) -> tuple[Target, ...]:
    """Return the folders to watch for changes at `path`, as they are now; none for no path."""
    if not path:
        return ()
    place = os.path.abspath(path)
    parent, name = os.path.split(place)
    found = [_target(parent, deep=False, only=name)]
    if os.path.isdir(place):
        found.append(_target(place, deep=True))
    else:
        found = [_target(parent, deep=False)]
        found += [_target(os.path.join(parent, below), deep=True) for below in ("packs", "data")]
    return tuple(target for target in found if target is not None)


def _target(path: str, *, deep: bool, only: str | None = None) -> Target | None:
    real = os.path.realpath(path)
    try:
        status = os.stat(real)
    except OSError:
        return None
    if not stat.S_ISDIR(status.st_mode):
        return None
    return Target(path=real, identity=(status.st_dev, status.st_ino), deep=deep, only=only)


async def watch_path(
    path: str,
    changed: Callable[[], Awaitable[None]],
    *,
    poll: float,
    ready: asyncio.Event | None = None,
    unchanged: Callable[[float], None] = lambda began: None,
    due: Callable[[], bool] = lambda: False,
    ticks: Callable[[], float] = time.monotonic,
) -> None:
    """Await `changed` after every change at `path`, until cancelled.

    `ready` is set once listening has begun: later changes are not missed. `unchanged` is called
    after every look that found no change, with the time by `ticks` when it began. If something is
    `due`, `changed` is awaited without a change.
    """
    looking = Threads("looking for edits", most=1)
    # From before listening began, so that the first comparison finds a change in between.
    seen = signature(path)
    woken = False
    while True:
        here = targets(path)
        wake, stop = asyncio.Event(), asyncio.Event()
        listeners = [asyncio.create_task(_listen(target, wake, stop)) for target in here]
        try:
            # A listener registers its watch before it first waits, so one turn is enough.
            await asyncio.sleep(0)
            if ready is not None:
                ready.set()
            while targets(path) == here:
                began = ticks()
                now = await looking.run(signature, path)
                if woken or now != seen or due():
                    seen = now
                    await changed()
                else:
                    unchanged(began)
                woken = await _woken(wake, poll)
        finally:
            stop.set()
            await asyncio.gather(*listeners, return_exceptions=True)
        # A folder was created, removed or replaced: watch the new one, then look.
        woken = True


async def _woken(wake: asyncio.Event, poll: float) -> bool:
    try:
        async with asyncio.timeout(poll):
            await wake.wait()
    except TimeoutError:
        return False
    wake.clear()
    return True


async def _listen(target: Target, wake: asyncio.Event, stop: asyncio.Event) -> None:
    """Set `wake` at every event of one folder; where the system cannot watch, polling remains."""
    from watchfiles import awatch

    while not stop.is_set():
        try:
            async for _ in awatch(
                target.path,
                watch_filter=_counts(target),
                debounce=_DEBOUNCE,
                step=_STEP,
                stop_event=stop,
                recursive=target.deep,
                ignore_permission_denied=True,
            ):
                wake.set()
        except OSError:
            return
        except RuntimeError:
            # What the native watcher raises when its queue or its folder is gone.
            wake.set()
        await _pause(stop)


async def _pause(stop: asyncio.Event) -> None:
    try:
        async with asyncio.timeout(_AFTER_TROUBLE):
            await stop.wait()
    except TimeoutError:
        return


def _counts(target: Target) -> Callable[[object, str], bool]:
    def counts(_change: object, path: str) -> bool:
        name = os.path.basename(path)
        if target.only is not None:
            return name == target.only or path == target.path
        if name.lower().endswith((POLICY_SUFFIX, *DATA_SUFFIXES, LOCK_FILE)):
            return True
        # A regular file with another name (a log, an editor's copy) does not matter; a folder or a
        # link that was created, removed or replaced may have changed everything below it.
        try:
            return not stat.S_ISREG(os.lstat(path).st_mode)
        except OSError:
            return True

    return counts
