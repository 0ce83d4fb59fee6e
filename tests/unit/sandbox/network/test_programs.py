"""Real programs in a real sandbox, whose only network is the proxy."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator
from dataclasses import dataclass
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from policy.generation import Reach
from policy.processes import KeptOutput, ProgramToStart
from policy.sandbox import (
    Bubblewrap,
    ConfinedLauncher,
    SandboxMissing,
    refused_connections,
)
from tests.unit.sandbox.confining import (
    as_nobody,
    needs_bubblewrap,
    plan_in,
)
from tests.unit.sandbox.network.stand_ins import (
    Elsewhere,
    answering,
    certificate_of,
    elsewhere,
)
from tests.waiting import wait_until, working_in

pytestmark = needs_bubblewrap


@dataclass(frozen=True, kw_only=True)
class Done:
    code: int
    out: str
    err: str
    refused: tuple[str, ...]


@pytest.fixture
async def hosts(tmp_path: Path) -> AsyncIterator[Elsewhere]:
    """Serve `a.test` by HTTP and HTTPS; its certificate is `trusted.pem` in the workspace."""
    _, context = certificate_of("a.test", "b.test", folder=tmp_path)
    async with elsewhere() as hosts:
        await hosts.serve("a.test", 80, answering)
        await hosts.serve("a.test", 443, answering, tls=context)
        yield hosts


async def confined(hosts: Elsewhere, folder: Path, script: str) -> Done:
    """Run a script of bash, and return what came of it."""
    launcher = ConfinedLauncher(
        Bubblewrap(),
        lambda program: plan_in(folder, Reach(network="hosts")),
        connect_for=lambda program: hosts.connect,
    )
    program = ProgramToStart(
        arguments=("bash", "-c", script),
        # A program's own settings do not count.
        env={"PATH": os.environ["PATH"], "HOME": "/home/somebody", "HTTP_PROXY": "http://x:1"},
        folder=str(folder),
    )
    nothing = os.open(os.devnull, os.O_RDONLY)
    async with KeptOutput(100_000) as out, KeptOutput(100_000) as err:
        try:
            started = await launcher.launch(
                program, stdin=nothing, stdout=out.write_end, stderr=err.write_end
            )
        finally:
            os.close(nothing)
        out.let_go()
        err.let_go()
        try:
            async with asyncio.timeout(60):
                _, _, code = await asyncio.gather(out.drain(), err.drain(), started.wait())
        finally:
            await started.end()
    refused = tuple(each.target for each in refused_connections(started))
    return Done(code=code, out=out.text(), err=err.text(), refused=refused)


async def test_curl_reaches_what_is_permitted_and_nothing_else(
    hosts: Elsewhere, tmp_path: Path
) -> None:
    done = await confined(
        hosts,
        tmp_path,
        """
        curl -sS http://a.test/plain
        curl -sS --cacert trusted.pem https://a.test/tls
        curl -sS --cacert trusted.pem --socks5-hostname 127.0.0.1:3128 https://a.test/socks
        curl -sS http://b.test/
        curl -sS https://b.test/
        curl -sS --socks5-hostname 127.0.0.1:3128 http://b.test/
        curl -sS --cacert trusted.pem --connect-to b.test:443:a.test:443 https://b.test/
        curl -sS -H 'Host: b.test' http://a.test/
        """,
    )
    for path in ("plain", "tls", "socks"):
        assert f"GET /{path} HTTP/1.1" in done.out
    assert "the sandbox does not connect to b.test:80: no rule allows this\n" in done.out
    assert "CONNECT tunnel failed, response 403" in done.err
    assert "unrecognized name" in done.err
    assert set(done.refused) == {"b.test:80", "b.test:443", "a.test:443", "a.test:80"}


async def test_there_is_no_way_around_the_proxy(hosts: Elsewhere, tmp_path: Path) -> None:
    """Directly, by name, by UDP, to this machine, to the address of metadata."""
    here = hosts.ports["a.test", 80]
    done = await confined(
        hosts,
        tmp_path,
        f"""
        unset http_proxy HTTP_PROXY all_proxy ALL_PROXY no_proxy NO_PROXY
        curl -sS -m 3 http://a.test/ && echo reached
        curl -sS -m 3 http://127.0.0.1:{here}/ && echo reached
        curl -sS -m 3 http://169.254.169.254/ && echo reached
        getent hosts a.test && echo reached
        echo x > /dev/udp/1.1.1.1/53 && echo reached
        curl -sS -m 3 -x http://127.0.0.1:3128 http://169.254.169.254/ ; echo
        curl -sS -m 3 -x http://127.0.0.1:3128 http://localhost:{here}/
        """,
    )
    assert "reached" not in done.out
    assert done.out.count("the sandbox does not connect") == 2
    assert done.refused == ("169.254.169.254:80", f"localhost:{here}")


PYTHON = """
import json, ssl, urllib.error, urllib.request
context = ssl.create_default_context(cafile="trusted.pem")
for url in ("http://a.test/1", "https://a.test/2", "http://b.test/", "https://b.test/"):
    try:
        with urllib.request.urlopen(url, context=context) as answer:
            print(answer.read().decode())
    except urllib.error.URLError as error:
        print(error.reason)
"""


async def test_python_does_the_same_and_shows_why_not(hosts: Elsewhere, tmp_path: Path) -> None:
    (tmp_path / "fetch.py").write_text(PYTHON)
    done = await confined(hosts, tmp_path, "/usr/bin/python3 fetch.py")
    assert done.out.splitlines() == [
        "GET /1 HTTP/1.1 ",
        "GET /2 HTTP/1.1 ",
        "the sandbox does not connect to b.test:80: no rule allows this",
        "Tunnel connection failed: 403 the sandbox does not connect to b.test:443: "
        "no rule allows this",
    ]


NODE = """
const http = require('http')
const proxy = new URL(process.env.HTTP_PROXY)
for (const url of ['http://a.test/1', 'http://b.test/'])
  http.get({ host: proxy.hostname, port: proxy.port, path: url,
             headers: { Host: new URL(url).host } }, answer => answer.pipe(process.stdout))
http.get('http://a.test/').on('error', error => console.log(error.code))
console.log(process.env.NODE_USE_ENV_PROXY)
"""


@pytest.mark.skipif(shutil.which("node") is None, reason="Node.js is not installed here")
async def test_node_through_its_own_client(hosts: Elsewhere, tmp_path: Path) -> None:
    """By itself it uses the variables from 22.21 on; before that, it finds no host."""
    (tmp_path / "fetch.js").write_text(NODE)
    done = await confined(hosts, tmp_path, "node fetch.js")
    assert "GET /1 HTTP/1.1" in done.out
    assert "does not connect to b.test:80" in done.out
    assert done.out.startswith("1\n")


def repository_in(folder: Path) -> None:
    """Make a repository with one file, as a plain web server may serve it."""
    folder.mkdir()
    (folder / "file").write_text("content")
    git = ["git", "-C", str(folder), "-c", "user.name=x", "-c", "user.email=x@x.test"]
    for arguments in ("init -q", "add .", "commit -qm x", "update-server-info"):
        subprocess.run([*git, *arguments.split()], check=True)


async def test_git_clones_from_a_permitted_host_only(hosts: Elsewhere, tmp_path: Path) -> None:
    source, work = tmp_path / "source", tmp_path / "work"
    repository_in(source)
    work.mkdir()
    server = ThreadingHTTPServer(
        ("127.0.0.1", 0), partial(QuietHandler, directory=str(source / ".git"))
    )
    serving = Thread(target=server.serve_forever)
    serving.start()
    hosts.ports["git.test", 80] = server.server_port
    try:
        done = await confined(
            hosts,
            work,
            "git clone -q http://git.test/ copy; git clone -q http://b.test/ other",
        )
    finally:
        server.shutdown()
        serving.join()
        server.server_close()
    assert (work / "copy" / "file").read_text() == "content"
    assert "The requested URL returned error: 403" in done.err
    assert done.refused == ("b.test:80",)


class QuietHandler(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        pass


async def test_what_listens_inside_is_reached_directly(hosts: Elsewhere, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("own")
    done = await confined(
        hosts,
        tmp_path,
        """
        /usr/bin/python3 -m http.server --bind 127.0.0.1 8000 2> /dev/null &
        curl -sS --retry 30 --retry-connrefused --retry-delay 0 http://localhost:8000/file
        """,
    )
    assert done.out == "own"
    assert done.refused == ()


HOSTILE = """
import socket, threading
def one(number):
    try:
        with socket.create_connection(("127.0.0.1", 3128), timeout=0.5) as sock:
            sock.sendall((b"\\0\\xff" * 500, b"\\x05" * 100, b"GET " + b"x" * 9000)[number % 3])
            if number % 2:
                sock.shutdown(socket.SHUT_WR)
            sock.recv(10)
    except OSError:
        pass
threads = [threading.Thread(target=one, args=(number,)) for number in range(200)]
for each in threads: each.start()
for each in threads: each.join()
kept = [socket.create_connection(("127.0.0.1", 3128)) for _ in range(50)]
print("done")
"""


async def test_a_hostile_program_does_not_harm_the_service(
    hosts: Elsewhere, tmp_path: Path
) -> None:
    (tmp_path / "hostile.py").write_text(HOSTILE)
    before = len(os.listdir("/proc/self/fd"))
    done = await confined(hosts, tmp_path, "/usr/bin/python3 hostile.py")
    assert done.out == "done\n"
    assert hosts.asked == []
    assert len(os.listdir("/proc/self/fd")) == before


async def test_a_program_gets_none_of_the_descriptors(hosts: Elsewhere, tmp_path: Path) -> None:
    done = await confined(hosts, tmp_path, "ls /proc/self/fd")
    # The last one is that of the folder.
    assert done.out.split() == ["0", "1", "2", "3"]


async def test_without_anything_that_judges_connections_nothing_is_started(tmp_path: Path) -> None:
    launcher = ConfinedLauncher(
        Bubblewrap(), lambda program: plan_in(tmp_path, Reach(network="hosts"))
    )
    program = ProgramToStart(arguments=("/bin/true",), env={})
    with pytest.raises(SandboxMissing, match="judges the connections"):
        await launcher.launch(program, stdin=0, stdout=1, stderr=2)


async def test_without_a_listener_nothing_is_started(
    hosts: Elsewhere, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    failing = tmp_path / "failing.py"
    failing.write_text("raise SystemExit(1)")
    monkeypatch.setattr(
        "policy.sandbox.network.inside_listener.listen_inside.__file__", str(failing)
    )
    with pytest.raises(SandboxMissing, match="nothing can listen"):
        await confined(hosts, tmp_path, "touch started")
    assert not (tmp_path / "started").exists()


SERVICE = """
import asyncio, os, sys
from pathlib import Path
from tests.unit.sandbox.network.test_programs import confined, elsewhere

async def main():
    async with elsewhere() as hosts:
        await confined(hosts, Path(sys.argv[1]), "echo $$ > started; sleep 300 & sleep 300")

asyncio.run(main())
"""


@pytest.mark.long
def test_nothing_is_left_of_a_service_that_was_killed(tmp_path: Path) -> None:
    service = subprocess.Popen([sys.executable, "-c", SERVICE, str(tmp_path)])
    try:
        wait_until((tmp_path / "started").exists)
    finally:
        service.send_signal(signal.SIGKILL)
        service.wait()
    wait_until(lambda: not working_in(tmp_path))


def test_another_user_than_root_finds_the_same_network() -> None:
    async def fetched(folder: str) -> str:
        async with elsewhere() as hosts:
            await hosts.serve("a.test", 80, answering)
            script = "curl -sS http://a.test/x; echo; curl -sS http://b.test/"
            return (await confined(hosts, Path(folder), script)).out

    def tried() -> str:
        with tempfile.TemporaryDirectory() as folder:
            return asyncio.run(fetched(folder))

    expected = tried()  # imports what the child could not read
    assert expected.startswith("GET /x HTTP/1.1")
    assert as_nobody(tried) == expected


def test_stand_ins_do_not_leave_this_machine() -> None:
    """The tests above are worth nothing if the names of the stand-ins resolve."""
    with pytest.raises(OSError, match=r".*"):
        socket.getaddrinfo("a.test", 80)
