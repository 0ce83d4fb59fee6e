"""The messages between a hook process and the daemon: whole lines, or none."""

from __future__ import annotations

from typing import Any

import pytest

from policy.daemon import blocked
from policy.daemon.protocol import Malformed, answered, line_of, message_in
from policy.daemon.request import HookAnswer, Request

ASKED: dict[str, Any] = {
    "kind": "ask",
    "agent": "claude-code",
    "policy": "/srv/rules",
    "cwd": "/srv/work",
    "home": "/home/ada",
    "input": "\udcff",
    "workspace": None,
    "project": None,
    "settings_folder": None,
    "caller": None,
    "audit": None,
    "denies_asks": False,
    "git_elsewhere": "",
}


def test_a_message_survives_the_way() -> None:
    assert message_in(line_of(ASKED)) == ASKED
    assert Request.of(ASKED).input == "\udcff"
    assert HookAnswer(status=2, stderr="x").message() == answered(2, stderr="x")


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"\n",
        b"{",
        b"[]",
        b'"ask"',
        b'{"kind": 1}',
        b'{"kind": "answer"}',
        b'{"kind": "answer", "status": "0", "stdout": "", "stderr": ""}',
        b'{"kind": "answer", "status": true, "stdout": "", "stderr": ""}',
        b'{"kind": "answer", "status": 0, "stdout": null, "stderr": ""}',
        b"\xff\n",
    ],
)
def test_anything_else_is_no_message(line: bytes) -> None:
    with pytest.raises(Malformed):
        message_in(line)


@pytest.mark.parametrize("name", [name for name in ASKED if name != "kind"])
def test_a_request_has_every_field_as_it_must_be(name: str) -> None:
    with pytest.raises(Malformed, match=name):
        Request.of({**ASKED, name: 1})
    if ASKED[name] is not None:
        with pytest.raises(Malformed, match=name):
            Request.of({field: value for field, value in ASKED.items() if field != name})


def test_a_block_always_has_a_reason() -> None:
    assert blocked("")["stderr"].strip()
    assert blocked("why")["status"] == 2
