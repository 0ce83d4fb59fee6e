"""Returns whether a policy lets a script run in a folder of this disk."""

from __future__ import annotations

from pathlib import Path

import policy
from policy.environment import Disk
from policy.model import Verdict

_DISK = Disk()


def allows(generation: policy.Generation, script: str, here: Path) -> bool:
    """Tell whether a script may run in a folder of this disk."""
    facts = policy.Facts(
        cwd=str(here), workspace=str(here), home=str(here.parent / "home"),
        resolvers=_DISK.resolvers(),
    )  # fmt: skip
    call = policy.ToolCall(tool="bash_exec", input={"command": script})
    return generation.decide(call, facts=facts).verdict is Verdict.ALLOW
