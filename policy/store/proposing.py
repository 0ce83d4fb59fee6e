"""Proposes the rule text that would allow exactly one call that asked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from types import MappingProxyType

from policy.catalog import Catalog
from policy.decision import Decision
from policy.diagnostics import has_errors, visible
from policy.generation import POLICY_SUFFIX, Builder, Generation, Snapshot, content_digest, decode
from policy.model import Caller, Facts, ToolCall, nothing_used
from policy.store.status import first_error
from policy.syntax import Engine
from policy.verify import ExactCall, Judge, NoProposal, Proposal, Situation, propose


def propose_rule(
    snapshot: Snapshot,
    generation: Generation,
    asked: tuple[ToolCall, Caller, Facts],
    *,
    catalog: Catalog,
    name: str,
    now: datetime,
    builder: Builder | None = None,
    engine: Engine = "tables",
) -> Proposal | NoProposal:
    """Return the edit of the files of `snapshot` that would allow the call `asked`.

    `generation` was built from these files with `catalog`, perhaps by `builder`; a new rule is
    called `name`. `engine` parses statements. Nothing is written.
    """
    call, caller, facts = asked
    facts = generation.complete(_without_budgets(facts))
    spec = generation.catalog.get(call.tool)
    if spec is None:
        return NoProposal(why=("the tool is no longer known",))
    judge = _judge(generation)
    decision = judge(call, caller, facts)
    building = builder or Builder()

    def rebuild(texts: Mapping[str, str]) -> Judge | str:
        built = building.build(_with(snapshot, texts), catalog=catalog, number=1, now=now)
        if built.generation is None or has_errors(built.diagnostics):
            return visible(first_error(built.diagnostics) or "it cannot be built", 300)
        return _judge(built.generation)

    return propose(
        Situation(
            # As it would run: defaults filled in, rewrites applied.
            asked=ExactCall(call=decision.call, caller=caller, facts=facts, spec=spec),
            decision=decision,
            texts=_texts(snapshot),
            judge=judge,
            rebuild=rebuild,
            name=name,
            tools=tuple(each.name for each in generation.catalog.specs),
            engine=engine,
        )
    )


def _without_budgets(facts: Facts) -> Facts:
    """Return the facts with nothing used of limits, unless it is known: a rule is to be found."""
    if facts.history is not None or facts.resolvers.balance is not None:
        return facts
    return replace(facts, resolvers=replace(facts.resolvers, balance=nothing_used))


def _judge(generation: Generation) -> Judge:
    def judge(call: ToolCall, caller: Caller, facts: Facts) -> Decision:
        return generation.decide(call, caller, facts=facts)

    return judge


def _texts(snapshot: Snapshot) -> Mapping[str, str]:
    found: dict[str, str] = {}
    for name, file in snapshot.files.items():
        source, _ = decode(name, file.content) if name.endswith(POLICY_SUFFIX) else (None, ())
        if source is not None:
            found[name] = source.text
    return found


def _with(snapshot: Snapshot, texts: Mapping[str, str]) -> Snapshot:
    """Return the snapshot as it would be read with these texts in it."""
    files = dict(snapshot.files)
    for name, text in texts.items():
        files[name] = replace(files[name], content=text.encode())
    digests = "\n".join(content_digest(files[name].content) for name in sorted(files))
    digest = content_digest(digests.encode())
    return replace(snapshot, files=MappingProxyType(files), digest=digest)
