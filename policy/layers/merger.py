"""Merges checked policies into one `LayeredPolicy`, and reports conflicts."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from policy.catalog import Catalog
from policy.checks import CheckedPolicy
from policy.diagnostics import Diagnostic
from policy.layers.conflicts import find_conflicts
from policy.layers.layered import LayeredPolicy


@dataclass(frozen=True, slots=True, kw_only=True)
class Merged:
    """The layers as one policy; with errors among the diagnostics it must not take effect."""

    policy: LayeredPolicy
    diagnostics: tuple[Diagnostic, ...]


def merge(policies: Iterable[CheckedPolicy], catalog: Catalog | None = None) -> Merged:
    """Put the layers in order, keeping every rule, and report what does nothing across them.

    Without a catalogue only what is certain from the names alone is reported.
    """
    layers = sorted(policies, key=lambda p: (p.key.kind != "every", p.key.kind, p.key.names))
    policy = LayeredPolicy(layers=tuple(layers))
    return Merged(policy=policy, diagnostics=find_conflicts(policy.layers, catalog or Catalog()))
