"""`placet status` and `/healthz` report the state of a running server."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx2

from tests.e2e.serving import ENV, POLICY, Place, becomes, place_in
from tests.e2e.test_http import listening, token_file


def _status(place: Place, *words: str) -> tuple[int, dict[str, Any]]:
    done = subprocess.run(
        [sys.executable, "-m", "policy", "status", *words, "--format", "json"],
        cwd=place.folder,
        env={**os.environ, **ENV},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    return done.returncode, json.loads(done.stdout) if done.stdout else {"told": done.stderr}


async def _becomes(place: Place, code: int, url: str, *words: str) -> dict[str, Any]:
    """Return what is told once the server is so; it looks within a second."""
    state = {0: "up", 3: "stale", 4: "frozen"}[code]

    async def is_so() -> bool:
        found = await http.get(httpx2.URL(url).join("/healthz"))
        return bool(found.json() == {"state": state})

    async with httpx2.AsyncClient() as http:
        await becomes(is_so)
    found, told = await asyncio.to_thread(_status, place, "--url", url, *words)
    assert found == code
    return told


async def test_a_server_tells_how_it_stands(tmp_path: Path) -> None:
    place = place_in(tmp_path)
    token = token_file(place)
    async with listening(place, "--token-file", token) as url:
        known = (url, "--token-file", token)
        code, told = await asyncio.to_thread(_status, place, "--url", *known)
        assert (code, told["state"], told["generation"]["number"]) == (0, "up", 1)
        place.save("nonsense\n")
        told = await _becomes(place, 3, *known)
        assert told["because"].startswith("global.policy:1")
        place.save(POLICY)
        await _becomes(place, 0, *known)
        frozen = ("freeze", "no_such_tool", "--because", "a try", "--rules", str(place.rules))
        lifted = ("unfreeze", "--rules", str(place.rules))
        try:
            assert await asyncio.to_thread(_placet, place, *frozen) == 0
            told = await _becomes(place, 4, *known)
            assert told["freezes"][0]["because"] == "a try"
            # Without the token: one word, and no name of anything.
            assert await _becomes(place, 4, url) == {"state": "frozen"}
        finally:
            await asyncio.to_thread(_placet, place, *lifted)
    code, told = _status(place, "--url", *known)
    assert code == 5
    assert "gives no answer" in told["told"]


def test_files_tell_what_a_server_would_do(tmp_path: Path) -> None:
    place = place_in(tmp_path)
    assert _status(place, "rules")[1]["state"] == "up"
    place.save("nonsense\n")
    code, told = _status(place, "rules")
    assert (code, told["state"], told["generation"]) == (1, "down", None)


def _placet(place: Place, *words: str) -> int:
    done = subprocess.run(
        [sys.executable, "-m", "policy", *words],
        cwd=place.folder,
        env={**os.environ, **ENV},
        capture_output=True,
        check=False,
        timeout=60,
    )
    return done.returncode
