"""Asking a server what it declares: it is bounded, and its processes end with its answer."""

from __future__ import annotations

import gzip
import json
import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from policy.generation import HttpServer, McpServer, SecretReference, ServerTransport, StdioServer
from policy.mcp import McpFailure, ask_server, list_server_tools
from tests.waiting import runs


class Answers(BaseHTTPRequestHandler):
    """A server of the handshake revisions; its mode says how it lists its tools."""

    mode = "lists"

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""

    def do_GET(self) -> None:
        self._send(405, "text/plain", b"")

    def do_DELETE(self) -> None:
        self._send(405, "text/plain", b"")

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        if "id" not in asked:
            self._send(202, "text/plain", b"")
            return
        id = asked["id"]
        if asked["method"] == "initialize":
            info = {"name": "server", "version": "1"}
            said = {"protocolVersion": "2025-06-18", "capabilities": {}, "serverInfo": info}
            self._answer(id, result=said)
        elif asked["method"] != "tools/list":
            self._answer(id, error={"code": -32601, "message": "no such method"})
        else:
            self._list(id)

    def _list(self, id: Any) -> None:
        tool = {
            "name": "echo",
            "description": self.headers.get("authorization", ""),
            "inputSchema": {"type": "object"},
        }
        match self.mode:
            case "endless" | "endless stream":
                kind = "application/json" if self.mode == "endless" else "text/event-stream"
                self._begin(200, kind)
                with suppress(OSError):
                    while True:
                        self.wfile.write(b" " * 65_536)
            case "compressed":
                self._answer(id, packed=True, result={"tools": [tool]})
            case "elsewhere":
                self.send_response(302)
                self.send_header("location", "http://192.0.2.1/")
                self.end_headers()
            case "a page":
                self._send(200, "text/html", b"<html>")
            case "forbidden":
                self._send(403, "text/plain", b"no")
            case _:
                self._answer(id, result={"tools": [tool]})

    def _answer(self, id: Any, *, packed: bool = False, **said: Any) -> None:
        text = json.dumps({"jsonrpc": "2.0", "id": id, **said}).encode()
        more = {"content-encoding": "gzip"} if packed else {}
        self._send(200, "application/json", gzip.compress(text) if packed else text, **more)

    def _send(self, status: int, kind: str, content: bytes, **headers: str) -> None:
        self._begin(status, kind, **{"content-length": str(len(content)), **headers})
        self.wfile.write(content)

    def _begin(self, status: int, kind: str, **headers: str) -> None:
        self.send_response(status)
        for name, value in {"content-type": kind, **headers}.items():
            self.send_header(name, value)
        self.end_headers()


@contextmanager
def serving(mode: str) -> Iterator[str]:
    """Give the address of a server in this mode."""
    kind = type("InMode", (Answers,), {"mode": mode})
    server = ThreadingHTTPServer(("127.0.0.1", 0), kind)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/mcp"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def server(transport: ServerTransport) -> McpServer:
    return McpServer(name="hub", transport=transport)


def test_a_server_gets_its_token_and_gives_its_tools(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLACET_TEST_TOKEN", "a-secret")
    with serving("lists") as url:
        place = HttpServer(url=url, token=SecretReference(env="PLACET_TEST_TOKEN"))
        found, faults = list_server_tools(server(place), seconds=60)
    assert found == [
        {"name": "echo", "description": "Bearer a-secret", "inputSchema": {"type": "object"}}
    ]
    assert (faults.left_out, faults.others) == ({}, ())


@pytest.mark.parametrize(
    ("mode", "said"),
    [
        ("endless", "the answer has more than 16,777,216 bytes"),
        (
            "endless stream",
            "the server answered with an error: SSE stream failed: Server-sent event exce",
        ),
        ("compressed", "the answer is compressed, though that was not accepted"),
        ("elsewhere", "the server answered with an error: Redirect to http://192.0.2.1/ not"),
        ("a page", "the server answered with an error: Unexpected content type: text/html"),
        ("forbidden", "the server answered with an error: "),
    ],
)
def test_what_is_no_list_of_tools_is_an_error_within_bounds(mode: str, said: str) -> None:
    with serving(mode) as url, pytest.raises(McpFailure) as caught:
        list_server_tools(server(HttpServer(url=url)), seconds=60)
    assert said in str(caught.value)


def test_an_address_without_a_server_is_an_error() -> None:
    with pytest.raises(McpFailure, match="the connection to the server failed: ConnectError"):
        list_server_tools(server(HttpServer(url="http://127.0.0.1:9/mcp")), seconds=60)


def program(*lines: str) -> McpServer:
    """A server that is a Python program of these lines."""
    command = (sys.executable, "-I", "-S", "-c", "\n".join(lines))
    return server(StdioServer(command=command))


def test_a_server_that_hangs_ends_with_the_question(tmp_path: Path) -> None:
    file = tmp_path / "pid"
    # A shell has started well before the time is over, also on a busy machine.
    script = f"trap '' TERM; echo $$ > {file}; echo Welcome!; exec sleep 3600"
    hangs = server(StdioServer(command=("/bin/sh", "-c", script)))
    with pytest.raises(McpFailure) as caught:
        ask_server(hangs, seconds=2)
    assert "the server has not listed its tools within 2 seconds" in str(caught.value)
    assert str(caught.value).endswith("; its output had a line without an MCP message")
    assert not runs(file.read_text().strip())


def test_a_server_that_ends_is_an_error_with_its_last_words() -> None:
    ends = program("import sys", "sys.exit('no \x1b[31mconfiguration')")
    with pytest.raises(McpFailure) as caught:
        ask_server(ends, seconds=60)
    assert str(caught.value) == (
        "the server has ended with exit status 1; it wrote: no \\u{1b}[31mconfiguration"
    )


def test_a_server_gets_a_few_variables_and_those_that_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SHELL", "/bin/x")
    monkeypatch.setenv("TERM", "xterm")
    file = tmp_path / "env"
    tells = program("import os", f"open({str(file)!r}, 'w').write(' '.join(os.environ))")
    with pytest.raises(McpFailure):
        ask_server(tells, seconds=60)
    named = set(file.read_text().split())
    assert named <= {"HOME", "LANG", "LC_CTYPE", "PATH", "TMPDIR", "PLACET_CALL"}
    assert {"HOME", "PATH"} & set(os.environ) <= named
