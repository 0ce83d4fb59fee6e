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
    """The layers as one policy, which must not take effect if a diagnostic is an error."""

    policy: LayeredPolicy
    diagnostics: tuple[Diagnostic, ...]


def merge(policies: Iterable[CheckedPolicy], catalog: Catalog | None = None) -> Merged:
    """Sort the layers, keeping every rule, and report statements without effect across layers.

    Without a catalogue only what follows from the names is reported.
    """
    layers = sorted(policies, key=lambda p: (p.key.kind != "every", p.key.kind, p.key.names))
    policy = LayeredPolicy(layers=tuple(layers))
    return Merged(policy=policy, diagnostics=find_conflicts(policy.layers, catalog or Catalog()))
