"""Starts a real `placet serve` process for a policy folder, and connects a real MCP client."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias, TypeVar

import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from tests.preloaded import placet
from tests.waiting import PATIENCE, until

ROOT = Path(__file__).resolve().parents[2]
Era: TypeAlias = Literal["auto", "legacy"]
# Most tests take one protocol; the same over the older one takes a server more.
BOTH_ERAS = ("auto", pytest.param("legacy", marks=pytest.mark.long))
T = TypeVar("T")

POLICY = """\
policy for every agent

default deny

commands look = "ls *", "wc *"
commands wait = "touch *", "sleep *"

read: allow file_read, file_list when reads only workspace
change: allow file_write, file_mkdir when writes only workspace
delete: allow file_delete when writes only workspace with approval because "gone is gone"
look: allow bash_exec when runs only look
wait: allow bash_exec when runs only wait
no-keys: deny * when reads "**/.ssh/**" because "keys stay on this machine"
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """The folders of one test."""

    folder: Path

    @property
    def rules(self) -> Path:
        return self.folder / "rules"

    @property
    def policy(self) -> Path:
        return self.rules / "global.policy"

    @property
    def workspace(self) -> Path:
        return self.folder / "work"

    @property
    def audit(self) -> Path:
        return self.folder / "audit.jsonl"

    @property
    def log(self) -> Path:
        return self.folder / "serve.log"

    def save(self, text: str) -> None:
        """Replace the policy in one step."""
        fresh = self.folder / "fresh"
        fresh.write_text(text, "utf-8")
        os.replace(fresh, self.policy)

    def records(self) -> list[dict[str, Any]]:
        """Return which calls ended so far."""
        return [record for record in self.lines() if record["event"] == "end"]

    def lines(self) -> list[dict[str, Any]]:
        """Return what was recorded so far, the starts of calls too."""
        return [json.loads(line) for line in self.audit.read_text("utf-8").splitlines()]

    def arguments(self, *options: str) -> list[str]:
        """Return what follows `placet` to serve this place."""
        where = ["--workspace", str(self.workspace), "--audit", str(self.audit)]
        return ["serve", str(self.rules), *where, *options]

    def command(self, *options: str) -> list[str]:
        """Return the command line that serves this place."""
        return placet(*self.arguments(*options))


UNCONFINED = '[sandbox]\ndriver = "off"\nrequired = false\n'


def place_in(folder: Path, policy: str = POLICY) -> Place:
    """Make the folders of a test."""
    place = Place(folder=folder)
    place.rules.mkdir()
    place.workspace.mkdir()
    place.policy.write_text(policy, "utf-8")
    # Sandboxes have tests of their own.
    (place.rules / "placet.toml").write_text(UNCONFINED, "utf-8")
    return place


# Tells by a file that it has begun, and ends only if it is ended.
ENDLESS = "touch begun; sleep 600"

ENV = {"PYTHONPATH": str(ROOT)}


@asynccontextmanager
async def served(
    place: Place,
    *options: str,
    era: Era = "auto",
    heard: Callable[[Any], None] = lambda message: None,
) -> AsyncIterator[Client]:
    """Give a client connected to a server of its own; `heard` is told every notification."""

    async def hear(message: Any) -> None:
        heard(message)

    program, *arguments = place.command(*options)
    server = StdioServerParameters(command=program, args=arguments, cwd=place.folder, env=ENV)
    with place.log.open("a", encoding="utf-8") as log:
        async with (
            asyncio.timeout(PATIENCE),
            Client(stdio_client(server, errlog=log), mode=era, message_handler=hear) as client,
        ):
            yield client


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What came of one call."""

    text: str
    error: bool
    kind: str | None
    structure: Mapping[str, Any] | None
    said: Mapping[str, Any]

    @property
    def verdict(self) -> str:
        return str(self.said["verdict"])

    @property
    def number(self) -> int:
        return int(self.said["generation"]["number"])

    @property
    def rules(self) -> list[str]:
        return [reason["rule"] for reason in self.said["reasons"]]


async def call(client: Client, tool: str, **input: Any) -> Reply:
    """Call a tool and return what came of it."""
    result = await client.call_tool(tool, input)
    structure = result.structured_content
    error = bool(result.is_error)
    return Reply(
        text="".join(part.text for part in result.content if part.type == "text"),
        error=error,
        kind=structure["error"]["kind"] if error and structure else None,
        structure=structure,
        said=(result.meta or {})["placet"],
    )


async def call_until(
    client: Client, holds: Callable[[Reply], bool], tool: str, **input: Any
) -> Reply:
    """Call again and again until the reply is as wanted; the test's patience is the limit."""

    async def wanted() -> Reply | None:
        reply = await call(client, tool, **input)
        return reply if holds(reply) else None

    found = await until(wanted)
    assert found is not None
    return found
