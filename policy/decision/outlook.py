"""What a caller may hope for from a tool before any input is known: hidden, asks, or open.

Only what is certain hides: a tool is hidden when it is denied for every input.
"""

from __future__ import annotations

from enum import StrEnum

from policy.call import Caller
from policy.catalog import ToolSpec
from policy.decision.identity import identity_reasons
from policy.facts import Facts
from policy.program import LayerPlan, Program, ToolPlan
from policy.verdict import Verdict


class Outlook(StrEnum):
    """`hidden`: denied for every input; `asks`: some input may need an approval; else `open`."""

    HIDDEN = "hidden"
    ASKS = "asks"
    OPEN = "open"


def outlook(program: Program, tool: str, caller: Caller, facts: Facts) -> Outlook:
    """Return what this caller may hope for from the tool; an unknown tool is hidden."""
    spec = program.catalog.get(tool)
    if spec is None:
        return Outlook.HIDDEN
    plans = [program.plan(spec, agent=c.agent, role=c.role) for c in caller.chain()]
    if any(_denied(plan) for plan in plans) or _barred(spec, caller, facts):
        return Outlook.HIDDEN
    return Outlook.ASKS if _may_ask(spec, plans) else Outlook.OPEN


def _barred(spec: ToolSpec, caller: Caller, facts: Facts) -> bool:
    return any(
        reason.verdict is Verdict.DENY
        for one in caller.chain()
        for reason in identity_reasons(one, spec.names, facts.now)
    )


def _denied(plan: ToolPlan) -> bool:
    return not _may_be_granted(plan) or any(_layer_denies(layer) for layer in plan.layers)


def _may_be_granted(plan: ToolPlan) -> bool:
    if not plan.layers or plan.layers[0].key.kind != "every":
        return False
    top, others = plan.layers[0], plan.layers[1:]
    if top.allows or top.default is not None:
        return True
    return any(
        layer.key in top.delegated_to and (layer.allows or layer.named_default) for layer in others
    )


def _layer_denies(layer: LayerPlan) -> bool:
    unconditional = any(rule.verdict is Verdict.DENY and not rule.clauses for rule in layer.takes)
    default = layer.default is not None and layer.default.verdict is Verdict.DENY
    return unconditional or (default and not layer.allows)


def _may_ask(spec: ToolSpec, plans: list[ToolPlan]) -> bool:
    if spec.requires_confirmation or (spec.origin.kind != "host" and not spec.pinned):
        return True
    return any(_layer_asks(layer) for plan in plans for layer in plan.layers)


def _layer_asks(layer: LayerPlan) -> bool:
    if any(rule.verdict is Verdict.ASK for rule in layer.takes):
        return True
    default = layer.default is not None and layer.default.verdict is Verdict.ASK
    certain = any(not rule.clauses for rule in layer.allows)
    return default and not certain
