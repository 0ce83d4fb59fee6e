"""The scripted server over streamable HTTP and over a WebSocket, in this process."""

from __future__ import annotations

import json
import threading
import uuid
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

from websockets.asyncio.server import ServerConnection, serve
from websockets.typing import Subprotocol

from tests.mcp_servers.scripted import Scripted

TOKENS_PATH = "/tokens"


class Sessions(BaseHTTPRequestHandler):
    """Answers requests, each in the session that it names."""

    mode = ""
    folder = Path()
    sessions: dict[str, Scripted]
    requests: list[dict[str, str]]
    token: str | None = None
    origin = ""

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""

    def do_GET(self) -> None:
        if self.path.startswith("/.well-known/oauth-protected-resource"):
            said = {"resource": f"{self.origin}/mcp", "authorization_servers": [self.origin]}
            self._send(200, "application/json", json.dumps(said).encode())
        elif self.path.startswith("/.well-known/oauth-authorization-server"):
            said = {
                "issuer": self.origin,
                "authorization_endpoint": f"{self.origin}/authorize",
                "token_endpoint": f"{self.origin}{TOKENS_PATH}",
                "response_types_supported": ["code"],
                "grant_types_supported": ["client_credentials"],
                "token_endpoint_auth_methods_supported": ["client_secret_basic"],
            }
            self._send(200, "application/json", json.dumps(said).encode())
        else:
            self._send(405, "text/plain", b"")

    def do_DELETE(self) -> None:
        self.sessions.pop(self.headers.get("mcp-session-id", ""), None)
        self._send(204, "text/plain", b"")

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        if self.path == TOKENS_PATH:
            self._grant(parse_qs(body.decode()))
            return
        self.requests.append({name.lower(): value for name, value in self.headers.items()})
        message = json.loads(body)
        if self.token is not None and self.headers.get("authorization") != f"Bearer {self.token}":
            self._send(401, "text/plain", b"")
            return
        session = self._session(message)
        if session is None:
            self._send(404, "application/json", b'{"error": "no such session"}')
            return
        if message.get("params", {}).get("name") == "drops":
            (self.folder / "calls").write_text("drops\n")
            self.close_connection = True
            return
        found = [one for one in session.answers(message) if "id" in one]
        if found:
            self._send(200, "application/json", json.dumps(found[-1]).encode())
        else:
            self._send(202, "text/plain", b"")

    def _session(self, message: dict[str, Any]) -> Scripted | None:
        self.opened = ""
        named = self.headers.get("mcp-session-id")
        if named is None:
            session = Scripted(self.mode, self.folder)
            if message.get("method") == "initialize":
                self.opened = uuid.uuid4().hex
                self.sessions[self.opened] = session
            return session
        return self.sessions.get(named)

    def _grant(self, asked: dict[str, list[str]]) -> None:
        basic = self.headers.get("authorization", "")
        if asked.get("grant_type") != ["client_credentials"] or not basic.startswith("Basic "):
            self._send(400, "application/json", b'{"error": "invalid_request"}')
            return
        granted = {"access_token": self.token, "token_type": "Bearer", "expires_in": 3600}
        self._send(200, "application/json", json.dumps(granted).encode())

    def _send(self, status: int, kind: str, content: bytes) -> None:
        with suppress(OSError):
            self.send_response(status)
            self.send_header("content-type", kind)
            self.send_header("content-length", str(len(content)))
            if getattr(self, "opened", ""):
                self.send_header("mcp-session-id", self.opened)
            self.end_headers()
            self.wfile.write(content)


@contextmanager
def http_server(
    folder: Path, mode: str = "", *, token: str | None = None, port: int = 0
) -> Iterator[tuple[str, type[Sessions]]]:
    """Serve, and give the address, and the class that holds what has been asked."""
    fields = {"mode": mode, "folder": folder, "token": token, "sessions": {}, "requests": []}
    handler: type[Sessions] = type("InMode", (Sessions,), fields)
    server = ThreadingHTTPServer(("127.0.0.1", port), handler)
    server.daemon_threads = True
    handler.origin = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"{handler.origin}/mcp", handler
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@asynccontextmanager
async def websocket_server(
    folder: Path, mode: str = "", serving: type[Scripted] = Scripted
) -> AsyncIterator[tuple[str, list[dict[str, str]]]]:
    """Serve, and give the address and the headers of those who have connected."""
    seen: list[dict[str, str]] = []

    async def talk(socket: ServerConnection) -> None:
        assert socket.request is not None
        seen.append({name.lower(): value for name, value in socket.request.headers.raw_items()})
        session = serving(mode, folder)
        async for text in socket:
            message = json.loads(text)
            if message.get("params", {}).get("name") == "leaves":
                (folder / "calls").write_text("leaves\n")
                await socket.close(1012)
                return
            for answer in session.answers(message):
                await socket.send(json.dumps(answer))

    async with serve(talk, "127.0.0.1", 0, subprotocols=[Subprotocol("mcp")]) as server:
        (socket,) = server.sockets
        yield f"ws://127.0.0.1:{socket.getsockname()[1]}/mcp", seen
