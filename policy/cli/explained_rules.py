"""Which rules of a layer an explanation lists, and which of them with the parts of their clauses.

Everything is in the JSON. The text leaves out what did not decide, so that a policy that uses a few
packs can be explained on one screen.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from policy.decision import RuleOutcome, is_relevant
from policy.diagnostics import is_shipped


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedRules:
    """The rules that are listed, and one line about the others; empty if there are none."""

    rules: tuple[RuleOutcome, ...]
    others: str


def listed_rules(rules: Iterable[RuleOutcome], *, every: bool) -> ListedRules:
    """Return the rules to list: all, or without those of shipped packs that do not match.

    Rules that could allow the call are always listed, but for those of packs that a parameter
    switches off or that are about other calls. The `ask` of an `allow … with approval` is the
    same rule, and is listed if it matches.
    """
    listed: list[RuleOutcome] = []
    others: Counter[str] = Counter()
    allows: set[tuple[str, str, int]] = set()
    for rule in rules:
        reason = rule.reason
        place = (reason.rule, reason.file or "", reason.line or 0)
        if every or (rule.kind == "allow" and is_relevant(rule)) or rule.counts:
            listed.append(rule)
        elif is_shipped(reason.file or ""):
            others[reason.file or ""] += 1
        elif place not in allows:
            listed.append(rule)
        if rule.kind == "allow":
            allows.add(place)
    return ListedRules(rules=tuple(listed), others=_others_line(others))


def divides(rule: RuleOutcome) -> bool:
    """Return whether the parts of a rule's clauses matter: it failed to allow, or it restricts."""
    return rule.counts != (rule.kind == "allow")


def _others_line(others: Counter[str]) -> str:
    if not others:
        return ""
    packs = ", ".join(f"{pack} {number}" for pack, number in sorted(others.items()))
    return f"rules of packs that do not match: {packs}; --all lists them"
