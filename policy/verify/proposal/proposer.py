"""Finds the narrowest text that allows exactly one call; nothing is written.

What is proposed has been tried: with it, this call is allowed, and no call beside it is judged any
milder than before. Where people were named to answer, or the tool, the floor or a call that nobody
can read asks, no text is proposed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from difflib import unified_diff
from typing import TypeAlias

from policy.decision import Decision
from policy.model import Caller, Facts, Reason, Source, ToolCall, Verdict
from policy.syntax import Engine, Parsed, parse, tree
from policy.verify.proposal import edits
from policy.verify.proposal.exact_condition import (
    ExactCall,
    Inexpressible,
    exact_conditions,
    of_tool,
)
from policy.verify.proposal.near_misses import near_misses

Judge: TypeAlias = Callable[[ToolCall, Caller, Facts], Decision]
# The judge that the files make with these texts in place of theirs, or why they make none.
Rebuild: TypeAlias = Callable[[Mapping[str, str]], Judge | str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Situation:
    """A call that asks under the policy as it is: `texts` are its rule files, by name.

    `name` is what a new rule is to be called. `tools` are all that calls may name. With `plain`,
    texts are read by Lark alone.
    """

    asked: ExactCall
    decision: Decision
    texts: Mapping[str, str]
    judge: Judge
    rebuild: Rebuild
    name: str
    tools: tuple[str, ...]
    engine: Engine = "tables"


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit:
    """One file before and after."""

    file: str
    before: str
    after: str

    def diff(self, *, root: str = "") -> str:
        """Return the edit as a unified diff; `root` goes before the file's name."""
        lines = unified_diff(
            self.before.splitlines(keepends=True),
            self.after.splitlines(keepends=True),
            f"a/{root}{self.file}",
            f"b/{root}{self.file}",
        )
        return "".join(line if line.endswith("\n") else f"{line}\n" for line in lines)


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """Edits that together allow the call, each of a file of its own."""

    edits: tuple[Edit, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class NoProposal:
    """Why there is no text to propose; each reason a sentence of its own."""

    why: tuple[str, ...]


class _NoText(Exception):
    """What asks cannot be lifted by a text of these files; the message says why."""


def propose(situation: Situation) -> Proposal | NoProposal:
    """Return the narrowest text that allows the call, tried on it and the calls beside it."""
    decision = situation.decision
    if decision.verdict is not Verdict.ASK:
        return NoProposal(why=(f"the policy says {decision.verdict} to this call now",))
    hindrances = tuple(dict.fromkeys(filter(None, map(_hindrance, decision.deciding))))
    if hindrances:
        return NoProposal(why=hindrances)
    texts = dict(situation.texts)
    try:
        conditions = exact_conditions(situation.asked)
        for reason in dict.fromkeys(decision.deciding):
            _lift(situation, reason, texts, conditions)
    except Inexpressible as error:
        return NoProposal(why=(f"no rule can say exactly this call: {error}",))
    except _NoText as error:
        return NoProposal(why=(str(error),))
    problem = _problem(situation, texts)
    if problem is not None:
        return NoProposal(why=(f"no narrow rule was found: {problem}",))
    before = situation.texts
    changed = (name for name in texts if texts[name] != before[name])
    return Proposal(edits=tuple(Edit(file=n, before=before[n], after=texts[n]) for n in changed))


def _hindrance(reason: Reason) -> str | None:
    """Return why no text of a rule lifts what this opinion asks; None where one may."""
    if reason.undecided is not None:
        return (
            f"`{reason.rule}` asks because it cannot be decided ({reason.undecided}); a call that "
            "nobody can read must be asked about each time"
        )
    known = _NEVER.get(reason.rule)
    if known is not None:
        return known
    if reason.rule.startswith("table:"):
        return (
            f"the key `{reason.rule.removeprefix('table:')}` of a table asks, and no key is "
            "narrower than a tool: take it out of the table and say it in a rule"
        )
    terms = reason.terms
    if terms is not None and not terms.plain:
        return (
            f"`{reason.rule}` names who must answer; only its authors may take that away, by "
            "changing the rule itself"
        )
    if reason.file is None:
        return f"`{reason.rule}` stands in no rule file"
    return None


_NEVER = {
    "confirmation": (
        "the tool itself asks for confirmation, which no rule takes away; its definition, or "
        "`requires_confirmation` in placet.toml, would have to change"
    ),
    "pin": "the tool is new or has changed; reviewing its definition lifts this, no rule does",
    "floor": "the call may touch the policy's own files; no rule lifts that",
    "filter": "a filter of the program around the service asks; no rule lifts that",
}


def _lift(
    situation: Situation,
    reason: Reason,
    texts: dict[str, str],
    conditions: tuple[tree.Expr, ...],
) -> None:
    """Write into `texts` what lifts one opinion."""
    file = reason.file or ""
    if file not in texts:
        raise _NoText(f"`{reason.rule}` stands in {file}, which is no rule file of this folder")
    parsed = parse(Source(name=file, text=texts[file]), engine=situation.engine)
    tool, name = situation.asked.call.tool, _free_name(situation.name, texts)
    if reason.rule == "default":
        text = edits.with_rule(parsed, edits.allowing(name, tool, conditions))
    else:
        rule = _rule(parsed, reason)
        if rule.tools != edits.exact_tool(tool):
            # An exception is made for what the rule is about, and that is not this tool alone.
            conditions = (of_tool(situation.asked.spec), *conditions)
        if rule.verdict is Verdict.ASK:
            text = edits.with_exception(parsed, rule, conditions)
        else:
            text = edits.with_allowed_part(parsed, rule, conditions, name=name, tool=tool)
    texts[file] = edits.finished(parsed, text, engine=situation.engine)


def _rule(parsed: Parsed, reason: Reason) -> tree.Rule:
    # A rule of a pack is known by the pack's name and its own.
    rule = edits.rule_at(parsed, reason.rule.rpartition(".")[2], reason.line or 0)
    if rule is None or rule.verdict is Verdict.DENY:
        raise _NoText(f"`{reason.rule}` is not where it was when the question was put")
    return rule


def _free_name(wanted: str, texts: Mapping[str, str]) -> str:
    name, number = wanted, 1
    while any(name in text for text in texts.values()):
        number += 1
        name = f"{wanted}-{number}"
    return name


def _problem(situation: Situation, texts: Mapping[str, str]) -> str | None:
    """Return what is wrong with the texts: they must allow this call, and no other."""
    judge = situation.rebuild(texts)
    if isinstance(judge, str):
        return f"with it the policy would not load: {judge}"
    asked = situation.asked
    verdict = judge(asked.call, asked.caller, asked.facts).verdict
    if verdict is not Verdict.ALLOW:
        return f"with it the policy would still say {verdict}"
    for near in near_misses(asked, situation.tools):
        before = situation.judge(near.call, near.caller, near.facts)
        if near.of_input and before.call == asked.call:
            continue  # another spelling of this very call, such as one with a default spelled out
        after = judge(near.call, near.caller, near.facts)
        if after.verdict.rank < before.verdict.rank:
            return f"it would also let through a call with another {near.differs_in}"
    return None
