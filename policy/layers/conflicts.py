"""What layers do to each other: statements without effect, and contradictions.

Only certain cases are reported: a tool added later may make a statement useful.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from policy.catalog import SANDBOX_CONNECT, Catalog, ToolSelector
from policy.checks import CheckedPolicy, LayerKey, checked
from policy.diagnostics import Diagnostic, Severity, diagnose, did_you_mean, in_order
from policy.layers.grants import GrantedTools
from policy.layers.overruled_rules import find_overruled
from policy.layers.redaction_conflicts import find_redaction_conflicts
from policy.layers.rewrite_conflicts import find_rewrite_conflicts
from policy.layers.selector_overlap import SelectorOverlaps
from policy.model import Verdict, strictest


def find_conflicts(layers: tuple[CheckedPolicy, ...], catalog: Catalog) -> tuple[Diagnostic, ...]:
    """Return the diagnostics that concern more than one statement."""
    scene = _Scene(layers=layers, overlaps=SelectorOverlaps(catalog=catalog))
    return in_order(
        [
            *_allows_without_effect(scene),
            *_overruled(scene),
            *_unreached(scene),
            *_delegations_to_nobody(scene),
            *_rewrite_conflicts(scene),
            *_redaction_conflicts(scene),
        ]
    )


def _overruled(scene: _Scene) -> Iterator[Diagnostic]:
    for policy in scene.layers:
        if any(r.asks or r.verdict is Verdict.DENY for r in policy.rules):
            yield from find_overruled(policy, scene.overlaps)


def _rewrite_conflicts(scene: _Scene) -> Iterator[Diagnostic]:
    if any(policy.rewrites for policy in scene.layers):
        yield from find_rewrite_conflicts(scene.layers, scene.overlaps)


def _redaction_conflicts(scene: _Scene) -> Iterator[Diagnostic]:
    if any(policy.redactions for policy in scene.layers):
        yield from find_redaction_conflicts(scene.layers, scene.overlaps)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Scene:
    layers: tuple[CheckedPolicy, ...]
    overlaps: SelectorOverlaps

    @property
    def everyone(self) -> CheckedPolicy | None:
        """The global layer."""
        return next((p for p in self.layers if p.key.kind == "every"), None)

    @property
    def others(self) -> tuple[CheckedPolicy, ...]:
        """The layers that can only restrict, except where the global one delegated."""
        return tuple(p for p in self.layers if p.key.kind != "every")


def _live(policy: CheckedPolicy, verdict: Verdict) -> Iterator[checked.CheckedRule]:
    return (r for r in policy.rules if r.verdict is verdict and not r.shadow)


def _sound(policy: CheckedPolicy, verdict: Verdict) -> Iterator[checked.CheckedRule]:
    """Yield the rules in force of a verdict that have no error of their own."""
    return (rule for rule in _live(policy, verdict) if not rule.broken)


def _plain(policy: CheckedPolicy) -> checked.CheckedDefault | None:
    return next((d for d in policy.defaults if d.tools is None), None)


def _giving(policy: CheckedPolicy) -> Iterator[ToolSelector]:
    """Yield the tools of everything in a layer that can grant."""
    for rule in _live(policy, Verdict.ALLOW):
        yield rule.tools
    for default in policy.defaults:
        if default.tools is not None and default.verdict is not Verdict.DENY:
            yield default.tools


# ------------------------------------------------------------------ allows without effect


def _allows_without_effect(scene: _Scene) -> Iterator[Diagnostic]:
    delegated = _delegated(scene)
    everyone = scene.everyone
    if everyone is not None and (everyone.incomplete or _plain(everyone) is None):
        return  # a delegation may be missing, as the default is
    for policy in scene.others:
        if _plain(policy) is not None or policy.incomplete:
            continue
        given = GrantedTools(
            [*delegated.get(policy.key, ()), *_scoped_tools(policy)], scene.overlaps
        )
        for rule in _sound(policy, Verdict.ALLOW):
            # Its other half, the ask, restricts wherever another rule grants.
            if rule.with_approval or _matters(rule.tools, given, scene.overlaps):
                continue
            if rule.id.startswith("table:filter."):  # the same list also denies all other tools
                continue
            yield diagnose(
                "allow-without-effect",
                f"an `allow` for {policy.key.title} grants nothing by itself",
                span=rule.span,
                severity=Severity.WARNING if rule.id.startswith("table:") else None,
                help="write `default deny` in this layer, to allow only what its rules name, or "
                "delegate the tool to it in the layer of every agent",
            )


def _delegated(scene: _Scene) -> Mapping[LayerKey, list[ToolSelector]]:
    """Return the tools that the layer of every agent delegates to each other layer."""
    found: dict[LayerKey, list[ToolSelector]] = {}
    for delegation in scene.everyone.delegations if scene.everyone is not None else ():
        found.setdefault(delegation.to, []).append(delegation.tools)
    return found


def _scoped_tools(policy: CheckedPolicy) -> list[ToolSelector]:
    return [default.tools for default in policy.defaults if default.tools is not None]


def _matters(tools: ToolSelector, given: GrantedTools, overlaps: SelectorOverlaps) -> bool:
    if given.holds_some_of(tools) or given.may_meet_unknown(tools):
        return True
    return overlaps.catalog.complete and not overlaps.matching(tools)


# ------------------------------------------------------------------ what no grant reaches


def _unreached(scene: _Scene) -> Iterator[Diagnostic]:
    everyone = scene.everyone
    if everyone is None or any(policy.incomplete for policy in scene.layers):
        return
    grants = _Grants(scene=scene, everyone=everyone)
    for policy in scene.layers:
        for rule in _sound(policy, Verdict.ASK):
            if not rule.of_pack and not grants.reach(rule.tools, policy):
                yield diagnose(
                    "unreached-ask",
                    "nothing allows these tools, so this `ask` never asks",
                    span=rule.span,
                    help="write `allow … with approval`, or add an `allow` for it to restrict",
                )
        for limit in policy.limits:
            if not limit.of_pack and not limit.broken and not grants.reach(limit.tools, policy):
                yield diagnose(
                    "unreached-limit",
                    "nothing allows these tools, so this `limit` never counts a call",
                    span=limit.span,
                    help="add an `allow` for it to restrict, or remove the limit",
                )
        for redaction in policy.redactions:
            sound = not redaction.broken and not redaction.of_pack
            if sound and not grants.reach(redaction.tools, policy):
                yield diagnose(
                    "unreached-redaction",
                    "nothing allows these tools, so they return nothing to redact",
                    span=redaction.span,
                    help="name tools that a rule or a default allows, or remove the rule",
                )


class _LayerGrants:
    """What one layer allows, by the name of a tool."""

    def __init__(self, policy: CheckedPolicy, overlaps: SelectorOverlaps) -> None:
        self._policy = policy
        self._overlaps = overlaps
        self.plain = _plain(policy)

    @cached_property
    def allowed(self) -> frozenset[str]:
        """The known tools that the layer's rules allow."""
        matching = self._overlaps.matching
        return frozenset(
            spec.name
            for rule in _live(self._policy, Verdict.ALLOW)
            for spec in matching(rule.tools)
        )

    @cached_property
    def scoped(self) -> Mapping[str, Verdict]:
        """The verdicts of the layer's `default … for` statements for each tool that they match."""
        found: dict[str, list[Verdict]] = {}
        for default in self._policy.defaults:
            if default.tools is not None:
                for spec in self._overlaps.matching(default.tools):
                    found.setdefault(spec.name, []).append(default.verdict)
        return {name: strictest(verdicts) for name, verdicts in found.items()}

    @cached_property
    def receivers(self) -> Mapping[str, frozenset[LayerKey]]:
        """The layers to which the layer delegates each tool."""
        found: dict[str, set[LayerKey]] = {}
        for delegation in self._policy.delegations:
            for spec in self._overlaps.matching(delegation.tools):
                found.setdefault(spec.name, set()).add(delegation.to)
        return {name: frozenset(keys) for name, keys in found.items()}

    @cached_property
    def giving(self) -> GrantedTools:
        """Everything in the layer that can grant or delegate."""
        delegated = (delegation.tools for delegation in self._policy.delegations)
        return GrantedTools([*_giving(self._policy), *delegated], self._overlaps)

    def grants(self, name: str) -> bool:
        """Return whether an `allow` or a `default … for` of the layer can allow a tool."""
        return name in self.allowed or self.scoped.get(name, Verdict.DENY) is not Verdict.DENY


class _Grants:
    """Which tools can be allowed at all, given the defaults."""

    def __init__(self, *, scene: _Scene, everyone: CheckedPolicy) -> None:
        self._overlaps = scene.overlaps
        self._everyone = _LayerGrants(everyone, scene.overlaps)
        self._layers = {policy.key: _LayerGrants(policy, scene.overlaps) for policy in scene.layers}
        self._layers[everyone.key] = self._everyone

    def reach(self, tools: ToolSelector, policy: CheckedPolicy) -> bool:
        """Return whether a call of one of `tools` can be allowed where `policy` applies."""
        layer = self._layers[policy.key]
        specs = self._overlaps.matching(tools)
        if any(self._passes(spec.name, layer) for spec in specs):
            return True
        if any(spec.name == SANDBOX_CONNECT for spec in specs):
            return True  # allowed by the rule of the call whose program connects
        if self._overlaps.catalog.complete:
            return not specs
        return self._may_pass_unknown(tools, self._everyone) and (
            layer is self._everyone or self._may_pass_unknown(tools, layer)
        )

    def _passes(self, name: str, layer: _LayerGrants) -> bool:
        if not self._passes_everyone(name):
            return False
        return layer is self._everyone or _leaves(layer, name)

    def _passes_everyone(self, name: str) -> bool:
        everyone = self._everyone
        scoped = everyone.scoped.get(name)
        if everyone.grants(name) or scoped is not None:
            return scoped is not Verdict.DENY or name in everyone.allowed
        receivers = everyone.receivers.get(name)
        if receivers:
            return any(
                layer is not everyone and layer.grants(name)
                for key in receivers
                if (layer := self._layers.get(key)) is not None
            )
        return everyone.plain is not None and everyone.plain.verdict is not Verdict.DENY

    def _may_pass_unknown(self, tools: ToolSelector, layer: _LayerGrants) -> bool:
        plain = layer.plain
        if layer is not self._everyone and plain is None:
            return True
        if plain is not None and plain.verdict is not Verdict.DENY:
            return self._overlaps.may_meet_unknown(tools, tools)
        return layer.giving.may_meet_unknown(tools)


def _leaves(layer: _LayerGrants, name: str) -> bool:
    """Return whether another layer's own default is not `deny` for a tool."""
    if name in layer.allowed:
        return True
    scoped = layer.scoped.get(name)
    if scoped is not None:
        return scoped is not Verdict.DENY
    return layer.plain is None or layer.plain.verdict is not Verdict.DENY


# ------------------------------------------------------------------ delegations


def _delegations_to_nobody(scene: _Scene) -> Iterator[Diagnostic]:
    everyone = scene.everyone
    if everyone is None or any(policy.incomplete for policy in scene.layers):
        return
    keys = {policy.key for policy in scene.others}
    for delegation in everyone.delegations:
        if delegation.to in keys:
            continue
        yield diagnose(
            "delegate-to-nobody",
            f"no file applies to {delegation.to.title}, so this delegation has no effect",
            span=delegation.span,
            help=did_you_mean(delegation.to.title, [key.title for key in keys])
            or f"start a file with `policy for {delegation.to.title}`, or correct the name",
        )
