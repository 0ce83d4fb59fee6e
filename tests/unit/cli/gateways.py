"""`placet gateway` over HTTP in this process, with real servers behind it and real clients."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeAlias

from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from policy.cli.approvers import Asked
from policy.cli.gateway import servers_behind, start_gateway
from policy.cli.serving.options import ServingOptions
from policy.cli.serving.running import serve_clients
from policy.proxy import Address
from tests.mcp_servers.scripted import NAMES, tool
from tests.plain_http import plain_client

PATIENCE = 60.0
TOKEN = "correct-horse-battery"
SERVER = Path(__file__).resolve().parents[2] / "mcp_servers" / "scripted.py"
Era: TypeAlias = Literal["auto", "legacy"]
HEADER = "policy for every agent\n\ndefault deny\n\n"
# A list that was reviewed, so that the calls of its tools do not ask.
LISTED = '[catalogue.servers]\none = "one.json"\n'
TOOLS = NAMES


@dataclass(frozen=True, slots=True, kw_only=True)
class Gateway:
    """A gateway that runs, and what is around it."""

    folder: Path
    url: str
    said: list[str] = field(default_factory=list)

    def records(self) -> list[dict[str, Any]]:
        """Return the calls that have ended."""
        lines = (self.folder / "audit.jsonl").read_text("utf-8").splitlines()
        return [record for record in map(json.loads, lines) if record["event"] == "end"]

    def calls(self) -> list[str]:
        """Return the calls that the scripted server has got."""
        return (self.folder / "calls").read_text("utf-8").splitlines()

    @asynccontextmanager
    async def client(
        self, era: Era = "auto", *, token: str = TOKEN, **options: Any
    ) -> AsyncIterator[Client]:
        """Connect a client."""
        async with (
            plain_client(headers={"Authorization": f"Bearer {token}"}, timeout=PATIENCE) as http,
            Client(streamable_http_client(self.url, http_client=http), mode=era, **options) as one,
        ):
            yield one


def scripted_command(folder: Path, mode: str = "") -> list[str]:
    """Return the command of the scripted server."""
    return [sys.executable, "-I", "-S", str(SERVER), mode, str(folder)]


def scripted_server(folder: Path, mode: str = "", name: str = "one", **keys: Any) -> str:
    """Return the table that configures the scripted server."""
    program, *arguments = scripted_command(folder, mode)
    lines = [f"[mcp.servers.{name}]", f"command = {json.dumps(program)}"]
    lines += [f"args = {json.dumps(arguments)}"]
    lines += [f"{key} = {json.dumps(value)}" for key, value in keys.items()]
    return "\n".join(lines) + "\n"


@asynccontextmanager
async def gateway(
    folder: Path,
    rules: str,
    settings: str,
    *,
    files: Mapping[str, str] | None = None,
    token: str | None = TOKEN,
    approve: Asked | None = None,
) -> AsyncIterator[Gateway]:
    """Run a gateway over HTTP on a port of its own, with a policy that it writes."""
    policy, work = folder / "rules", folder / "work"
    policy.mkdir()
    work.mkdir()
    (policy / "global.policy").write_text(HEADER + rules, "utf-8")
    (policy / "placet.toml").write_text(settings, "utf-8")
    listed = json.dumps([tool(name) for name in TOOLS])
    for name, text in {"one.json": listed, **(files or {})}.items():
        (policy / name).write_text(text, "utf-8")
    async with running(folder, token=token, approve=approve) as started:
        yield started


@asynccontextmanager
async def running(
    folder: Path, *, token: str | None = TOKEN, approve: Asked | None = None
) -> AsyncIterator[Gateway]:
    """Run a gateway with the policy that is there."""
    options = ServingOptions(
        path=folder / "rules",
        workspace=folder / "work",
        address=Address(host="127.0.0.1", port=0),
        token=token,
        approve=approve,
        answers=None,
        audit=folder / "audit.jsonl",
        policy_in_workspace=False,
        agent=None,
        files=(),
    )
    store, governed = start_gateway(options)
    url: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    serving = asyncio.create_task(
        serve_clients(options, store, governed, behind=servers_behind, listening=url.set_result)
    )
    try:
        async with asyncio.timeout(PATIENCE):
            await asyncio.wait((url, serving), return_when=asyncio.FIRST_COMPLETED)
            if serving.done():
                serving.result()
            yield Gateway(folder=folder, url=await url)
    finally:
        serving.cancel()
        with suppress(asyncio.CancelledError):
            await serving
