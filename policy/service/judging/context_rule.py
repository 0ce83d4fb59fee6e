"""Context rules: the host application's own, which may refuse a call or change its input."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

from policy.model import Caller, Facts
from policy.service.judging.classification import Allow, Deny


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleContext:
    """What a context rule receives besides the call."""

    caller: Caller
    facts: Facts


@dataclass(frozen=True, slots=True)
class Rewrite:
    """Run the call with this input instead; it is validated and decided like any other."""

    input: Mapping[str, Any]


RuleOutcome: TypeAlias = Allow | Deny | Rewrite


class ContextRule(Protocol):
    """Evaluates a call after its name was repaired and its input validated; must not block.

    A rule only restricts: its Allow is not a grant, and its Rewrite is decided again by the policy.
    """

    def evaluate(self, name: str, input: Mapping[str, Any], ctx: RuleContext) -> RuleOutcome:
        """Return the outcome for one call; an exception counts as Deny."""
        ...
