"""An MCP server with a tool that reads files; it imports nothing."""

from __future__ import annotations

import json
import sys
from typing import Any

READ = {
    "name": "read",
    "inputSchema": {"type": "object", "properties": {"file": {"type": "string"}}},
}


def answer(message: dict[str, Any]) -> dict[str, Any] | None:
    """Return the result of a request, None for what is none that is known."""
    match message.get("method"):
        case "initialize":
            return {
                "protocolVersion": message["params"]["protocolVersion"],
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "reading", "version": "1"},
            }
        case "tools/list":
            return {"tools": [READ]}
        case "tools/call":
            try:
                with open(message["params"]["arguments"]["file"]) as file:
                    said, failed = file.read(), False
            except OSError as error:
                said, failed = str(error), True
            return {"content": [{"type": "text", "text": said}], "isError": failed}
        case _:
            return None


for line in sys.stdin:
    asked = json.loads(line)
    if "id" in asked:
        found = answer(asked)
        wrong = {"error": {"code": -32601, "message": "unknown method"}}
        reply = wrong if found is None else {"result": found}
        print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], **reply}), flush=True)
