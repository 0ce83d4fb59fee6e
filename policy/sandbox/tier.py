"""Which sandbox is in force by a configuration, and which verbs it enforces."""

from __future__ import annotations

from policy.generation import SandboxSettings
from policy.model import Confinement, SandboxTier


def unenforced(confinement: Confinement | None, tier: SandboxTier | None) -> str | None:
    """Return why a call may not run in a sandbox that no longer enforces what rules rely on.

    None: it enforces all of that.
    """
    relied_on = set(() if confinement is None else confinement.relied_on)
    missing = relied_on - (frozenset[str]() if tier is None else tier.enforces)
    if not missing:
        return None
    return f"rules allow it only if a sandbox limits what it {' and '.join(sorted(missing))}"


def tier_of(
    settings: SandboxSettings, *, tools: frozenset[str], name: str | None = None
) -> SandboxTier | None:
    """Return what confines the programs of `tools`; None where rules may not rely on it.

    `name` is that of the driver in use, where the configuration leaves it open.
    """
    if not settings.enforces:
        return None
    return SandboxTier(name=name or settings.driver, enforces=settings.enforces, tools=tools)
