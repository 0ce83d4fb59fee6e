"""Two MCP clients of one server that keeps its history in Redis: they share nothing."""

from __future__ import annotations

from contextlib import closing
from hashlib import sha256
from pathlib import Path

import pytest

from tests.e2e.serving import BOTH_ERAS, Era, call, place_in
from tests.e2e.test_http import connected, listening
from tests.redis_server import MISSING, RedisServer

RULES = """policy for every agent

default deny
look: allow file_list
read: allow file_read unless after listed
few: limit file_list to 1 per session
label listed on results of file_list
"""
USERS = {"one": "ada", "two": "bob"}


def token_of(name: str) -> str:
    return f"correct-horse-battery-{name}"


def settings_of(store: str) -> str:
    tables = [f'[history]\nstore = "{store}"\n']
    for name, user in USERS.items():
        digest = sha256(token_of(name).encode()).hexdigest()
        tables.append(f'[serve.clients.{name}]\ntoken = "sha256:{digest}"\nuser = "{user}"\n')
    return "".join(tables)


@pytest.mark.skipif(MISSING is not None, reason=MISSING or "")
@pytest.mark.parametrize("era", BOTH_ERAS)
async def test_what_one_client_did_is_no_history_of_the_other(tmp_path: Path, era: Era) -> None:
    with closing(RedisServer()) as server:
        place = place_in(tmp_path, RULES)
        (place.rules / "placet.toml").write_text(settings_of(server.url))
        (place.workspace / "a").write_text("text")
        async with (
            listening(place) as url,
            connected(url, token_of("one"), era) as one,
            connected(url, token_of("two"), era) as two,
        ):
            assert (await call(one, "file_list", path=".")).verdict == "allow"
            assert (await call(one, "file_list", path=".")).rules == ["few"]
            assert (await call(one, "file_read", path="a")).verdict == "deny"
            assert (await call(two, "file_read", path="a")).verdict == "allow"
            assert (await call(two, "file_list", path=".")).verdict == "allow"
            assert (await call(two, "file_read", path="a")).verdict == "deny"
