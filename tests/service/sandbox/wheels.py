"""Wheels for tests, good and hostile, and a folder that a web server could show as an index."""

from __future__ import annotations

import asyncio
import os
import shutil
import ssl
import subprocess
import sys
import zipfile
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import cache
from pathlib import Path

import pytest


@cache
def interpreter() -> str | None:
    """Return an interpreter of this machine that has pip."""
    for path in ("/usr/bin/python3", sys.executable):
        if shutil.which(path) is None:
            continue
        if subprocess.run([path, "-I", "-c", "import pip"], check=False).returncode == 0:
            return path
    return None


needs_pip = pytest.mark.skipif("interpreter() is None", reason="no interpreter here has pip")


def wheel(
    folder: Path,
    name: str,
    version: str = "1.0",
    *,
    files: Mapping[str, str | bytes] | None = None,
    requires: Sequence[str] = (),
    extra: Mapping[str, str | bytes] | None = None,
) -> Path:
    """Write a wheel with a module of its own name, and whatever else is named.

    `extra` are files of its `.dist-info`.
    """
    folder.mkdir(exist_ok=True)
    info = f"{name}-{version}.dist-info"
    metadata = [f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}"]
    metadata += [f"Requires-Dist: {each}" for each in requires]
    content: dict[str, str | bytes] = {
        f"{name}.py": f"version = {version!r}\n",
        f"{info}/METADATA": "\n".join(metadata) + "\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        **(files or {}),
        **{f"{info}/{key}": value for key, value in (extra or {}).items()},
    }
    content.setdefault(f"{info}/RECORD", "".join(f"{path},,\n" for path in (*content, "RECORD")))
    path = folder / f"{name}-{version}-py3-none-any.whl"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for member, text in content.items():
            archive.writestr(member, text)
    return path


@asynccontextmanager
async def index_of(folder: Path, *, files_at: str, context: ssl.SSLContext) -> AsyncIterator[int]:
    """Serve wheels as an index, whose files are at the host `files_at`; yield the port."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        name, body = head.split(b" ")[1].decode().strip("/").rpartition("/")[2], b""
        if head.startswith(b"GET /simple/"):
            found = sorted(one for one in os.listdir(folder) if one.startswith(f"{name}-"))
            links = (f'<a href="https://{files_at}/files/{one}">{one}</a>\n' for one in found)
            body = "".join(links).encode()
        elif (folder / name).is_file():
            body = (folder / name).read_bytes()
        kind = "text/html" if head.startswith(b"GET /simple/") else "application/octet-stream"
        status = "200 OK" if body else "404 Not Found"
        writer.write(
            f"HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n"
            "Connection: close\r\n\r\n".encode()
            + body
        )
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0, ssl=context)
    async with server:
        yield server.sockets[0].getsockname()[1]
