"""`placet hook … --install`: adds the hook to an agent's settings file, or removes it."""

from __future__ import annotations

from policy.cli.agent_settings.editing import run

__all__ = ["run"]
