"""A hook request in, its answer out, in time: from the daemon, else decided in this process.

An agent takes a hook that is late for one that consents. So we are never later than we say: at the
end of the time the process ends itself with the answer that blocks the call.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from policy.daemon.exchange import Answer, Request

# Seconds: for the daemon, its start included, and for all of a call. The settings that are
# installed give the agent's own limit more.
FOR_THE_DAEMON = 6.0
FOR_ALL = 20.0


class Late(Exception):
    """The time for something is over."""


def answer_hook(request: Request, *, late: Callable[[], None], use_daemon: bool) -> Answer:
    """Return the answer; call `late`, which must end the process, once the time is over."""
    if os.name != "posix":
        with _timer(late):
            return decide_here(request)
    try:
        if use_daemon:
            with _alarm(FOR_THE_DAEMON, _raise_late):
                from policy.daemon.client import NoDaemon, ask_daemon
                from policy.daemon.place import PlaceUnusable

                try:
                    return ask_daemon(request)
                except (OSError, NoDaemon, PlaceUnusable):
                    pass  # then the call is decided here
    except Late:
        pass
    with _alarm(FOR_ALL - FOR_THE_DAEMON, late):
        return decide_here(request)


def decide_here(request: Request) -> Answer:
    """Decide in this process, which loads the whole policy."""
    import asyncio

    from policy.daemon.decider import Decider, Setting

    return asyncio.run(Decider(Setting.of(request)).answer(request))


def _raise_late() -> None:
    raise Late


@contextmanager
def _alarm(seconds: float, rings: Callable[[], None]) -> Iterator[None]:
    """Call `rings` in the main thread after some seconds, unless the block has ended by then."""
    import signal

    before = signal.signal(signal.SIGALRM, lambda number, frame: rings())
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@contextmanager
def _timer(late: Callable[[], None]) -> Iterator[None]:
    """Call `late` in a thread at the end of all the time, where the system has no alarms."""
    from threading import Timer

    timer = Timer(FOR_ALL, late)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
