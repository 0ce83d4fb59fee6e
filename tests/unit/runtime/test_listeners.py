"""Listeners can be added and removed from any thread, and none blocks another's events."""

from __future__ import annotations

import asyncio
import logging
import threading

import pytest

from policy.runtime import Listeners


def test_who_listens_twice_ends_one_at_a_time() -> None:
    listeners: Listeners[int] = Listeners()
    heard: list[int] = []
    end, end_again = listeners.add(heard.append), listeners.add(heard.append)
    listeners.notify(1)
    end()
    end()
    listeners.notify(2)
    end_again()
    listeners.notify(3)
    assert heard == [1, 1, 2]
    assert not listeners


@pytest.mark.parametrize("failing", [ValueError, asyncio.CancelledError])
def test_one_that_fails_keeps_the_news_from_nobody_and_is_logged(
    failing: type[BaseException], caplog: pytest.LogCaptureFixture
) -> None:
    listeners: Listeners[str] = Listeners()
    heard: list[str] = []

    def fails(news: str) -> None:
        raise failing(news)

    listeners.add(fails)
    listeners.add(heard.append)
    with caplog.at_level(logging.WARNING):
        listeners.notify("secret")
    assert heard == ["secret"]
    assert [record.getMessage() for record in caplog.records] == [
        f"a listener failed: {failing.__name__}"
    ]


def test_one_that_comes_while_the_others_are_told_hears_of_what_is_next() -> None:
    listeners: Listeners[int] = Listeners()
    late: list[int] = []
    listeners.add(lambda news: listeners.add(late.append) if news == 1 else None)
    listeners.notify(1)
    listeners.notify(2)
    assert late == [2]


def test_none_is_lost_where_many_threads_come_at_once() -> None:
    listeners: Listeners[int] = Listeners()
    heard: list[int] = []
    start = threading.Barrier(8)

    def come() -> None:
        start.wait()
        for _ in range(200):
            listeners.add(heard.append)

    threads = [threading.Thread(target=come) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    listeners.notify(1)
    assert len(heard) == 8 * 200
