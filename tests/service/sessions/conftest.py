"""Every log of sessions, for the tests that all of them pass."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from typing import TypeAlias

import pytest

from policy.service.sessions import (
    KeepingBounds,
    MemorySessionLog,
    RedisSessionLog,
    SessionLog,
    SqliteSessionLog,
)
from tests.redis_server import MISSING, RedisServer

# Returns a new log of the kind that is tested.
NewLog: TypeAlias = Callable[[KeepingBounds], SessionLog]


@pytest.fixture(scope="session")
def one_redis() -> Iterator[RedisServer]:
    if MISSING:
        pytest.skip(MISSING)
    with closing(RedisServer()) as server:
        yield server


@pytest.fixture
def redis_server(one_redis: RedisServer) -> RedisServer:
    """Return a server that keeps nothing yet."""
    with one_redis.client() as client:
        client.flushall()
    return one_redis


@pytest.fixture(params=["memory", "sqlite", "redis"])
def bounded(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[NewLog]:
    with ExitStack() as opened:

        def memory(bounds: KeepingBounds) -> SessionLog:
            return MemorySessionLog(bounds=bounds)

        def sqlite(bounds: KeepingBounds) -> SessionLog:
            log = SqliteSessionLog(tmp_path / "history.sqlite", bounds=bounds)
            return opened.enter_context(closing(log))

        def redis(bounds: KeepingBounds) -> SessionLog:
            server: RedisServer = request.getfixturevalue("redis_server")
            return opened.enter_context(closing(RedisSessionLog(server.url, bounds=bounds)))

        yield {"memory": memory, "sqlite": sqlite, "redis": redis}[request.param]


@pytest.fixture
def log(bounded: NewLog) -> SessionLog:
    return bounded(KeepingBounds())
