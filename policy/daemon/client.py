"""Answers a hook call in time: by the daemon, else in this process.

Agents treat a hook that times out as consent, so we answer before the limit: when the time is up,
the process ends itself with the answer that blocks the call.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from policy.daemon.protocol import Message

# Seconds: for the agent to write its input, for the daemon, its start included, and for a decision
# in this process. The installed settings give the agent's own limit more than all of them together.
FOR_THE_INPUT = 4.0
FOR_THE_DAEMON = 10.0
FOR_ITSELF = 14.0


class Late(Exception):
    """The daemon did not answer in its time."""


def answer_hook(request: Message, *, late: Callable[[], None], use_daemon: bool) -> Message:
    """Return the answer; at the time limit call `late`, which must end the process."""
    if os.name != "posix":
        return _by_a_timer(FOR_ITSELF, late, lambda: _decided_here(request))
    import signal

    try:
        signal.signal(signal.SIGALRM, _raise_late)
        answer = _asked(request) if use_daemon else None
    except Late:
        answer = None
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    if answer is not None:
        return answer
    return _by_an_alarm(FOR_ITSELF, late, lambda: _decided_here(request))


def input_in_time(read: Callable[[], Message], *, late: Callable[[], None]) -> Message:
    """Return what is read from the agent; call `late`, which must end the process, if it is late.

    The agent's own limit counts from the start of the hook, whatever the hook waits for.
    """
    keep = _by_an_alarm if os.name == "posix" else _by_a_timer
    return keep(FOR_THE_INPUT, late, read)


def _asked(request: Message) -> Message | None:
    """Return the daemon's answer, None if there is none."""
    import signal

    from policy.daemon.connection import NoDaemon, ask_daemon
    from policy.daemon.endpoint import EndpointUnusable

    signal.setitimer(signal.ITIMER_REAL, FOR_THE_DAEMON)
    try:
        return ask_daemon(request)
    except (OSError, NoDaemon, EndpointUnusable):
        return None


def _raise_late(number: int, frame: object) -> None:
    raise Late


def _decided_here(request: Message) -> Message:
    """Decide in this process, which loads the whole policy."""
    import asyncio

    from policy.daemon.context import HookContext
    from policy.daemon.decider import Decider
    from policy.daemon.request import Request

    asked = Request.of(request)
    return asyncio.run(Decider(HookContext.of(asked)).answer(asked)).message()


def _by_an_alarm(seconds: float, late: Callable[[], None], step: Callable[[], Message]) -> Message:
    """Take a step; an alarm enforces the time limit."""
    import signal

    signal.signal(signal.SIGALRM, lambda number, frame: late())
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        return step()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def _by_a_timer(seconds: float, late: Callable[[], None], step: Callable[[], Message]) -> Message:
    """Take a step; a thread enforces the time limit, as this system has no alarms."""
    from threading import Timer

    timer = Timer(seconds, late)
    timer.daemon = True
    timer.start()
    try:
        return step()
    finally:
        timer.cancel()
