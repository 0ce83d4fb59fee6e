"""What a server reports at its start of the sandbox of commands, where people have to know."""

from __future__ import annotations

from policy.diagnostics import visible
from policy.generation import SandboxSettings
from policy.sandbox import WAYS_ON, driver_named


def sandbox_line(settings: SandboxSettings) -> str | None:
    """Return that commands may run unconfined, or are not run here; None if they are confined."""
    driver = None if settings.driver == "off" else driver_named(settings.driver)
    problem = "`[sandbox] driver` is off" if driver is None else driver.problem()
    if problem is None and settings.required:
        return None
    why = "" if problem is None else visible(problem, 300)
    if settings.required:
        return f"warning: no command is run, since {why}; {WAYS_ON}"
    allowed = "`[sandbox] required` is false"
    if driver is not None and problem is None:
        return f"warning: commands run without a sandbox where `{driver.name}` fails: {allowed}"
    return f"warning: commands run without a sandbox: {allowed}, and {why}"
