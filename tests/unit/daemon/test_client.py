"""The time limit of a hook call, on systems without alarms."""

from __future__ import annotations

from threading import Event

import pytest

from policy.daemon import client


def test_where_there_are_no_alarms_a_thread_keeps_the_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    late = Event()

    def waits(request: object) -> object:
        return late.wait(60) and request

    monkeypatch.setattr("policy.daemon.client._decided_here", waits)
    monkeypatch.setattr("policy.daemon.client.FOR_ITSELF", 0.01)
    request = {"kind": "ask"}
    assert client._decided_by_a_timer(request, late.set) is request
