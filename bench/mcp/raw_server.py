"""A server with as little of its own as possible; it imports nothing.

    python -I -S raw_server.py FOLDER

`grow` makes it list 300 further tools. When it has answered a list, it notes the time in
FOLDER/listed.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

MORE = 300
SCHEMA = {"type": "object", "properties": {"text": {"type": "string"}}}


def listed(*, grown: bool) -> list[dict[str, Any]]:
    """Return the tools."""
    names = ["echo", "grow", *(f"tool_{n}" for n in range(MORE) if grown)]
    return [{"name": name, "description": name, "inputSchema": SCHEMA} for name in names]


def main(folder: Path) -> None:
    """Answer what is asked on standard input, until it ends."""
    grown = False
    for line in sys.stdin:
        message = json.loads(line)
        result: dict[str, Any] | None = {}
        match message.get("method"):
            case "initialize":
                result = {
                    "protocolVersion": "2025-06-18",
                    "capabilities": {"tools": {"listChanged": True}},
                    "serverInfo": {"name": "raw", "version": "1"},
                }
            case "tools/list":
                result = {"tools": listed(grown=grown)}
            case "tools/call" if message["params"]["name"] == "grow":
                grown = True
                say({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"})
                result = {"content": []}
            case "tools/call":
                text = (message["params"].get("arguments") or {}).get("text", "")
                result = {"content": [{"type": "text", "text": text}]}
            case "ping":
                pass
            case _:
                result = None
        if "id" not in message:
            continue
        if result is None:
            error = {"code": -32601, "message": "unknown"}
            say({"jsonrpc": "2.0", "id": message["id"], "error": error})
            continue
        say({"jsonrpc": "2.0", "id": message["id"], "result": result})
        if message["method"] == "tools/list":
            (folder / "listed").write_text(str(time.time()))


def say(message: dict[str, Any]) -> None:
    """Send a message."""
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
