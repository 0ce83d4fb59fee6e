"""Two MCP clients of one server, or of one store of histories: they share nothing."""

from __future__ import annotations

from contextlib import closing
from hashlib import sha256
from pathlib import Path

import pytest
from mcp import Client

from tests.e2e.serving import BOTH_ERAS, Era, Place, call, place_in, served
from tests.e2e.test_http import TOKEN, connected, listening, token_file
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


SAID = """policy for every agent

default deny
look: allow file_list
few: limit file_list to 1 per session
make: allow file_mkdir
named: deny file_mkdir unless input.path named by user
"""
TRUSTED = "[serve]\nsaid = true\n"
NAMED = TRUSTED + 'session = "all"\n'
STORED = '[history]\nstore = "../history.sqlite"\n'


def place_with(folder: Path, settings: str) -> Place:
    place = place_in(folder, SAID)
    (place.rules / "placet.toml").write_text(settings)
    return place


async def may_make(client: Client, name: str, *said: str) -> bool:
    """Return whether a folder may be made; `said` is what the client tells of its user."""
    meta = {"placet/said": list(said)} if said else None
    result = await client.call_tool("file_mkdir", {"path": name}, meta=meta)  # type: ignore[arg-type]
    return not result.is_error


async def may_list(client: Client) -> bool:
    return not (await call(client, "file_list", path=".")).error


def why_not(place: Place) -> list[str]:
    """Return why rules about folders were indeterminate."""
    reasons = [reason for record in place.records() for reason in record["reasons"]]
    return [str(one["indeterminate"]) for one in reasons if one["rule"] == "named"]


async def test_connections_with_one_token_share_neither_words_nor_limits(tmp_path: Path) -> None:
    place = place_with(tmp_path, TRUSTED)
    async with (
        listening(place, "--token-file", token_file(place)) as url,
        connected(url, TOKEN, "legacy") as one,
        connected(url, TOKEN, "legacy") as two,
    ):
        assert await may_make(one, "Bob12", "make Bob12")
        assert not await may_make(two, "Bob12")
        assert await may_list(one)
        assert not await may_list(one)
        assert await may_list(two)
        assert await may_make(one, "Bob13", "make Bob12", "and Bob13")
    assert len({record["caller"]["session"] for record in place.records()}) == 2


async def test_processes_on_stdio_share_neither_words_nor_limits(tmp_path: Path) -> None:
    place = place_with(tmp_path, TRUSTED + STORED)
    async with served(place) as one:
        assert await may_make(one, "Bob12", "make Bob12")
        assert await may_list(one)
        assert not await may_list(one)
    async with served(place) as two:
        assert not await may_make(two, "Bob12")
        assert await may_list(two)
    async with served(place) as three:
        assert await may_make(three, "Eve", "make Eve")


async def test_connections_in_a_named_session_share_limits_and_no_words(tmp_path: Path) -> None:
    place = place_with(tmp_path, NAMED)
    async with (
        listening(place, "--token-file", token_file(place)) as url,
        connected(url, TOKEN, "legacy") as one,
        connected(url, TOKEN, "legacy") as two,
    ):
        assert not await may_make(one, "Bob12", "make Bob12")
        assert not await may_make(two, "Bob12")
        assert await may_list(one)
        assert not await may_list(two)
    assert {record["caller"]["session"] for record in place.records()} == {"all"}
    assert all("the configuration names the session" in why for why in why_not(place))
    assert len(why_not(place)) == 2


async def test_processes_in_a_named_session_share_limits_and_no_words(tmp_path: Path) -> None:
    place = place_with(tmp_path, NAMED + STORED)
    async with served(place) as one:
        assert not await may_make(one, "Bob12", "make Bob12")
        assert await may_list(one)
    async with served(place) as two:
        assert not await may_make(two, "Bob12")
        assert not await may_list(two)
