"""Rules of a layer that another rule without a condition always overrules.

`deny T` denies whatever an `allow T when …` allows and an `ask T when …` asks about, and an answer
of `ask T` is needed for whatever an `allow T when …` allows. The author of the less strict rule
probably expects an effect.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from policy.catalog import ToolPattern, ToolSelector, includes, part_includes, patterns_of
from policy.checks import CheckedPolicy, checked
from policy.diagnostics import Diagnostic, Label, Severity, diagnose
from policy.layers.selector_overlap import SelectorOverlaps
from policy.model import Verdict

# The most wildcard patterns of which each is compared with those of the other rules.
_MOST = 200
_NO_CONDITION = (None, None)


def find_overruled(policy: CheckedPolicy, overlaps: SelectorOverlaps) -> Iterator[Diagnostic]:
    """Yield a diagnostic for each rule that another rule of its layer always overrules."""
    # The lists of a filter override rules on purpose.
    live = [
        r for r in policy.rules if not (r.shadow or r.broken or r.id.startswith("table:filter."))
    ]
    always = [rule for rule in live if rule.texts == _NO_CONDITION]
    denying = _Covering((r for r in always if r.verdict is Verdict.DENY), overlaps)
    asking = _Covering((r for r in always if r.asks), overlaps)
    if not denying and not asking:
        return
    for rule in live:
        if rule.verdict is Verdict.DENY:
            continue
        others = denying.rules_over(rule)
        if others:
            yield _denied(rule, others)
            continue
        others = asking.rules_over(rule)
        if not others or rule.with_approval:
            continue
        if rule.verdict is Verdict.ASK:
            if _asks_the_same(rule, others):
                yield _asked_anyway(rule, others)
        elif all(r.with_approval for r in others) or _is_granted(rule, policy, overlaps):
            yield _asked_about(rule, others)
        elif _lifts_a_default(rule, others):
            yield _better_with_approval(rule, others)


def _asks_the_same(rule: checked.CheckedRule, others: list[checked.CheckedRule]) -> bool:
    """Return whether an `ask` requires the same approval as the others, with no other text."""
    if rule.texts == _NO_CONDITION or rule.because is not None or rule.audit is not None:
        return False
    return all(other.terms == rule.terms for other in others)


def _is_granted(
    rule: checked.CheckedRule, policy: CheckedPolicy, overlaps: SelectorOverlaps
) -> bool:
    """Return whether the layer's plain default grants the rule's tools without the rule."""
    default = next((d for d in policy.defaults if d.tools is None), None)
    if default is None or default.verdict is Verdict.DENY:
        return False
    apart = [d.tools for d in policy.defaults if d.tools is not None]
    apart += [delegation.tools for delegation in policy.delegations]
    known = {spec.name for spec in overlaps.matching(rule.tools)}
    return not any(
        any(spec.name in known for spec in overlaps.matching(tools))
        or overlaps.may_meet_unknown(tools, rule.tools)
        for tools in apart
    )


def _lifts_a_default(rule: checked.CheckedRule, others: list[checked.CheckedRule]) -> bool:
    """Return whether a rule and an `ask` of the same tools are `allow … with approval`."""
    same = len(others) == 1 and includes(rule.tools, others[0].tools)
    own = all(not other.of_pack or rule.of_pack for other in others)
    return same and own and rule.texts != _NO_CONDITION


# ------------------------------------------------------------------ diagnostics


def _denied(rule: checked.CheckedRule, others: list[checked.CheckedRule]) -> Diagnostic:
    return _diagnostic(
        rule,
        others,
        f"this `{rule.verdict}` has no effect: another rule always denies its calls",
        label="denies every call of these tools",
        help="give the `deny` a condition, or remove one of the two",
    )


def _asked_about(rule: checked.CheckedRule, others: list[checked.CheckedRule]) -> Diagnostic:
    return _diagnostic(
        rule,
        others,
        f"this `{rule.verdict}` has no effect: another rule always asks about its calls",
        label="asks about every call of these tools",
        help="give the rule that asks a condition, or remove this one",
    )


def _asked_anyway(rule: checked.CheckedRule, others: list[checked.CheckedRule]) -> Diagnostic:
    return _diagnostic(
        rule,
        others,
        "this `ask` never changes a verdict: another rule always asks about its calls",
        label="asks about every call of these tools",
        help="give the other rule a condition, or add `because` if approvers should see this one",
        severity=Severity.WARNING,
    )


def _better_with_approval(
    rule: checked.CheckedRule, others: list[checked.CheckedRule]
) -> Diagnostic:
    return _diagnostic(
        rule,
        others,
        "this `allow` never allows a call: another rule always asks about its calls",
        label="asks about every call of these tools",
        help="write one rule, `allow … when … with approval`, or give the `ask` a condition",
        severity=Severity.WARNING,
    )


def _diagnostic(
    rule: checked.CheckedRule,
    others: list[checked.CheckedRule],
    text: str,
    *,
    label: str,
    help: str,
    severity: Severity | None = None,
) -> Diagnostic:
    # Without a condition it is no exception; a `deny` may be there to disable it.
    plain = rule.texts == _NO_CONDITION
    tables = any(one.id.startswith("table:") for one in (rule, *others))
    return diagnose(
        "overruled-rule",
        text,
        span=rule.span,
        labels=tuple(Label(span=other.span, text=label) for other in others[:3]),
        severity=Severity.WARNING if plain or tables else severity,
        help=help,
    )


# ------------------------------------------------------------------ which rules cover which


class _Covering:
    """Rules without a condition, looked up by the tools that they apply to."""

    def __init__(self, rules: Iterable[checked.CheckedRule], overlaps: SelectorOverlaps) -> None:
        self._overlaps = overlaps
        self._plain: dict[ToolPattern, checked.CheckedRule] = {}
        self._wild: list[tuple[ToolPattern, checked.CheckedRule]] = []
        self._others: list[checked.CheckedRule] = []
        for rule in rules:
            patterns = tuple(patterns_of(rule.tools))
            if _has_exceptions(rule.tools) or any(map(_is_special, patterns)):
                self._others.append(rule)
            if _has_exceptions(rule.tools):
                continue
            for pattern in patterns:
                if pattern.exact_name is None:
                    self._wild.append((pattern, rule))
                else:
                    self._plain.setdefault(pattern, rule)
        del self._wild[_MOST:], self._others[_MOST:]

    def __bool__(self) -> bool:
        return bool(self._plain or self._wild or self._others)

    def rules_over(self, rule: checked.CheckedRule) -> list[checked.CheckedRule]:
        """Return the rules that together apply to all of the rule's tools; none if some remain."""
        found: dict[int, checked.CheckedRule] = {}
        for pattern in patterns_of(rule.tools):
            over = self._over(pattern)
            # A layer may restrict the grants of a pack; packs are made for that.
            if over is None or (rule.of_pack and over.span.file != rule.span.file):
                return []
            found[id(over)] = over
        return list(found.values())

    def _over(self, pattern: ToolPattern) -> checked.CheckedRule | None:
        rule = self._plain.get(pattern)
        if rule is not None:
            return rule
        for wide, rule in self._wild:
            if part_includes(wide, pattern):
                return rule
        return next((r for r in self._others if self._matches_all_known(r, pattern)), None)

    def _matches_all_known(self, rule: checked.CheckedRule, pattern: ToolPattern) -> bool:
        """Return whether a rule applies to all tools of a pattern, now and later."""
        catalog, name = self._overlaps.catalog, pattern.exact_name
        if not (catalog.complete if name is None else catalog.is_settled(name)):
            return False
        specs = self._overlaps.matching(ToolSelector(included=(pattern,), grants=False))
        return bool(specs) and all(map(rule.tools.matches, specs))


def _has_exceptions(tools: ToolSelector) -> bool:
    inner = (part for part in tools.included if isinstance(part, ToolSelector))
    return bool(tools.excluded) or any(map(_has_exceptions, inner))


def _is_special(pattern: ToolPattern) -> bool:
    """Return whether a pattern may match a tool that another pattern names differently."""
    return pattern.origin is not None or "?" in pattern.text
