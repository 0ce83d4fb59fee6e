"""Proposes the rule text that would allow exactly one call that asks; writes nothing.

A proposal has been verified: with it, this call is allowed, and no call close to it gets a less
strict verdict than before. No text is proposed where a rule names who must answer, or where the
tool, the floor or an indeterminate condition asks.
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
# Returns the judge made from the files with these texts replaced, or why the build failed.
Rebuild: TypeAlias = Callable[[Mapping[str, str]], Judge | str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Situation:
    """A call that asks under the policy as it is: `texts` are its rule files, by name.

    `name` is the name of a new rule. `tools` are all tools that calls may name. `engine` is what
    parses texts.
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
    """Edits that together allow the call, each of a different file."""

    edits: tuple[Edit, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class NoProposal:
    """Why there is no text to propose, one sentence per reason."""

    why: tuple[str, ...]


class _NoText(Exception):
    """No text in these files can lift what asks; the message says why."""


def propose(situation: Situation) -> Proposal | NoProposal:
    """Return the narrowest text that allows the call, verified with calls close to it."""
    decision = situation.decision
    if decision.verdict is not Verdict.ASK:
        return NoProposal(why=(f"the policy's verdict on this call is now {decision.verdict}",))
    hindrances = tuple(dict.fromkeys(filter(None, map(_hindrance, decision.deciding))))
    if hindrances:
        return NoProposal(why=hindrances)
    texts = dict(situation.texts)
    try:
        conditions = exact_conditions(situation.asked)
        for reason in dict.fromkeys(decision.deciding):
            _lift(situation, reason, texts, conditions)
    except Inexpressible as error:
        return NoProposal(why=(f"no rule can match exactly this call: {error}",))
    except _NoText as error:
        return NoProposal(why=(str(error),))
    problem = _problem(situation, texts)
    if problem is not None:
        return NoProposal(why=(f"no narrow rule was found: {problem}",))
    before = situation.texts
    changed = (name for name in texts if texts[name] != before[name])
    return Proposal(edits=tuple(Edit(file=n, before=before[n], after=texts[n]) for n in changed))


def _hindrance(reason: Reason) -> str | None:
    """Return why no rule text can lift this opinion; None where one may."""
    if reason.undecided is not None:
        return (
            f"`{reason.rule}` asks because it is indeterminate ({reason.undecided}); such a call "
            "must be approved each time"
        )
    known = _NEVER.get(reason.rule)
    if known is not None:
        return known
    if reason.rule.startswith("table:"):
        return (
            f"the key `{reason.rule.removeprefix('table:')}` of a table asks, and a key cannot be "
            "narrower than a tool: remove it from the table and write a rule instead"
        )
    terms = reason.terms
    if terms is not None and not terms.plain:
        return (
            f"`{reason.rule}` names who must answer; only its authors may remove that, by "
            "changing the rule itself"
        )
    if reason.file is None:
        return f"`{reason.rule}` is not in a rule file"
    return None


_NEVER = {
    "confirmation": (
        "the tool itself asks for confirmation, which no rule can lift; its definition, or "
        "`requires_confirmation` in placet.toml, would have to change"
    ),
    "pin": "the tool is new or has changed; reviewing its definition lifts this, a rule cannot",
    "floor": "the call may write the policy's own files; no rule can lift that",
    "filter": "a filter of the host application asks; no rule can lift that",
}


def _lift(
    situation: Situation,
    reason: Reason,
    texts: dict[str, str],
    conditions: tuple[tree.Expr, ...],
) -> None:
    """Edit `texts` so that one opinion no longer asks."""
    file = reason.file or ""
    if file not in texts:
        raise _NoText(f"`{reason.rule}` is in {file}, which is not a rule file of this folder")
    parsed = parse(Source(name=file, text=texts[file]), engine=situation.engine)
    tool, name = situation.asked.call.tool, _free_name(situation.name, texts)
    if reason.rule == "default":
        text = edits.with_rule(parsed, edits.allowing(name, tool, conditions))
    else:
        rule = _rule(parsed, reason)
        if rule.tools != edits.exact_tool(tool):
            # The exception is for the rule's own subject, which is not this tool alone.
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
        raise _NoText(f"`{reason.rule}` is no longer where it was when approval was requested")
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
        return f"with it the verdict would still be {verdict}"
    for near in near_misses(asked, situation.tools):
        before = situation.judge(near.call, near.caller, near.facts)
        if near.of_input and before.call == asked.call:
            continue  # the same call written differently, such as with a default written out
        after = judge(near.call, near.caller, near.facts)
        if after.verdict.rank < before.verdict.rank:
            return f"it would also allow a call with another {near.differs_in}"
    return None
