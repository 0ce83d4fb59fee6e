"""All layers in, what they do to each other out: statements without effect, and contradictions.

Only what is certain is said: a tool that is not known yet may make a statement useful.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property

from policy.catalog import Catalog, ToolSelector, ToolSpec
from policy.checks import CheckedPolicy, LayerKey, checked
from policy.diagnostics import Diagnostic, Severity, diagnose, in_order
from policy.layers.overlap import Overlaps
from policy.layers.rewrites import find_rewrite_conflicts
from policy.records import dataclass
from policy.verdict import Verdict, strictest


def find_conflicts(layers: tuple[CheckedPolicy, ...], catalog: Catalog) -> tuple[Diagnostic, ...]:
    """Return the diagnostics that need more than one statement to be seen."""
    scene = _Scene(layers=layers, overlaps=Overlaps(catalog=catalog))
    return in_order(
        [
            *_allows_without_effect(scene),
            *_unreached_asks(scene),
            *_delegations_to_nobody(scene),
            *find_rewrite_conflicts(layers, scene.overlaps),
        ]
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Scene:
    layers: tuple[CheckedPolicy, ...]
    overlaps: Overlaps

    @property
    def everyone(self) -> CheckedPolicy | None:
        """The global layer."""
        return next((p for p in self.layers if p.key.kind == "every"), None)

    @property
    def others(self) -> tuple[CheckedPolicy, ...]:
        """The layers that only tighten, except where the global one delegated."""
        return tuple(p for p in self.layers if p.key.kind != "every")


def _live(policy: CheckedPolicy, verdict: Verdict) -> Iterator[checked.CheckedRule]:
    return (r for r in policy.rules if r.verdict is verdict and not r.shadow)


def _plain(policy: CheckedPolicy) -> checked.CheckedDefault | None:
    return next((d for d in policy.defaults if d.tools is None), None)


def _scoped(policy: CheckedPolicy, spec: ToolSpec) -> Verdict | None:
    """Return what a layer's `default … for` says of a tool, None if none fits."""
    fitting = [d.verdict for d in policy.defaults if d.tools is not None and d.tools.fits(spec)]
    return strictest(fitting) if fitting else None


def _giving(policy: CheckedPolicy) -> Iterator[ToolSelector]:
    """Yield the tools of everything in a layer that can give."""
    for rule in _live(policy, Verdict.ALLOW):
        yield rule.tools
    for default in policy.defaults:
        if default.tools is not None and default.verdict is not Verdict.DENY:
            yield default.tools


def _gives(policy: CheckedPolicy, spec: ToolSpec, allowed: frozenset[str]) -> bool:
    """Tell whether an `allow` or a `default … for` of the layer can let the tool through."""
    if spec.name in allowed:
        return True
    scoped = _scoped(policy, spec)
    return scoped is not None and scoped is not Verdict.DENY


# ------------------------------------------------------------------ allows without effect


def _allows_without_effect(scene: _Scene) -> Iterator[Diagnostic]:
    for policy in scene.others:
        if _plain(policy) is not None:
            continue
        given = [*_delegated_to(policy.key, scene), *_scoped_tools(policy)]
        for rule in _live(policy, Verdict.ALLOW):
            # Its other half, the ask, takes wherever something else gives.
            if rule.with_approval or _matters(rule.tools, given, scene.overlaps):
                continue
            if rule.id.startswith("table:filter."):  # the same list also denies all others
                continue
            yield diagnose(
                "allow-without-effect",
                f"an `allow` of {policy.key.title} gives nothing by itself",
                span=rule.span,
                severity=Severity.WARNING if rule.id.startswith("table:") else None,
                help="write `default deny` in this layer, to allow only what its rules name, or "
                "delegate the tool to it in the layer of every agent",
            )


def _delegated_to(key: LayerKey, scene: _Scene) -> list[ToolSelector]:
    everyone = scene.everyone
    return [] if everyone is None else [d.tools for d in everyone.delegations if d.to == key]


def _scoped_tools(policy: CheckedPolicy) -> list[ToolSelector]:
    return [default.tools for default in policy.defaults if default.tools is not None]


def _matters(tools: ToolSelector, given: Iterable[ToolSelector], overlaps: Overlaps) -> bool:
    specs = overlaps.fitting(tools)
    return any(
        any(selector.fits(spec) for spec in specs) or overlaps.may_meet_unknown(tools, selector)
        for selector in given
    ) or (overlaps.catalog.complete and not specs)


# ------------------------------------------------------------------ asks that nothing reaches


def _unreached_asks(scene: _Scene) -> Iterator[Diagnostic]:
    everyone = scene.everyone
    if everyone is None:
        return
    grants = _Grants(scene=scene, everyone=everyone)
    for policy in scene.layers:
        for rule in _live(policy, Verdict.ASK):
            if not rule.of_pack and not grants.reach(rule.tools, policy):
                yield diagnose(
                    "unreached-ask",
                    "nothing allows these tools, so this `ask` never asks",
                    span=rule.span,
                    help="write `allow … with approval`, or an `allow` that it then tightens",
                )


class _Grants:
    """Which tools can get past the defaults at all."""

    def __init__(self, *, scene: _Scene, everyone: CheckedPolicy) -> None:
        self._scene = scene
        self._everyone = everyone

    @cached_property
    def _allowed(self) -> Mapping[LayerKey, frozenset[str]]:
        """The known tools that each layer allows; looked up once there is an `ask` to judge."""
        return {
            policy.key: frozenset(
                spec.name
                for rule in _live(policy, Verdict.ALLOW)
                for spec in self._scene.overlaps.fitting(rule.tools)
            )
            for policy in self._scene.layers
        }

    def reach(self, tools: ToolSelector, layer: CheckedPolicy) -> bool:
        """Tell whether a call of one of `tools` can be anything but denied where `layer` binds."""
        specs = self._scene.overlaps.fitting(tools)
        if any(self._passes(spec, layer) for spec in specs):
            return True
        if self._scene.overlaps.catalog.complete:
            return not specs
        return self._may_pass_unknown(tools, self._everyone) and (
            layer is self._everyone or self._may_pass_unknown(tools, layer)
        )

    def _passes(self, spec: ToolSpec, layer: CheckedPolicy) -> bool:
        if not self._passes_everyone(spec):
            return False
        return layer is self._everyone or self._leaves(layer, spec)

    def _passes_everyone(self, spec: ToolSpec) -> bool:
        everyone = self._everyone
        scoped = _scoped(everyone, spec)
        if _gives(everyone, spec, self._allowed[everyone.key]) or scoped is not None:
            return scoped is not Verdict.DENY or spec.name in self._allowed[everyone.key]
        receivers = {d.to for d in everyone.delegations if d.tools.fits(spec)}
        if receivers:
            return any(
                _gives(p, spec, self._allowed[p.key])
                for p in self._scene.others
                if p.key in receivers
            )
        plain = _plain(everyone)
        return plain is not None and plain.verdict is not Verdict.DENY

    def _leaves(self, layer: CheckedPolicy, spec: ToolSpec) -> bool:
        """Tell whether another layer's own grant is not `deny` for a tool."""
        if spec.name in self._allowed[layer.key]:
            return True
        scoped = _scoped(layer, spec)
        if scoped is not None:
            return scoped is not Verdict.DENY
        plain = _plain(layer)
        return plain is None or plain.verdict is not Verdict.DENY

    def _may_pass_unknown(self, tools: ToolSelector, layer: CheckedPolicy) -> bool:
        plain = _plain(layer)
        overlaps = self._scene.overlaps
        if layer is not self._everyone and plain is None:
            return True
        if plain is not None and plain.verdict is not Verdict.DENY:
            return overlaps.may_meet_unknown(tools, tools)
        giving = [*_giving(layer), *(d.tools for d in layer.delegations)]
        return any(overlaps.may_meet_unknown(tools, selector) for selector in giving)


# ------------------------------------------------------------------ delegations


def _delegations_to_nobody(scene: _Scene) -> Iterator[Diagnostic]:
    everyone = scene.everyone
    if everyone is None:
        return
    keys = {policy.key for policy in scene.others}
    for delegation in everyone.delegations:
        if delegation.to in keys:
            continue
        yield diagnose(
            "delegate-to-nobody",
            f"no file binds {delegation.to.title}, so nobody fills this gap",
            span=delegation.span,
            help=f"begin a file with `policy for {delegation.to.title}`, or correct the name",
        )
