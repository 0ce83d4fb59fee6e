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


# It allows, asks about and denies some of these calls; that it is small, loads it fast.
SMALL = """\
policy for every agent

default deny

commands look = "git status", "ls *"

read: allow file_read when reads only workspace
write: allow file_write when writes only workspace
git: ask file_write when writes ".git/**" because "git knows best"
look: allow bash_exec when runs only look and writes only workspace
fetch: allow web_fetch when connects only to "*.corp.example"
keys: deny * when reads "**/.ssh/**" because "keys stay here"
guests: deny file_write when session.role == "guest"
inside: deny * when connects to [private] because "out of bounds"
"""


def decided(rules: Path, off: str | None) -> tuple[int, bytes, bytes]:
    """Return what a process says of all calls."""
    environment = {name: value for name, value in os.environ.items() if name != "PLACET_NO_FAST"}
    if off is not None:
        environment["PLACET_NO_FAST"] = off
    command = [sys.executable, "-m", "policy", "decide", str(rules), "--lexical"]
    done = subprocess.run(
        command, input=ASKED, env=environment, cwd=ROOT, capture_output=True, check=False
    )
    return done.returncode, done.stdout, done.stderr


def decided_here(
    rules: Path, off: str, monkeypatch: pytest.MonkeyPatch
) -> tuple[int, bytes, bytes]:
    """Return what a command in this process says of all calls."""
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("PLACET_NO_FAST", off)
    here = run("decide", rules, "--lexical", stdin=ASKED)
    return here.code, here.out.encode(), here.err.encode()


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("small")
    (folder / "global.policy").write_text(SMALL, "utf-8")
    return folder


@pytest.fixture(scope="module")
def said_of_small(small: Path) -> tuple[int, bytes, bytes]:
    return decided(small, None)


@pytest.fixture(scope="module")
def said() -> tuple[int, bytes, bytes]:
    """What is said under the shipped rules."""
    return decided(ROOT / "rules", None)


@pytest.mark.long
def test_a_process_says_the_same_with_everything_switched_off(
    said: tuple[int, bytes, bytes],
) -> None:
    assert decided(ROOT / "rules", ",".join(NAMES)) == said


@pytest.mark.parametrize("off", NAMES)
def test_a_command_says_the_same_whatever_is_switched_off(
    off: str,
    small: Path,
    said_of_small: tuple[int, bytes, bytes],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert decided_here(small, off, monkeypatch) == said_of_small


@pytest.mark.long
@pytest.mark.parametrize("off", NAMES)
def test_of_the_shipped_rules_it_says_the_same(
    off: str, said: tuple[int, bytes, bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert decided_here(ROOT / "rules", off, monkeypatch) == said


def test_the_calls_come_to_every_verdict(said_of_small: tuple[int, bytes, bytes]) -> None:
    code, out, err = said_of_small
    found = [json.loads(line) for line in out.splitlines()]
    assert len(found) == len(LINES) + 3
    assert {"allow", "ask", "deny", None} == {line.get("verdict") for line in found}
    assert (code, err) == (2, b"")
