"""Services with plugins behind them, and plugins that do what a test wants."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from policy.audit import MemorySink
from policy.generation import ConfiningDriver
from policy.plugins import ConfiguredPlugins, LauncherFor, configured_plugins, read_plugin
from policy.processes import Launcher, SupervisedLauncher
from policy.sandbox import Connect, SandboxPlan
from policy.service import GovernedService, build_tool_service
from policy.store import PolicyStore

SAMPLES = Path(__file__).parents[3] / "docs/samples"
POLICY = """policy for every agent

default deny

allow ext notes/*, ext mask/*, ext hostile/*
"""
needs_node = pytest.mark.skipif(
    shutil.which("node") is None or shutil.which("bwrap", path="/usr/bin:/bin") is None,
    reason="the plugin is a program for Node.js that runs in bubblewrap",
)


@dataclass
class Running:
    """A service with plugins behind it."""

    service: GovernedService
    plugins: ConfiguredPlugins
    store: PolicyStore
    rules: Path
    records: MemorySink

    async def call(self, tool: str, **input: Any) -> Any:
        return (await self.service.execute(tool, input)).value

    def problem(self, plugin: str = "hostile") -> str:
        return self.plugins.report()[plugin].problem

    async def edit(self, tables: str) -> None:
        """Write placet.toml and wait until the edit has been applied."""
        (self.rules / "placet.toml").write_text(tables)
        self.store.reload()
        await self.plugins.apply()


def unconfined(driver: ConfiningDriver) -> LauncherFor:
    async def launcher_for(plan: SandboxPlan, connect: Connect) -> Launcher:
        return SupervisedLauncher()

    return launcher_for


@asynccontextmanager
async def running(
    tmp_path: Path, tables: str, *, confined: bool = False, policy: str = POLICY, **more: Any
) -> AsyncIterator[Running]:
    """Run a service; `more` are arguments of `build_tool_service`."""
    rules, work, records = tmp_path / "rules", tmp_path / "work", MemorySink()
    rules.mkdir()
    work.mkdir(exist_ok=True)
    (rules / "global.policy").write_text(policy)
    (rules / "placet.toml").write_text(tables)
    store = PolicyStore(str(rules))
    service = build_tool_service(store, workspace=str(work), tools=[], audit=records, **more)
    how: dict[str, Any] = {} if confined else {"launchers": unconfined}
    async with configured_plugins(service, store, **how) as plugins:
        yield Running(service, plugins, store, rules, records)


def table(folder: Path, *, grant: str = '["tool:*"]', more: str = "") -> str:
    plugin = read_plugin(folder)
    name = plugin.manifest.id
    lines = [f"[plugins.{name}]", f'path = "{folder}"', f'digest = "{plugin.digest}"']
    return "\n".join([*lines, f"grant = {grant}", more, ""])


def program(
    tmp_path: Path, code: str, *, access: Mapping[str, Any] | None = None, **tools: Any
) -> Path:
    """Make a plugin that is a program in Python; `call(tool, input)` and more stand in `code`.

    With `access`, it is run by the system's interpreter, which is there in a sandbox.
    """
    folder = tmp_path / "hostile"
    folder.mkdir(exist_ok=True)
    schemas = {name: schema or OPEN for name, schema in (tools or {"t": {}}).items()}
    manifest = {
        "id": "hostile",
        "version": "1",
        "runtime": {
            "type": "process",
            "command": [sys.executable if access is None else "/usr/bin/python3", "main.py"],
        },
        "access": access or {},
        "capabilities": [
            {"type": "tool", "name": name, "input_schema": schema}
            for name, schema in schemas.items()
        ],
    }
    (folder / "plugin.json").write_text(json.dumps(manifest))
    (folder / "main.py").write_text(PROGRAM.replace("TOOLS", repr(schemas)) + code + "\nmain()\n")
    return folder


OPEN = {"type": "object", "additionalProperties": True}
PROGRAM = """
import json, os, sys, time

tools = TOOLS

def answer(id, **what):
    print(json.dumps({"jsonrpc": "2.0", "id": id, **what}), flush=True)

def initialize(params):
    return {"protocol": 1, "tools": tools}

def main():
    for line in sys.stdin:
        message = json.loads(line)
        if message["method"] == "initialize":
            answer(message["id"], result=initialize(message["params"]))
        elif message["method"] == "call":
            params = message["params"]
            try:
                found = {"result": call(params["tool"], params["input"])}
            except Exception as error:
                found = {"error": {"message": f"{type(error).__name__}: {error}"}}
            answer(message["id"], **found)
"""


def module(tmp_path: Path, wat: str, *tools: str, access: Mapping[str, Any] | None = None) -> Path:
    """Make a plugin that is a module, whose exported functions are tools."""
    folder = tmp_path / "hostile"
    folder.mkdir()
    manifest = {
        "id": "hostile",
        "version": "1",
        "runtime": {"type": "wasm", "module": "main.wat"},
        "access": access or {},
        "capabilities": [{"type": "tool", "name": name, "input_schema": OPEN} for name in tools],
    }
    (folder / "plugin.json").write_text(json.dumps(manifest))
    (folder / "main.wat").write_text(wat)
    return folder
