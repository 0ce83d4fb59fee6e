"""An explanation as text: the verdict first, then why, then everything else."""

from __future__ import annotations

import json
from collections.abc import Iterator
from decimal import Decimal
from shutil import get_terminal_size
from textwrap import wrap
from typing import Any

import click

from policy.cli.clause_text import clause_lines
from policy.cli.confinement_text import confinement_lines
from policy.cli.explained_rules import divides, listed_rules
from policy.cli.workspace import Workspace
from policy.decision import Explanation, LayerOutcome, ResourceUse, RuleOutcome
from policy.diagnostics import display_name, visible
from policy.model import Reason, Verdict, thaw
from policy.shell import script_for

_COLORS = {Verdict.ALLOW: "green", Verdict.ASK: "yellow", Verdict.DENY: "red"}
_ORIGINS = {
    "call": "as the call says",
    "placet.toml": "as placet.toml says",
    "current folder": "the current folder",
}
_LONGEST_INPUT = 1000
_LONGEST_TEXT = 400
_MOST_RESOURCES = 20
_MOST_NEEDED = 12
_WIDEST = 100  # columns; longer lines are hard to read even where there is room


def explanation_text(
    explanation: Explanation,
    *,
    tool: str,
    input: Any,
    root: str,
    every: bool = False,
    width: int | None = None,
) -> str:
    """Return the text; `tool` and `input` are those of the request, `root` prefixes file names.

    With `every`, rules of shipped packs that do not match are listed too. Lines are as wide as the
    terminal, or `width`.
    """
    columns = get_terminal_size().columns if width is None else width
    account = _Account(explanation, root=root, every=every, width=min(columns, _WIDEST))
    return "\n".join(account.lines(tool, input))


def workspace_text(workspace: Workspace | None) -> str:
    """Return the line that says in which workspace a call was judged, and where that is from."""
    if workspace is None:
        return "without a workspace"
    origin = _ORIGINS[workspace.origin]
    return f"in the workspace {visible(workspace.path, _LONGEST_TEXT)} ({origin})"


class _Account:
    """One explanation as it is written."""

    def __init__(self, explanation: Explanation, *, root: str, every: bool, width: int) -> None:
        self.explanation = explanation
        self.root = root
        self.every = every
        self.width = width
        self.refused = any(reason.rule == "schema" for reason in explanation.decision.reasons)

    def lines(self, tool: str, input: Any) -> Iterator[str]:
        decision = self.explanation.decision
        yield from self._head(tool, input)
        yield ""
        yield "because"
        for reason in decision.deciding:
            yield from self._reason(reason)
        yield from self._resources()
        yield from self._confinement()
        if self.explanation.needed and not self.refused:
            yield ""
            yield "to be allowed"
            for needed in self.explanation.needed[:_MOST_NEEDED]:
                yield from self._text(visible(needed, _LONGEST_TEXT), indent=2, hanging=4)
            if len(self.explanation.needed) > _MOST_NEEDED:
                yield f"  and {len(self.explanation.needed) - _MOST_NEEDED} more"
        if not self.refused:
            for layer in self.explanation.layers:
                yield from self._layer(layer)
        yield from self._shadowed()
        if decision.generation is not None:
            yield ""
            yield f"decided by the policy {decision.generation.digest[:19]}…"

    def _head(self, tool: str, input: Any) -> Iterator[str]:
        decision = self.explanation.decision
        verdict = str(decision.verdict)
        name, given = (tool, input) if self.refused else (decision.call.tool, decision.call.input)
        text = f"{verdict}  {visible(name, 200)} {_json(given)}"
        first, *rest = self._text(text, indent=0, hanging=len(verdict) + 2)
        styled = click.style(verdict, fg=_COLORS[decision.verdict], bold=True)
        yield styled + first.removeprefix(verdict)
        yield from rest
        if decision.rewritten:
            yield from self._text(f"rewritten from {_json(decision.asked.input)}", indent=6)
        for repair in decision.repairs:
            yield from self._text(f"repaired: {visible(repair, _LONGEST_TEXT)}", indent=6)

    def _reason(self, reason: Reason) -> Iterator[str]:
        yield from self._text(f"{reason.verdict} by {reason.rule}{self._place(reason)}", indent=2)
        if reason.clause:
            yield from self._text(visible(reason.clause, _LONGEST_TEXT), indent=4)
        if reason.undecided:
            text = f"indeterminate: {visible(reason.undecided, _LONGEST_TEXT)}"
            yield from self._text(text, indent=4)
        if reason.message:
            yield from self._text(visible(reason.message, _LONGEST_TEXT), indent=4)
        if reason.limit is not None and reason.limit.used is not None:
            used = f"{reason.limit.used} of {reason.limit.capacity} used"
            yield from self._text(visible(used, _LONGEST_TEXT), indent=4)

    def _place(self, reason: Reason) -> str:
        if not reason.file:
            return ""
        return f" ({visible(display_name(reason.file, root=self.root))}:{reason.line})"

    def _confinement(self) -> Iterator[str]:
        confinement = self.explanation.decision.confinement
        if confinement is None:
            return
        yield ""
        yield "its code, by the rules"
        for line in confinement_lines(confinement):
            yield from self._text(line, indent=2, hanging=4)

    def _resources(self) -> Iterator[str]:
        found = () if self.refused else self.explanation.resources
        if not found:
            return
        yield ""
        yield "the call"
        for use in found[:_MOST_RESOURCES]:
            yield from self._text(_used(use), indent=2, hanging=4)
        if len(found) > _MOST_RESOURCES:
            yield f"  and {len(found) - _MOST_RESOURCES} more"
        form = script_for(self.explanation.decision.call.tool, self.explanation.decision.call.input)
        if form is not None:
            yield from self._text(f"runs as: {visible(form, _LONGEST_TEXT)}", indent=2, hanging=4)

    def _layer(self, layer: LayerOutcome) -> Iterator[str]:
        yield ""
        yield from self._text(
            f"the layer for {visible(layer.layer, 100)}, asked by agent {visible(layer.agent, 80)}",
            indent=0,
        )
        listed = listed_rules(layer.rules, every=self.every)
        for rule in listed.rules:
            yield from self._rule(rule)
        if listed.others:
            yield from self._text(listed.others, indent=2, hanging=4)
        if layer.default is not None:
            counts = "counts" if layer.default_counts else "overridden by an allow"
            place = self._place(layer.default)
            yield from self._text(f"{layer.default.clause}{place}: {counts}", indent=2)
        if not layer.rules and layer.default is None:
            yield "  no rule covers this tool"

    def _rule(self, rule: RuleOutcome) -> Iterator[str]:
        text = f"{rule.kind} {rule.reason.rule}{self._place(rule.reason)}: {_came_to(rule)}"
        yield from self._text(text, indent=2, hanging=4)
        for clause in rule.clauses:
            for depth, line in clause_lines(clause, divided=self.every or divides(rule)):
                indent = 4 + 2 * depth
                yield from self._text(line, indent=indent, hanging=indent + 2)
        if rule.counts and rule.on_result is not None:
            text = f"applies if, of the result: {visible(rule.on_result, _LONGEST_TEXT)}"
            yield from self._text(text, indent=4, hanging=6)
        if rule.outcome == "indeterminate" and all(c.why is None for c in rule.clauses):
            why = f"? {visible(rule.why or '', _LONGEST_TEXT)}"
            yield from self._text(why, indent=4, hanging=6)

    def _shadowed(self) -> Iterator[str]:
        if not self.explanation.decision.shadowed:
            return
        yield ""
        yield "without effect, in shadow"
        for reason in self.explanation.decision.shadowed:
            yield from self._reason(reason)

    def _text(self, text: str, *, indent: int, hanging: int | None = None) -> list[str]:
        return wrap(
            text,
            self.width,
            initial_indent=" " * indent,
            subsequent_indent=" " * (indent + 2 if hanging is None else hanging),
            break_long_words=False,
            break_on_hyphens=False,
        )


def _came_to(rule: RuleOutcome) -> str:
    if rule.kind == "limit":
        counted = "counts this call" if rule.counts else "does not count this call"
        return f"indeterminate, {counted}" if rule.outcome == "indeterminate" else counted
    if rule.outcome == "indeterminate":
        return "indeterminate, treated as a match" if rule.counts else "indeterminate"
    return "matches" if rule.counts else "does not match"


def _json(value: Any) -> str:
    return json_for_people(value, limit=_LONGEST_INPUT)


def json_for_people(value: Any, *, limit: int | None = None) -> str:
    """Return a value as one line of JSON for people, with hidden characters escaped."""
    text = json.dumps(thaw(value), ensure_ascii=False, default=_number)
    return visible(text, limit)


def _number(value: Any) -> Any:
    return str(value) if isinstance(value, Decimal) else repr(value)


_TO = {"connects": "connects to", "sends": "sends to"}


def _used(use: ResourceUse) -> str:
    """Return what is read, written, run or reached, by which program and through which links."""
    verb = _TO.get(use.verb, use.verb)
    who = f"{visible(use.program, 100)} {verb}" if use.program else verb
    said = [f"{who} {visible(use.leads_to or use.resource, 200)}"]
    if use.links:
        said.append(f"through the link {' and '.join(visible(link, 200) for link in use.links)}")
    if use.spelled:
        said.append(f"spelled `{visible(use.spelled, 100)}`")
    if use.unknown:
        said.append(visible(use.unknown, 200))
    if use.argument:
        said.append(f"by `{visible(use.argument, 100)}`")
    if use.place:
        said.append(visible(use.place, 100))
    return ", ".join(said)
