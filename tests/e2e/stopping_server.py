"""A server that halts at one step of a call, so that it can be killed there.

    python -m tests.e2e.stopping_server FOLDER TRANSPORT STEP

Built as a host builds one, from what Placet exports; only its sink knows where to stop. It makes
the file `FOLDER/stopped` when it has, and `FOLDER/url` where it listens.
"""

from __future__ import annotations

import asyncio
import signal
import sys
from pathlib import Path

import policy
from policy.audit import AuditRecord, JsonlSink
from policy.proxy import Address, ListChanges, serve_http, serve_stdio, tool_server
from policy.service import build_tool_service

UNCONFINED = '[sandbox]\ndriver = "off"\nrequired = false\n'
RULES = "policy for every agent\n\ndefault deny\n\nany: allow bash_exec\n"


class StoppingSink:
    """An audit file that is written to up to one step of a call, and then nothing happens."""

    def __init__(self, folder: Path, step: str) -> None:
        self._inner = JsonlSink(folder / "audit.jsonl")
        self._step = step
        self._stopped = folder / "stopped"

    def write_start(self, record: AuditRecord, *, durable: bool) -> None:
        self._reached("before the record")
        self._inner.write_start(record, durable=durable)
        self._reached("before the handler")

    def write(self, record: AuditRecord) -> None:
        self._reached("before the end record")
        self._inner.write(record)
        self._reached("before the answer")

    def close_interrupted(self) -> int:
        return self._inner.close_interrupted()

    def _reached(self, step: str) -> None:
        if step == self._step:
            self._stopped.touch()
            while True:
                signal.pause()


async def main(folder: Path, transport: str, step: str) -> None:
    rules = folder / "rules"
    rules.mkdir(exist_ok=True)
    (rules / "global.policy").write_text(RULES)
    (rules / "placet.toml").write_text(UNCONFINED)
    (folder / "work").mkdir(exist_ok=True)
    store = policy.PolicyStore(rules)
    service = build_tool_service(
        store,
        workspace=folder / "work",
        caller=policy.Caller(agent="tester"),
        audit=StoppingSink(folder, step),
    )
    server = tool_server(lambda client: service, ListChanges())
    if transport == "stdio":
        await serve_stdio(server)
        return

    def listening(url: str) -> None:
        (folder / "fresh").write_text(url)
        (folder / "fresh").rename(folder / "url")

    address = Address(host="127.0.0.1", port=0)
    await serve_http(server, address, identities=None, listening=listening)


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), *sys.argv[2:]))
