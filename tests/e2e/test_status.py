"""`placet status` and `/healthz` report the state of a running server."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.e2e.serving import POLICY, place_in
from tests.e2e.test_http import listening, token_file
from tests.plain_http import plain_client
from tests.unit.cli.running import run
from tests.waiting import until

pytestmark = pytest.mark.people


def _status(*words: str | Path) -> tuple[int, dict[str, Any]]:
    done = run("status", *words, "--format", "json")
    return done.code, json.loads(done.out) if done.out else {"told": done.err}


async def _becomes(code: int, url: str, *words: str) -> dict[str, Any]:
    """Return what is told once the server is so; it looks within a second."""
    state = {0: "up", 3: "stale", 4: "frozen"}[code]

    async def is_so() -> bool:
        found = await http.get(httpx2.URL(url).join("/healthz"))
        return bool(found.json() == {"state": state})

    async with plain_client() as http:
        await until(is_so)
    found, told = await asyncio.to_thread(_status, "--url", url, *words)
    assert found == code
    return told


async def test_a_server_tells_how_it_stands(tmp_path: Path) -> None:
    place = place_in(tmp_path)
    token = token_file(place)
    async with listening(place, "--token-file", token) as url:
        known = (url, "--token-file", token)
        code, told = await asyncio.to_thread(_status, "--url", *known)
        assert (code, told["state"], told["generation"]["number"]) == (0, "up", 1)
        place.save("nonsense\n")
        told = await _becomes(3, *known)
        assert told["because"].startswith("global.policy:1")
        place.save(POLICY)
        await _becomes(0, *known)
        frozen = ("freeze", "no_such_tool", "--because", "a try", "--rules", str(place.rules))
        lifted = ("unfreeze", "--rules", str(place.rules))
        try:
            assert (await asyncio.to_thread(run, *frozen)).code == 0
            told = await _becomes(4, *known)
            assert told["freezes"][0]["because"] == "a try"
            # Without the token: one word, and no name of anything.
            assert await _becomes(4, url) == {"state": "frozen"}
        finally:
            await asyncio.to_thread(run, *lifted)
    code, told = _status("--url", *known)
    assert code == 5
    assert "gives no answer" in told["told"]


def test_files_tell_what_a_server_would_do(tmp_path: Path) -> None:
    place = place_in(tmp_path)
    assert _status(place.rules)[1]["state"] == "up"
    place.save("nonsense\n")
    code, told = _status(place.rules)
    assert (code, told["state"], told["generation"]) == (1, "down", None)
