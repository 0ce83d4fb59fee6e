"""A program and a caller in; the lines that tell a model what binds it out, one for each rule.

Nothing is decided by them, and shadow rules and remarks for the log are not among them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from policy.call import Caller
from policy.catalog import ToolSelector, ToolSpec
from policy.checks import CheckedPolicy
from policy.decision.identity import closed_to, scope_of
from policy.decision.phrases import code, listed
from policy.decision.sentences import default_sentence, rewrite_sentence, rule_sentence, said
from policy.facts import Facts
from policy.program import Program
from policy.values import escape_for_people
from policy.verdict import Verdict

_MOST_LINES = 200
_MOST_TOOLS = 8
_MOST_EXCEPTIONS = 3
_LONGEST_TITLE = 100


def lines_for(program: Program, caller: Caller, facts: Facts) -> tuple[str, ...]:
    """Return what binds a caller and everybody it acts for, each line once, in a fixed order.

    Rules come first, the global layer's before others, then what tools ask of themselves, then
    the defaults. Beyond a bound the rest is counted.
    """
    chain = tuple(caller.chain())
    closed = next((why for one in chain if (why := closed_to(one, facts.now))), None)
    if closed is not None:
        return (said("every call is denied", closed.message),)
    found: dict[str, None] = {}
    defaults: dict[str, None] = {}
    for one in chain:
        found.update(dict.fromkeys(_scope_lines(one)))
        layers = program.policy.binding(agent=one.agent, role=one.role)
        for layer in layers:
            scene = _Layer(layer, layers[0], program)
            found.update(dict.fromkeys(scene.rules()))
            defaults.update(dict.fromkeys(scene.defaults()))
    found.update(dict.fromkeys(_tool_lines(program)))
    lines = (*found, *(line for line in defaults if line not in found))
    if len(lines) <= _MOST_LINES:
        return lines
    # The last lines are the defaults: they say what counts where no line is shown.
    kept = max(_MOST_LINES - len(defaults), 0)
    left = len(found) - kept
    return (
        *lines[:kept],
        f"{left} more rules are not shown here; they bind all the same.",
        *defaults,
    )


class _Layer:
    """One layer as it binds a caller, beside the layer of every agent."""

    def __init__(self, layer: CheckedPolicy, top: CheckedPolicy, program: Program) -> None:
        self._layer = layer
        self._specs = program.catalog.specs
        self._catalog = program.catalog
        self._top = top
        self._delegated = [d.tools for d in top.delegations if d.to == layer.key]
        # What another layer gives counts for that layer alone.
        self._within = (
            "" if layer is top else f"for {escape_for_people(layer.key.title, _LONGEST_TITLE)}, "
        )

    def rules(self) -> Iterator[str]:
        """Yield a line for each rule and rewrite that fits some tool there is."""
        for rule in self._layer.rules:
            specs = () if rule.shadow else self._fitting(rule.tools)
            if specs:
                gives = rule.verdict is Verdict.ALLOW and not rule.asks and not self._fills(specs)
                within = self._within if gives else ""
                yield rule_sentence(rule, self._subject(specs), within=within)
        for rewrite in self._layer.rewrites:
            specs = () if rewrite.shadow else self._fitting(rewrite.tools)
            if specs:
                yield rewrite_sentence(rewrite, self._subject(specs))

    def defaults(self) -> Iterator[str]:
        """Yield a line for each default, those for some tools first."""
        plain = [default for default in self._layer.defaults if default.tools is None]
        for default in self._layer.defaults:
            specs = () if default.tools is None else self._fitting(default.tools)
            if specs:
                subject, within = self._subject(specs), "" if self._fills(specs) else self._within
                yield default_sentence(default, subject, within=within)
        if self._layer is self._top and any(d.verdict is not Verdict.DENY for d in plain):
            yield from self._handed_over()
        for default in plain:
            yield default_sentence(default, "everything else", within=self._within)

    def _handed_over(self) -> Iterator[str]:
        """Yield that what the global layer delegates has nothing from its plain default."""
        selectors = [delegation.tools for delegation in self._layer.delegations]
        specs = tuple(s for s in self._specs if any(tools.fits(s) for tools in selectors))
        if specs:
            yield said(f"{self._subject(specs)} is denied otherwise")

    def _fills(self, specs: tuple[ToolSpec, ...]) -> bool:
        """Tell whether the global layer lets this one give these tools."""
        return all(any(tools.fits(spec) for tools in self._delegated) for spec in specs)

    def _fitting(self, tools: ToolSelector) -> tuple[ToolSpec, ...]:
        names = tools.exact_names()
        if names is None:
            return tuple(spec for spec in self._specs if tools.fits(spec))
        named = (self._catalog.get(name) for name in sorted(names))
        return tuple(spec for spec in named if spec is not None and tools.fits(spec))

    def _subject(self, specs: tuple[ToolSpec, ...]) -> str:
        return _subject(specs, self._specs)


def _subject(specs: tuple[ToolSpec, ...], known: tuple[ToolSpec, ...]) -> str:
    """Return the tools of a sentence: `` `a` ``, ``each of `a` and `b` ``, `every tool`."""
    names = _names(specs)
    if len(specs) == 1:
        return names[0]
    if len(specs) == len(known):
        return "every tool"
    left = len(known) - len(specs)
    if left <= _MOST_EXCEPTIONS and left < len(specs):
        fitting = {spec.name for spec in specs}
        return f"every tool but {listed(_names(s for s in known if s.name not in fitting), 'and')}"
    return f"each of {listed(names, 'and', most=_MOST_TOOLS)}"


def _names(specs: Iterable[ToolSpec]) -> list[str]:
    return [code(spec.name) for spec in specs]


def _scope_lines(caller: Caller) -> Iterator[str]:
    scope = scope_of(caller)
    if scope is not None:
        tools = listed([code(pattern) for pattern in scope], "and", most=_MOST_TOOLS)
        what = f"every tool but {tools}" if tools else "every tool"
        yield said(f"{what} is denied", "the tool is outside the guest's scope")


def _tool_lines(program: Program) -> Iterator[str]:
    """Yield what only takes, whatever the rules say: confirmations, reviews and the floor."""
    known = program.catalog.specs
    confirmed = tuple(spec for spec in known if spec.requires_confirmation)
    if confirmed:
        yield said(f"{_subject(confirmed, known)} needs an approval", "the tool itself asks for it")
    unseen = tuple(spec for spec in known if spec.origin.kind != "host" and not spec.pinned)
    if unseen:
        why = "nobody has reviewed its definition"
        yield said(f"{_subject(unseen, known)} needs an approval", why)
    if program.floor.files or program.floor.folders:
        yield said("every call that writes the policy's own files is denied")
