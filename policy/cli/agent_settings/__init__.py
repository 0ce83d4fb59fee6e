"""`placet hook … --install`: the hook in an agent's settings file, put in and taken out."""

from __future__ import annotations

from policy.cli.agent_settings.editing import run

__all__ = ["run"]
