"""The daemon's side of the socket, with the client in another thread of this process."""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

import pytest

from policy.daemon import daemons, stop_daemon
from policy.daemon.connection import NoDaemon, ask_daemon, exchange
from policy.daemon.endpoint import DaemonFiles, sockets
from policy.daemon.launch import start
from policy.daemon.protocol import line_of
from policy.daemon.server import serve
from tests.unit.daemon.deciding import hook_input, request

_T = TypeVar("_T")


@pytest.fixture
def rules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("rules", "project", "run"):
        (tmp_path / name).mkdir()
    # The path of a socket is short.
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / "run"))
    text = (
        "policy for every agent\n\ndefault deny\nread: allow file_read when reads only workspace\n"
    )
    (tmp_path / "rules" / "global.policy").write_text(text, "utf-8")
    return tmp_path / "rules"


def served(rules: Path, ask: Callable[[str], _T]) -> _T:
    """Return what `ask` makes of a daemon's socket; the daemon ends after that."""
    ready, said = os.pipe()

    def client() -> _T:
        try:
            assert os.read(ready, 1) == b"1"
            return ask(DaemonFiles(str(rules)).socket)
        finally:
            os.close(ready)
            for where in sockets():
                with suppress(OSError):  # it has ended by itself
                    stop_daemon(where)

    with ThreadPoolExecutor(1) as pool:
        asked = pool.submit(client)
        serve(str(rules), said)
        return asked.result()


def message(rules: Path, path: str, **more: Any) -> dict[str, Any]:
    text = hook_input(rules, "claude-code", "Read", {"file_path": path})
    asked = request(rules, "claude-code", text)
    fields = {name: getattr(asked, name) for name in type(asked).__slots__}
    return {"kind": "ask", **fields, **more}


def decision(answer: dict[str, Any]) -> str:
    found: str = json.loads(answer["stdout"])["hookSpecificOutput"]["permissionDecision"]
    return found


def test_calls_are_answered_and_counted(rules: Path) -> None:
    def ask(where: str) -> tuple[list[str], list[dict[str, Any]]]:
        paths = (str(rules.parent / "project" / "a"), "/etc/passwd")
        return [decision(ask_daemon(message(rules, path))) for path in paths], daemons()

    decisions, (status,) = served(rules, ask)
    assert decisions == ["allow", "deny"]
    assert (status["calls"], status["pid"], status["policy"]) == (2, os.getpid(), str(rules))
    assert [project["folder"] for project in status["projects"]] == [str(rules.parent / "project")]
    assert daemons() == []


def test_every_project_has_a_decider_until_there_are_too_many(rules: Path) -> None:
    def ask(where: str) -> list[str]:
        for number in range(10):
            ask_daemon(message(rules, "/x", project=f"/srv/{number}"))
        ask_daemon(message(rules, "/x", project="/srv/2"))
        return [project["folder"] for project in daemons()[0]["projects"]]

    assert served(rules, ask) == [f"/srv/{number}" for number in (3, 4, 5, 6, 7, 8, 9, 2)]


def test_a_message_that_is_none_is_told_so(rules: Path) -> None:
    def ask(where: str) -> list[str]:
        lines = (b"{\n", b'{"kind": "ask"}\n', b"[]\n")
        return [str(exchange(where, line)["kind"]) for line in lines]

    assert served(rules, ask) == ["malformed"] * 3


def test_a_call_that_cannot_be_decided_is_left_to_the_client(
    rules: Path, caplog: pytest.LogCaptureFixture
) -> None:
    def ask(where: str) -> tuple[str, str]:
        broken = message(rules, "/x", project="/srv/\0")
        with pytest.raises(NoDaemon, match="failed"):
            ask_daemon(broken)
        return str(exchange(where, line_of(broken))["problem"]), decision(
            ask_daemon(message(rules, "/x"))
        )

    assert served(rules, ask) == ("ValueError", "deny")
    assert "ValueError" in caplog.text


def test_a_client_that_leaves_early_harms_nobody(rules: Path) -> None:
    def ask(where: str) -> str:
        for sent in (b"", b'{"kind"'):
            with socket.socket(socket.AF_UNIX) as connection:
                connection.connect(where)
                connection.sendall(sent)
        return decision(ask_daemon(message(rules, "/etc/passwd")))

    assert served(rules, ask) == "deny"


def test_a_client_of_another_version_ends_the_daemon(rules: Path) -> None:
    def ask(where: str) -> object:
        return exchange(where, line_of({"kind": "status", "identity": "another"}))["kind"]

    assert served(rules, ask) == "another"
    assert sockets() == []


def test_what_a_killed_daemon_left_is_in_nobodys_way(rules: Path) -> None:
    where = DaemonFiles(str(rules)).socket
    with socket.socket(socket.AF_UNIX) as left:
        left.bind(where)
    assert daemons() == []
    assert served(rules, lambda _: decision(ask_daemon(message(rules, "/x")))) == "deny"


def test_a_daemon_that_is_started_says_when_it_listens(rules: Path) -> None:
    endpoint = DaemonFiles(str(rules))
    start(endpoint, str(rules), lambda: False)
    (status,) = daemons()
    assert status["pid"] != os.getpid()
    start(endpoint, str(rules), lambda: True)
    assert daemons()[0]["pid"] == status["pid"]
    stop_daemon(endpoint.socket)


def test_a_daemon_that_cannot_start_is_no_daemon(
    rules: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("policy.daemon.launch.sys.executable", "/bin/false")
    with pytest.raises(OSError, match="did not start"):
        ask_daemon(message(rules, "/x"))


def test_a_socket_that_answers_nothing_is_no_daemon(rules: Path) -> None:
    where = DaemonFiles(str(rules)).socket
    with socket.socket(socket.AF_UNIX) as listening, ThreadPoolExecutor(1) as pool:
        listening.bind(where)
        listening.listen()
        asked = pool.submit(ask_daemon, message(rules, "/x"))
        taken, _ = listening.accept()
        taken.close()
        with pytest.raises((NoDaemon, OSError)):
            asked.result()
