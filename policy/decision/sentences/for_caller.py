"""The lines that tell a model which rules apply to its caller, one for each rule.

They inform only and decide nothing; shadow rules and notes for the log are left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from policy.catalog import ToolSelector, ToolSpec
from policy.checks import CheckedPolicy
from policy.decision.identity import closed_to, scope_of
from policy.decision.sentences.conditions import code_span, listed
from policy.decision.sentences.rules import (
    default_sentence,
    limit_sentence,
    redaction_sentence,
    rewrite_sentence,
    rule_sentence,
    sentence_with_reason,
)
from policy.model import Caller, Facts, Verdict
from policy.program import Program
from policy.values import escape_for_display

_MOST_LINES = 200
_MOST_DEFAULTS = 50
_MOST_TOOLS = 8
_MOST_EXCEPTIONS = 3
_UNREVIEWED = {Verdict.ASK: "needs an approval", Verdict.DENY: "is denied"}
_LONGEST_TITLE = 100


def lines_for(program: Program, caller: Caller, facts: Facts) -> tuple[str, ...]:
    """Return what applies to a caller and all it acts for, each line once, in a fixed order.

    Rules come first, the global layer's before others, then what tools require themselves, then
    the defaults. Beyond a bound only the number of lines is given; the general defaults stay.
    """
    chain = tuple(caller.chain())
    closed = next((why for one in chain if (why := closed_to(one, facts.now))), None)
    if closed is not None:
        return (sentence_with_reason("every call is denied", closed.message),)
    layers = {
        layer.key: _LayerLines(layer, binding[0], program)
        for one in chain
        for binding in (program.policy.applying_to(agent=one.agent, role=one.role),)
        for layer in binding
    }
    lines = [line for one in chain for line in _scope_lines(one, program)]
    lines += [line for layer in layers.values() for line in layer.rules()]
    lines += _tool_lines(program)
    lines += [line for layer in layers.values() for line in layer.named_defaults()]
    last = [line for layer in layers.values() for line in layer.plain_defaults()]
    return _bounded(tuple(dict.fromkeys(lines)), tuple(dict.fromkeys(last)))


def _bounded(lines: tuple[str, ...], last: tuple[str, ...]) -> tuple[str, ...]:
    """Return all lines, or the first of them, the number of the rest, and the last ones."""
    last = last[:_MOST_DEFAULTS]
    room = _MOST_LINES - len(last)
    if len(lines) <= room:
        return (*lines, *last)
    left = f"{len(lines) - room} more rules are not shown here; they apply as well."
    return (*lines[:room], left, *last)


class _LayerLines:
    """One layer as it applies to a caller, beside the global layer."""

    def __init__(self, layer: CheckedPolicy, top: CheckedPolicy, program: Program) -> None:
        self._layer = layer
        self._specs = program.catalog.specs
        self._catalog = program.catalog
        self._top = top
        self._delegated = [d.tools for d in top.delegations if d.to == layer.key]
        # A grant of another layer counts for that layer alone.
        self._within = (
            "" if layer is top else f"for {escape_for_display(layer.key.title, _LONGEST_TITLE)}, "
        )

    def rules(self) -> Iterator[str]:
        """Yield a line for each rule, rewrite and limit that covers some existing tool."""
        for rule in self._layer.rules:
            specs = () if rule.shadow else self._matching(rule.tools)
            if specs:
                grants = rule.verdict is Verdict.ALLOW and not rule.asks and not self._fills(specs)
                within = self._within if grants else ""
                yield rule_sentence(rule, self._subject(specs, rule.tools), within=within)
        for rewrite in self._layer.rewrites:
            specs = () if rewrite.shadow else self._matching(rewrite.tools)
            if specs:
                yield rewrite_sentence(rewrite, self._subject(specs, rewrite.tools))
        for redaction in self._layer.redactions:
            specs = () if redaction.shadow else self._matching(redaction.tools)
            if specs:
                yield redaction_sentence(redaction, self._subject(specs, redaction.tools))
        for limit in self._layer.limits:
            specs = () if limit.shadow else self._matching(limit.tools)
            if specs:
                subject = self._subject(specs, limit.tools).removeprefix("each of ")
                yield limit_sentence(limit, subject.replace("every tool", "all tools"))

    def named_defaults(self) -> Iterator[str]:
        """Yield a line for each default that names its tools, and for delegated tools."""
        for default in self._layer.defaults:
            if default.tools is None:
                continue
            specs = self._matching(default.tools)
            if specs:
                within = "" if self._fills(specs) else self._within
                subject = self._subject(specs, default.tools)
                yield default_sentence(default, subject, within=within)
        plain = [default for default in self._layer.defaults if default.tools is None]
        if self._layer is self._top and any(d.verdict is not Verdict.DENY for d in plain):
            yield from self._handed_over()

    def plain_defaults(self) -> Iterator[str]:
        """Yield the default for every tool that no other line covers."""
        for default in self._layer.defaults:
            if default.tools is None:
                yield default_sentence(default, "everything else", within=self._within)

    def _handed_over(self) -> Iterator[str]:
        """Yield that tools which the global layer delegates get no grant from its plain default."""
        selectors = [delegation.tools for delegation in self._layer.delegations]
        specs = tuple(s for s in self._specs if any(tools.matches(s) for tools in selectors))
        if specs:
            yield sentence_with_reason(f"{_named(specs)} is denied otherwise")

    def _fills(self, specs: tuple[ToolSpec, ...]) -> bool:
        """Return whether the global layer delegates the grant for these tools to this one."""
        return all(any(tools.matches(spec) for tools in self._delegated) for spec in specs)

    def _matching(self, tools: ToolSelector) -> tuple[ToolSpec, ...]:
        names = tools.exact_names()
        if names is None:
            return tuple(spec for spec in self._specs if tools.matches(spec))
        return tuple(spec for spec in self._catalog.answering(names) if tools.matches(spec))

    def _subject(self, specs: tuple[ToolSpec, ...], tools: ToolSelector) -> str:
        """Return the tools of a sentence: `` `a` ``, ``each of `a` and `b` ``, `every tool`."""
        left = len(self._specs) - len(specs)
        if tools.exact_names() is not None or left > _MOST_EXCEPTIONS or left >= len(specs):
            return _named(specs)
        matching = {spec.name for spec in specs}
        others = _names(spec for spec in self._specs if spec.name not in matching)
        return f"every tool but {listed(others, 'and')}" if others else "every tool"


def _named(specs: tuple[ToolSpec, ...]) -> str:
    names = _names(specs)
    return names[0] if len(names) == 1 else f"each of {listed(names, 'and', most=_MOST_TOOLS)}"


def _names(specs: Iterable[ToolSpec]) -> list[str]:
    return [code_span(spec.name) for spec in specs]


def _scope_lines(caller: Caller, program: Program) -> Iterator[str]:
    """Yield what a guest's scope denies, by existing tools rather than by its patterns."""
    in_scope, known = scope_of(caller), program.catalog.specs
    if in_scope is None:
        return
    inside = _names(spec for spec in known if in_scope(spec))
    if len(inside) < len(known):
        but = f" but {listed(inside, 'and', most=_MOST_TOOLS)}" if inside else ""
        yield sentence_with_reason(
            f"every tool{but} is denied", "the tool is outside the guest's scope"
        )


def _tool_lines(program: Program) -> Iterator[str]:
    """Yield what only restricts, whatever the rules are: confirmations, reviews and the floor."""
    known = program.catalog.specs
    confirmed = tuple(spec for spec in known if spec.requires_confirmation)
    if confirmed:
        yield sentence_with_reason(
            f"{_named(confirmed)} needs an approval", "the tool itself asks for it"
        )
    why = "nobody has reviewed its definition"
    for verdict, effect in _UNREVIEWED.items():
        unseen = tuple(s for s in known if s.needs_review and s.unreviewed is verdict)
        if unseen:
            yield sentence_with_reason(f"{_named(unseen)} {effect}", why)
    if not program.floor.is_empty:
        yield sentence_with_reason("every call that writes the policy's own files is denied")
