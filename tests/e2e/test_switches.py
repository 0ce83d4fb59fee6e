"""Commands whose fast paths are switched off print the same output, byte for byte."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.unit.cli.running import run
from tests.unit.cli.test_fast_paths import NAMES

ROOT = Path(__file__).resolve().parents[2]
PLACE = {"workspace": "/srv/work", "home": "/home/ann"}
INPUTS = (
    *(("file_read", {"path": path}) for path in ("a.txt", "~/.ssh/id_rsa", "../x", "/srv/work/é")),
    *(("file_write", {"path": path, "content": ""}) for path in (".git/config", "b", "rules")),
    *(("bash_exec", {"command": line}) for line in ("git status", "ls > a; rm b", "$X", "ls 'a")),
    *(("web_fetch", {"url": url}) for url in ("https://docs.corp.example/", "http://0x7f.1/", "?")),
    *(("bash_exec", '{"command": "ls", "command": "rm"}'), ("file_raed", {}), ("file_read", None)),
)
LINES = [
    json.dumps({"id": number, "tool": tool, "input": given, "caller": caller, **PLACE}).encode()
    for number, (tool, given) in enumerate(INPUTS)
    for caller in (None, {"role": "guest"}, {"agent": "research-1", "parent": {"agent": "ann"}})
]
ASKED = b"\n".join((*LINES, b'{"tool": "file_read", "tool": "file_list"}', b"\xff", b"[]", b""))


def decided(off: str | None) -> tuple[int, bytes, bytes]:
    """Return what a process says of all calls under the shipped rules."""
    environment = {name: value for name, value in os.environ.items() if name != "PLACET_NO_FAST"}
    if off is not None:
        environment["PLACET_NO_FAST"] = off
    command = [sys.executable, "-m", "policy", "decide", str(ROOT / "rules"), "--lexical"]
    done = subprocess.run(
        command, input=ASKED, env=environment, cwd=ROOT, capture_output=True, check=False
    )
    return done.returncode, done.stdout, done.stderr


@pytest.fixture(scope="module")
def said() -> tuple[int, bytes, bytes]:
    return decided(None)


@pytest.mark.long
def test_a_process_says_the_same_with_everything_switched_off(
    said: tuple[int, bytes, bytes],
) -> None:
    assert decided(",".join(NAMES)) == said


@pytest.mark.parametrize(
    "off", [NAMES[0], *(pytest.param(name, marks=pytest.mark.long) for name in NAMES[1:])]
)
def test_a_command_says_the_same_whatever_is_switched_off(
    off: str, said: tuple[int, bytes, bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("PLACET_NO_FAST", off)
    here = run("decide", ROOT / "rules", "--lexical", stdin=ASKED)
    assert (here.code, here.out.encode(), here.err.encode()) == said


def test_the_calls_come_to_every_verdict(said: tuple[int, bytes, bytes]) -> None:
    code, out, err = said
    found = [json.loads(line) for line in out.splitlines()]
    assert len(found) == len(LINES) + 3
    assert {"allow", "ask", "deny", None} == {line.get("verdict") for line in found}
    assert (code, err) == (2, b"")
