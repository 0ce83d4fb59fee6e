"""What a lint looks at: the layers as written, the layers as checked, and their context."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from policy.checks.assembly import Layer
from policy.checks.checked import CheckedPolicy
from policy.checks.context import CheckContext
from policy.model import Source


@dataclass(frozen=True, slots=True, kw_only=True)
class LintContext:
    """The layers, in the same order as written and as checked; `sources` are their texts."""

    layers: tuple[Layer, ...]
    policies: tuple[CheckedPolicy, ...]
    check: CheckContext
    sources: Mapping[str, Source]
