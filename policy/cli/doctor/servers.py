"""How the MCP servers of a policy are, asked now, beside their pins."""

from __future__ import annotations

from collections import Counter
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from policy.catalog import LOCK_FILE
from policy.diagnostics import has_errors
from policy.generation import (
    HttpServer,
    McpServer,
    Snapshot,
    StdioServer,
    configuration,
    read_folder,
)
from policy.pins import (
    Lock,
    PinState,
    UnusableDefinitions,
    compare,
    definitions_of,
    read_lock,
)

if TYPE_CHECKING:
    from policy.mcp import ServerAnswers

_NO_CLIENT = "it needs the extra `mcp`: install placet[mcp]"


def servers_of(policy: Path, *, seconds: float | None) -> list[dict[str, Any]]:
    """Return each configured server as a record; without `seconds`, none is asked.

    `state` is `reached`, `failed` or `not asked`; `pins` counts the tools by the state of their
    pins; `problems` say what is wrong with the server or with single tools.
    """
    if not policy.exists():
        return []
    snapshot = read_folder(policy)
    found = configuration(snapshot)
    if has_errors(found.diagnostics):
        return []
    servers, lock = found.settings.mcp_servers, _lock(snapshot)
    if seconds is None or not servers:
        return [_record(server) for server in servers]
    if find_spec("mcp") is None:
        return [_record(server, problems=[_NO_CLIENT]) for server in servers]
    from policy.mcp import McpFailure, ask_servers

    records = []
    for name, answer in ask_servers(servers, seconds=seconds).items():
        server = next(each for each in servers if each.name == name)
        if isinstance(answer, McpFailure):
            records.append(_record(server, state="failed", problems=[str(answer)]))
        else:
            records.append(_compared(server, answer, lock))
    return records


def _lock(snapshot: Snapshot) -> Lock | None:
    """Return the pins; None if the lock cannot be used, which the policy reports."""
    file = snapshot.files.get(LOCK_FILE)
    read = Lock() if file is None else read_lock(file.content)
    return read if isinstance(read, Lock) else None


def _record(server: McpServer, *, state: str = "not asked", **more: Any) -> dict[str, Any]:
    transport = server.transport
    kind = "stdio" if isinstance(transport, StdioServer) else "websocket"
    return {
        "name": server.name,
        "transport": "http" if isinstance(transport, HttpServer) else kind,
        "isolation": server.isolation,
        "state": state,
        "era": None,
        "protocol_version": None,
        "version": None,
        "pins": {},
        "problems": [],
        **more,
    }


def _compared(server: McpServer, answer: ServerAnswers, lock: Lock | None) -> dict[str, Any]:
    from policy.mcp import program_of, refused_names

    said = {
        "state": "reached",
        "era": answer.era,
        "protocol_version": answer.protocol_version,
        "version": answer.version,
    }
    try:
        definitions = definitions_of(
            server.name,
            tools=answer.tools,
            left_out={
                **refused_names(server.name, (tool["name"] for tool in answer.tools)),
                **answer.faults.left_out,
            },
            prompts=answer.prompts,
            instructions=answer.instructions,
            program=program_of(server, answer.version),
        )
    except UnusableDefinitions as error:
        return _record(server, **said, problems=[str(error)])
    compared = None if lock is None else compare(lock, definitions)
    states = () if compared is None else map(compared.state_of, compared.tools)
    pins = Counter(state.value for state in states)
    if compared is not None and definitions.left_out:
        # Those that nobody has accepted, too: each has a line of its own.
        pins[PinState.LEFT_OUT.value] = len(definitions.left_out)
    left_out = (f"left out: {problem}" for problem in definitions.problems)
    problems = [*answer.faults.others, *left_out]
    return _record(server, **said, pins=dict(sorted(pins.items())), problems=problems)
