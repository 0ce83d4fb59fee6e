"""Returns the printed form of a script, as the service runs it; None where there is none."""

from __future__ import annotations

from policy.shell import printed as printed_form


def printed(script: str) -> str | None:
    """Return what the service runs in place of a script that it read."""
    form = printed_form(script)
    return form if isinstance(form, str) else None
