"""The time limit of a hook call, on systems without alarms."""

from __future__ import annotations

from threading import Event

from policy.daemon import client


def test_where_there_are_no_alarms_a_thread_keeps_the_time() -> None:
    late = Event()

    answer = {"kind": "answer"}
    assert client._by_a_timer(0.01, late.set, lambda: answer if late.wait(60) else {}) is answer
