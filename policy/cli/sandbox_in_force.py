"""The sandbox of a policy's own commands, as `explain` tells what a service would decide."""

from __future__ import annotations

from dataclasses import replace

from policy.catalog import STARTS_PROGRAMS
from policy.generation import Generation
from policy.model import Facts
from policy.sandbox import name_in_use, tier_of


def with_sandbox(facts: Facts, generation: Generation) -> Facts:
    """Return the facts with the sandbox that `[sandbox]` configures, unless the call names one."""
    if facts.sandbox is not None:
        return facts
    own = frozenset(STARTS_PROGRAMS)
    settings = generation.settings.sandbox
    named = settings.named and settings.driver != "off"
    name = name_in_use(settings.reach.driver) if named else None
    return replace(facts, sandbox=tier_of(settings, tools=own, name=name))
