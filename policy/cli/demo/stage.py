"""The setting of the demo: a copy of the shipped rules, a workspace and a web server."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from pathlib import Path

from policy.sandbox import driver_named

_PAGE = b"The handbook: ask before you delete.\n"
_ANSWERS = "yes\nno: it is still needed\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """Files and server of the tour, removed afterwards. `page` is the web server's URL.

    `unconfined`: no sandbox works on this machine, so its commands run without one.
    """

    folder: Path
    page: str
    unconfined: bool

    @property
    def rules(self) -> Path:
        """The copy of the rules."""
        return self.folder / "rules"

    @property
    def rule_file(self) -> Path:
        """The file that the tour edits."""
        return self.rules / "global.policy"

    @property
    def workspace(self) -> Path:
        """The folder that the tools work in."""
        return self.folder / "work"

    @property
    def log(self) -> Path:
        """The file of the server's standard error."""
        return self.folder / "serve.log"

    def command(self) -> list[str]:
        """Return the command line that serves the copy."""
        where = ["--workspace", str(self.workspace), "--audit", str(self.folder / "audit.jsonl")]
        answers = ["--approve-script", str(self.folder / "answers")]
        return [sys.executable, "-m", "policy", "serve", str(self.rules), *where, *answers]

    def save(self, text: str) -> None:
        """Replace the rule file in one step, as editors do."""
        fresh = self.folder / "fresh"
        fresh.write_text(text, "utf-8")
        os.replace(fresh, self.rule_file)


@contextmanager
def staged() -> Iterator[Stage]:
    """Prepare everything in a temporary folder, and remove it at the end."""
    with tempfile.TemporaryDirectory(prefix="placet-demo-") as temporary, _web_server() as port:
        folder = Path(temporary).resolve()
        unconfined = driver_named("best").problem() is not None
        page = f"http://127.0.0.1:{port}/handbook"
        stage = Stage(folder=folder, page=page, unconfined=unconfined)
        shutil.copytree(shipped_rules(), stage.rules)
        if unconfined:
            with (stage.rules / "placet.toml").open("a", encoding="utf-8") as settings:
                settings.write("\n[sandbox]\nrequired = false\n")
        hosts = f'internal = ["docs.corp.example", "127.0.0.1:{port}"]\n'
        (stage.rules / "data" / "hosts.toml").write_text(hosts, "utf-8")
        (folder / "answers").write_text(_ANSWERS, "utf-8")
        stage.workspace.mkdir()
        (stage.workspace / "old.txt").write_text("no longer needed\n", "utf-8")
        _make_repository(stage.workspace)
        yield stage


def shipped_rules() -> Path:
    """Return the folder of the rules that come with Placet."""
    package = Path(str(files("policy")))
    beside = package / "rules"
    # A checkout has the rules where the repository keeps them.
    return beside if (beside / "global.policy").is_file() else package.parent / "rules"


def _make_repository(folder: Path) -> None:
    git = shutil.which("git")
    if git is not None:
        subprocess.run([git, "init", "--quiet", str(folder)], check=False, capture_output=True)  # noqa: S603 - our own folder


class _Page(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        """Answer every request with the one page."""
        self.send_response(200)
        self.send_header("Content-Type", "text/plain; charset=utf-8")
        self.send_header("Content-Length", str(len(_PAGE)))
        self.end_headers()
        self.wfile.write(_PAGE)

    def log_message(self, format: str, *args: object) -> None:
        """Log nothing."""


@contextmanager
def _web_server() -> Iterator[int]:
    """Serve one page on a port of the loopback address, and yield the port."""
    with ThreadingHTTPServer(("127.0.0.1", 0), _Page) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield server.server_address[1]
        finally:
            server.shutdown()
