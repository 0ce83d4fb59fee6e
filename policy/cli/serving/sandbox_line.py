"""What a server reports at its start of the sandbox of commands, where people have to know."""

from __future__ import annotations

from policy.diagnostics import visible
from policy.generation import SandboxSettings
from policy.sandbox import WAYS_ON, driver_named


def sandbox_line(settings: SandboxSettings) -> str | None:
    """Return that commands may run unconfined, or are not run here; None if they are confined."""
    if not settings.required:
        how = "without a sandbox" if settings.driver == "off" else "without a sandbox if none works"
        return f"warning: commands run {how}: `[sandbox] required` is false"
    if settings.driver == "off":
        problem: str | None = "`[sandbox] driver` is off"
    else:
        problem = driver_named(settings.driver).problem()
    if problem is None:
        return None
    return f"warning: no command is run, since {visible(problem, 300)}; {WAYS_ON}"
