"""An MCP server that declares and returns what a file says.

    python declaring.py SCRIPT

It imports nothing. SCRIPT is JSON, and is read for every message: `tools` is what the server lists,
`pages` are answers to tools/list by cursor (`""` for the first), in place of it, `results` are the
results of calls by name, and `before` is text that is written before the answer to tools/list.
With `stateless` it is one of the revisions without a handshake.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

SERVER = Path(__file__).resolve()
_MODERN = {"resultType": "complete", "ttlMs": 0, "cacheScope": "private"}
_OK = {"content": [{"type": "text", "text": "ok"}]}


def declaring_server(script: Path, name: str) -> str:
    """Return the table that configures this server."""
    arguments = json.dumps(["-I", "-S", str(SERVER), str(script)])
    return f"[mcp.servers.{name}]\ncommand = {json.dumps(sys.executable)}\nargs = {arguments}\n"


def answer(script: dict[str, Any], method: str, params: dict[str, Any]) -> dict[str, Any] | None:
    """Return the result for a request, None for one that is not known."""
    match method:
        case "server/discover" if script.get("stateless"):
            return {"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}, **_MODERN}
        case "initialize":
            return {
                "protocolVersion": "2025-06-18",
                "capabilities": {"tools": {"listChanged": True}},
                "serverInfo": {"name": "declaring", "version": "1"},
            }
        case "tools/list" if "pages" in script:
            page: dict[str, Any] = script["pages"][params.get("cursor") or ""]
            return page
        case "tools/list":
            return {"tools": script["tools"]}
        case "tools/call":
            result: dict[str, Any] = script.get("results", {}).get(params["name"], _OK)
            return result
        case "ping":
            return {}
        case _:
            return None


def main(file: Path) -> None:
    """Answer messages until there are no more."""
    for line in sys.stdin:
        message = json.loads(line)
        id, method = message.get("id"), message.get("method")
        if id is None or method is None:
            continue
        script = json.loads(file.read_text("utf-8"))
        if method == "tools/list":
            sys.stdout.write(script.get("before", ""))
        result = answer(script, method, message.get("params") or {})
        unknown = {"error": {"code": -32601, "message": "unknown"}}
        said = unknown if result is None else {"result": result}
        print(json.dumps({"jsonrpc": "2.0", "id": id, **said}), flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
