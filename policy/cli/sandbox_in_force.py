"""The sandbox that a policy configures for a call, as `explain` tells what would be decided."""

from __future__ import annotations

from dataclasses import replace

from policy.catalog import CODE_EXEC, PYTHON_EXEC, STARTS_PROGRAMS, Origin
from policy.generation import Generation
from policy.model import Facts, SandboxTier
from policy.sandbox import name_in_use, tier_of


def with_sandbox(facts: Facts, generation: Generation, tool: str) -> Facts:
    """Return the facts with the sandbox of a tool's code, unless the call names one."""
    if facts.sandbox is not None:
        return facts
    spec = generation.catalog.get(tool)
    if spec is not None and spec.origin.kind != "host":
        tier = _tier_of(spec.origin, generation)
        if tier is None:
            return facts
        return replace(facts, sandbox=replace(tier, tools=frozenset({spec.name})))
    service, settings = generation.settings.service, generation.settings.sandbox
    # A host application may have tools with the names of those that are not configured.
    there = {CODE_EXEC: bool(service.code.languages), PYTHON_EXEC: service.python.enabled}
    own = frozenset(name for name in STARTS_PROGRAMS if there.get(name, True))
    named = settings.named and settings.driver != "off"
    name = name_in_use(settings.reach.driver) if named else None
    return replace(facts, sandbox=tier_of(settings, tools=own, name=name))


def _tier_of(origin: Origin, generation: Generation) -> SandboxTier | None:
    """Return the sandbox of a plugin or an MCP server."""
    if origin.kind == "ext":
        from policy.plugins import configured_tier

        settings = generation.settings.plugins.get(origin.server)
        return None if settings is None else configured_tier(origin.server, settings)
    from policy.mcp import tier_of_server

    servers = (one for one in generation.settings.mcp_servers if one.name == origin.server)
    return next(map(tier_of_server, servers), None)
