"""Which sandbox confines the code that a call runs, and what of it the sandbox bounds."""

from __future__ import annotations

from policy.catalog import ToolSpec
from policy.model import Facts, SandboxTier


def sandbox_of(spec: ToolSpec, facts: Facts) -> SandboxTier | None:
    """Return the sandbox that confines the code of a tool's call, None if nothing does.

    Plugins and servers each have their own, if any: it confines the tools that it names.
    """
    sandbox = facts.sandbox
    if sandbox is None:
        return None
    if sandbox.tools is None:
        return sandbox if spec.origin.kind == "host" else None
    return sandbox if spec.name in sandbox.tools else None


def verbs_within_sandbox(spec: ToolSpec, facts: Facts) -> frozenset[str]:
    """Return the verbs of which all effects of a tool are within its sandbox.

    The whole code of a plugin or a server runs in there, so that it does not matter which of its
    resources are declared. The programs that it runs are confined as it is, and it sends by
    connecting.
    """
    sandbox = sandbox_of(spec, facts)
    if sandbox is None or spec.origin.kind == "host":
        return frozenset()
    verbs: set[str] = set(sandbox.enforces)
    if {"reads", "writes"} <= verbs:
        verbs.add("runs")
    if "connects" in verbs:
        verbs.add("sends")
    return frozenset(verbs)
