"""Makes calls under a limit, as one of several processes; prints how many ran and were refused.

Started with the folder of the policy, the store, the number of this process, how many calls to
make, and before which of them to load the policy again. The first process edits it then. Number -1
kills its process within a call.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections import Counter
from pathlib import Path

import policy
from policy.generation import HistorySettings
from policy.model import Caller, PermissionDenied
from policy.service import open_stored_log, tool


async def make_calls(
    folder: Path, kept: str, process: int, calls: int, reload_at: int
) -> Counter[str]:
    """Return how many calls ran, and how many were refused with each code."""
    ended: Counter[str] = Counter()

    @tool
    def append(line: str) -> str:
        """Append a line."""
        if process < 0:
            os.kill(os.getpid(), signal.SIGKILL)
        ended["ran"] += 1
        return line

    store = policy.PolicyStore(folder / "rules")
    log = open_stored_log(kept, HistorySettings())
    service = policy.build_tool_service(
        store, tools=[append], workspace=folder, sessions=log
    ).bound_to(Caller(session=f"s{process}", user=f"u{process % 3}"))
    for number in range(calls):
        if number == reload_at:
            if process == 0:
                rules = folder / "rules" / "all.policy"
                rules.write_text(rules.read_text().replace("few:", "renamed:"))
            store.reload()
        try:
            await service.execute("append", {"line": f"{process}-{number}"})
        except PermissionDenied as denied:
            ended[denied.code] += 1
    log.close()
    return ended


if __name__ == "__main__":
    where, kept, *numbers = sys.argv[1:]
    print(json.dumps(asyncio.run(make_calls(Path(where), kept, *map(int, numbers)))))
