"""Which sandbox is in force by a configuration, and which verbs it enforces."""

from __future__ import annotations

from policy.generation import SandboxSettings
from policy.model import ConfinedVerb, Confinement, SandboxTier


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
    """Return what confines the programs of `tools`; None where they may also run unconfined.

    None as well where nobody has named a driver: a default confines, and is no ground to allow
    more than before. Connections are bounded where there are none at all, and where each of them is
    judged by the rules that allow the call. `name` is that of the driver in use, where the
    configuration leaves it open.
    """
    if settings.driver == "off" or not settings.named or not settings.required:
        return None
    enforces: set[ConfinedVerb] = {"reads", "writes"}
    if settings.reach.network != "all":
        enforces.add("connects")
    return SandboxTier(name=name or settings.driver, enforces=frozenset(enforces), tools=tools)
