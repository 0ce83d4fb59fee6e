"""Asking a server over HTTP for its tools: what it answers is bounded, whoever it is."""

from __future__ import annotations

import gzip
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from policy.proxy import ServerAddress, ServerListingError, list_server_tools


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


def test_a_server_gets_its_token_and_gives_its_tools() -> None:
    with serving("lists") as url:
        found = list_server_tools(ServerAddress(url=url, token="a-secret"), seconds=60)
    assert found == [
        {"name": "echo", "description": "Bearer a-secret", "inputSchema": {"type": "object"}}
    ]


@pytest.mark.parametrize(
    ("mode", "said"),
    [
        ("endless", "the answer has more than 16,777,216 bytes"),
        ("endless stream", "the server answered with an error: SSE stream ended"),
        ("compressed", "the answer is compressed, though that was not accepted"),
        ("elsewhere", "the server answered with an error: Redirect to http://192.0.2.1/ not"),
        ("a page", "the server answered with an error: Unexpected content type: text/html"),
        ("forbidden", "the server answered with an error: "),
    ],
)
def test_what_is_no_list_of_tools_is_an_error_within_bounds(mode: str, said: str) -> None:
    with serving(mode) as url, pytest.raises(ServerListingError) as caught:
        list_server_tools(ServerAddress(url=url), seconds=60)
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("http://127.0.0.1:9/mcp", "the connection to the server failed: ConnectError"),
        ("nonsense", "the connection to the server failed: UnsupportedProtocol"),
    ],
)
def test_an_address_without_a_server_is_an_error(url: str, said: str) -> None:
    with pytest.raises(ServerListingError, match=said):
        list_server_tools(ServerAddress(url=url), seconds=60)
