"""Lint: an `allow` that grants no more than another rule of the layer."""

from __future__ import annotations

from collections import Counter
from typing import TypeAlias

from policy.catalog import ToolPattern, ToolSelector, includes
from policy.checks.checked import CheckedRule
from policy.checks.context import CheckContext
from policy.checks.lints.context import LintContext
from policy.diagnostics import Label
from policy.model import Verdict

# Rules by the texts of their conditions.
_Groups: TypeAlias = dict[tuple[str | None, str | None], list[CheckedRule]]

# Above this number of rules with one condition, comparing all pairs would take too long.
_MOST = 200


def find(context: LintContext) -> None:
    """Report every `allow` without effect."""
    for policy in context.policies:
        # A filter's list also denies all other tools, so its items are never redundant.
        allows = [
            r
            for r in policy.rules
            if r.verdict is Verdict.ALLOW
            and not (r.shadow or r.broken or r.id.startswith("table:filter."))
        ]
        groups: _Groups = {}
        for rule in allows:
            groups.setdefault(rule.texts, []).append(rule)
        reported = _find_repeated(groups, context.check)
        plain = [rule for rule in groups.get((None, None), ()) if not rule.with_approval]
        if plain:
            _find_given_anyway(allows, plain, reported, context.check)


def _find_repeated(groups: _Groups, check: CheckContext) -> set[int]:
    """Report rules whose tools and conditions another rule covers; return their identities."""
    reported: set[int] = set()
    for rules in groups.values():
        if len(rules) < 2:
            continue
        few = rules[:_MOST]
        if _are_of_one_tool_each(few):
            continue
        wider = _Wider(few)
        for place, rule in enumerate(few):
            other = next(
                (r for r in wider.than(rule) if r is not rule and _is_better(r, rule, few, place)),
                None,
            )
            if other is not None:
                reported.add(id(rule))
                text = "another rule allows the same calls under the same conditions"
                _report(rule, other, text, check)
    return reported


def _are_of_one_tool_each(rules: list[CheckedRule]) -> bool:
    """Return whether each rule names one tool, all different, so that none covers another."""
    names = {rule.tools.exact_names() for rule in rules}
    return len(names) == len(rules) and all(one is not None and len(one) == 1 for one in names)


class _Wider:
    """Finds, for each rule, the rules that may cover all of its tools, in the order of the text.

    Of the rules about a single tool name, only those about the same name are compared.
    """

    def __init__(self, rules: list[CheckedRule]) -> None:
        self._others: list[tuple[int, CheckedRule]] = []
        self._by_tool: dict[ToolPattern, list[tuple[int, CheckedRule]]] = {}
        for placed in enumerate(rules):
            tool = _only_tool(placed[1].tools)
            if tool is None:
                self._others.append(placed)
            else:
                self._by_tool.setdefault(tool, []).append(placed)
        self._all = rules

    def than(self, rule: CheckedRule) -> list[CheckedRule]:
        """Return the rules that may cover every tool of `rule`."""
        tool = _only_tool(rule.tools)
        if tool is None:
            return self._all
        same = self._by_tool.get(tool, [])
        found = sorted((*self._others, *same), key=_place) if self._others else same
        return [one for _, one in found]


def _place(placed: tuple[int, CheckedRule]) -> int:
    return placed[0]


def _only_tool(tools: ToolSelector) -> ToolPattern | None:
    """Return the pattern of a selector of one tool by its name alone."""
    if len(tools.included) != 1 or tools.excluded:
        return None
    pattern = tools.included[0]
    if not isinstance(pattern, ToolPattern) or tools.exact_names() is None:
        return None
    return None if "\\" in pattern.text else pattern


def _is_better(other: CheckedRule, rule: CheckedRule, rules: list[CheckedRule], place: int) -> bool:
    """Return whether `other` makes `rule` redundant; of two equal rules, the first one stays.

    A rule that requires approval is never redundant.
    """
    if rule.with_approval or not _grants_as_much(other, rule):
        return False
    alike = not other.with_approval and _grants_as_much(rule, other)
    return not alike or any(earlier is other for earlier in rules[:place])


def _grants_as_much(rule: CheckedRule, other: CheckedRule) -> bool:
    """Return whether `rule` covers every tool of `other`, with the same conditions."""
    # In this order: the conditions of a stored rule are parsed on access.
    return includes(rule.tools, other.tools) and (
        (rule.when, rule.unless) == (other.when, other.unless)
    )


def _find_given_anyway(
    allows: list[CheckedRule], plain: list[CheckedRule], reported: set[int], check: CheckContext
) -> None:
    """Report rules all of whose tools are allowed without any condition."""
    wide = _Wider(plain)
    granted = Counter(
        spec.name
        for rule in plain
        if id(rule) not in reported
        for spec in check.tools.matching(rule.tools)
    )
    for rule in reversed(allows):
        # A wildcard may match tools added later; a rule that requires approval is not redundant.
        if id(rule) in reported or rule.with_approval:
            continue
        own = 1 if _is_plain(rule) else 0
        wider = next(
            (r for r in wide.than(rule) if r is not rule and includes(r.tools, rule.tools)), None
        )
        names = [spec.name for spec in check.tools.matching(rule.tools)]
        exact = rule.tools.exact_names()
        known = names and exact is not None and all(map(check.catalog.is_settled, exact))
        if (wider is not None and not own) or (
            known and all(granted[name] > own for name in names)
        ):
            text = "another rule allows the same tools without a condition"
            _report(rule, wider, text, check)
            granted.subtract(names if own else ())


def _report(rule: CheckedRule, other: CheckedRule | None, text: str, check: CheckContext) -> None:
    labels = () if other is None else (Label(span=other.span, text="the other one"),)
    check.report.add(
        "redundant-allow", text, span=rule.span, labels=labels, help="remove one of the two"
    )


def _is_plain(rule: CheckedRule) -> bool:
    return rule.texts == (None, None) and not rule.with_approval
