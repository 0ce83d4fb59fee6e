"""All layers in, what they do to each other out: statements without effect, and contradictions."""

from __future__ import annotations

from policy.catalog import Catalog
from policy.checks import CheckedPolicy
from policy.diagnostics import Diagnostic


def find_conflicts(layers: tuple[CheckedPolicy, ...], catalog: Catalog) -> tuple[Diagnostic, ...]:
    """Return the diagnostics that need more than one statement to be seen."""
    return ()
