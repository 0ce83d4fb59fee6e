"""Servers on this machine that stand for hosts elsewhere, and a proxy that leads to them."""

from __future__ import annotations

import asyncio
import datetime
import socket
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from policy.sandbox.network.bounds import ProxyBounds
from policy.sandbox.network.connecting import NotPermitted, NotReached, Peer
from policy.sandbox.network.proxy import HostProxy
from policy.sandbox.network.target import Target

Serve: TypeAlias = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


def certificate_of(*names: str, folder: Path) -> tuple[Path, ssl.SSLContext]:
    """Make a certificate for some names; return the file to trust, and a server's context."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, names[0])])
    now = datetime.datetime.now(datetime.UTC)
    day = datetime.timedelta(days=1)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - day)
        .not_valid_after(now + day)
        .add_extension(
            x509.SubjectAlternativeName([x509.DNSName(each) for each in names]), critical=False
        )
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    trusted, private = folder / "trusted.pem", folder / "private.pem"
    trusted.write_bytes(made.public_bytes(serialization.Encoding.PEM))
    private.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(trusted, private)
    return trusted, context


@dataclass(slots=True, kw_only=True)
class Elsewhere:
    """Hosts and their ports, and where on this machine each of them is served."""

    ports: dict[tuple[str, int], int] = field(default_factory=dict)
    asked: list[Target] = field(default_factory=list)
    _open: AsyncExitStack = field(default_factory=AsyncExitStack)

    async def serve(
        self, host: str, port: int, serve: Serve, *, tls: ssl.SSLContext | None = None
    ) -> None:
        """Serve a host."""

        async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            try:
                await serve(reader, writer)
            except (OSError, EOFError):
                pass  # the client is gone
            finally:
                writer.close()

        server = await asyncio.start_server(connected, "127.0.0.1", 0, ssl=tls)
        await self._open.enter_async_context(server)
        self.ports[host, port] = server.sockets[0].getsockname()[1]

    async def connect(self, target: Target) -> Peer:
        """Connect to a host, which is permitted if it is served."""
        self.asked.append(target)
        port = self.ports.get((target.host, target.port))
        if port is None:
            raise NotPermitted("no rule allows this", rule="only_a")
        try:
            return Peer.of(await asyncio.open_connection("127.0.0.1", port))
        except OSError as error:
            raise NotReached("the connection was refused") from error

    async def close(self) -> None:
        """End all servers."""
        await self._open.aclose()


@asynccontextmanager
async def elsewhere() -> AsyncIterator[Elsewhere]:
    """Return hosts, none so far."""
    hosts = Elsewhere()
    try:
        yield hosts
    finally:
        await hosts.close()


@asynccontextmanager
async def proxied(
    hosts: Elsewhere, bounds: ProxyBounds | None = None
) -> AsyncIterator[tuple[HostProxy, int]]:
    """Return a proxy on a port of this machine."""
    listener = socket.create_server(("127.0.0.1", 0))
    port = listener.getsockname()[1]
    async with HostProxy(listener, hosts.connect, bounds=bounds or ProxyBounds()) as proxy:
        yield proxy, port


async def answering(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Answer each HTTP request with its first line and its body, until the client is done."""
    while head := await _head(reader):
        size = next((int(v) for k, v in head[1:] if k == "content-length"), 0)
        body = b" ".join((head[0][0].encode(), await reader.readexactly(size)))
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n%b" % (len(body), body))
        await writer.drain()


async def _head(reader: asyncio.StreamReader) -> list[tuple[str, str]]:
    lines: list[tuple[str, str]] = []
    while (line := (await reader.readline()).decode().strip()) or (
        not lines and not reader.at_eof()
    ):
        name, _, value = line.partition(": ")
        lines.append((name.lower() if lines else line, value))
    return lines
