"""Counts what a policy says to the commands that coding agents ran: `make corpus`.

The rows of the seen half are shown with `--rows`, by the reason for their verdict. Of the other
half only the totals are printed, so that nobody fits a pack to it.
"""

from __future__ import annotations

import argparse
import os
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from policy.decision import ClauseOutcome, Decision, PartOutcome, explain
from policy.environment import DiskLookups
from policy.model import Caller, Facts, Resolvers, Verdict
from tests.corpora.agent_rows import AgentCommand, agent_commands
from tests.corpora.judging import ROWS, generation

SHIPPED = ROWS / "shipped_coding.policy"
_VERDICTS = (Verdict.ALLOW, Verdict.ASK, Verdict.DENY)


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """A command and its decision; `causes` are the parts of the rules' conditions that decide."""

    row: AgentCommand
    decision: Decision
    causes: tuple[str, ...] = ()


def judged(policy: str, half: str, *, explained: bool = False) -> Iterator[Judged]:
    """Decide the commands of one half, each in its own workspace."""
    decide = generation(policy)
    for row in agent_commands(half):
        facts = Facts(
            cwd=row.cwd,
            workspace=row.workspace,
            home=row.home,
            resolvers=Resolvers(
                path=os.path.realpath,
                look=DiskLookups(os.path.realpath).look_up,
                folds=lambda _: False,
            ),
        )
        decision = decide.answer("bash_exec", {"command": row.command}, facts=facts).decision
        found: tuple[str, ...] = ()
        if explained and decision.verdict is not Verdict.ALLOW:
            told = explain(decide.program, decision, caller=Caller(), facts=facts)
            found = tuple(
                cause
                for layer in told.layers
                for rule in layer.rules
                if rule.kind == "allow" and not rule.counts
                for clause in rule.clauses
                for cause in _leaves(clause)
            )
        yield Judged(row=row, decision=decision, causes=tuple(dict.fromkeys(found)))


def _leaves(part: ClauseOutcome | PartOutcome, wanted: str = "holds") -> Iterator[str]:
    """Yield the parts of a condition that keep it from being what is wanted."""
    if part.outcome == wanted:
        return
    if part.operator == "not":
        wanted = "fails" if wanted == "holds" else "holds"
    if part.parts:
        for one in part.parts:
            yield from _leaves(one, wanted)
        return
    for resource in part.resources:
        yield f"{part.text}: {resource.resource[:100]}: {resource.why or ''}"
    if not part.resources:
        yield f"{part.text}: {part.why or ''}"


def counts(rows: Iterable[Judged]) -> dict[str, Counter[Verdict]]:
    """Return how many commands of each agent, and of all, got each verdict."""
    found: dict[str, Counter[Verdict]] = defaultdict(Counter)
    for one in rows:
        for agent in (one.row.agent, "all"):
            found[agent][one.decision.verdict] += 1
    return found


def table(found: dict[str, Counter[Verdict]]) -> Iterator[str]:
    """Yield a table of the counts as lines of text."""
    yield f"{'agent':<16}{'rows':>6}" + "".join(f"{verdict:>15}" for verdict in _VERDICTS)
    for agent in sorted(found, key=lambda name: (name == "all", name)):
        rows = found[agent].total()
        cells = (f"{found[agent][v]:>6} = {found[agent][v] / rows:>6.1%}" for v in _VERDICTS)
        yield f"{agent:<16}{rows:>6}" + "".join(cells)


def causes(rows: Iterable[Judged]) -> Iterator[str]:
    """Yield the commands that are not allowed, by the first condition that decides."""
    found: dict[tuple[str, str], list[Judged]] = defaultdict(list)
    for one in rows:
        if one.decision.verdict is not Verdict.ALLOW:
            first = one.causes[0].partition(":")[0] if one.causes else "needs an approval"
            found[(one.decision.verdict, first)].append(one)
    for (verdict, reason), group in sorted(found.items(), key=lambda item: -len(item[1])):
        yield f"\n{len(group)} x {verdict}: {reason}"
        for one in group:
            yield f"  {one.row.number} {one.row.agent}: {one.row.command[:300]!r}"
            yield from (f"      {cause}" for cause in one.causes)


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the counts of both halves, or the rows of the seen one."""
    parser = argparse.ArgumentParser(prog="python -m tests.corpora.count_verdicts")
    parser.add_argument("--policy", type=Path, default=SHIPPED, help="the policy that decides")
    parser.add_argument("--rows", action="store_true", help="show the rows of the seen half")
    parser.add_argument("--unseen", action="store_true", help="count the other half instead")
    given = parser.parse_args(arguments)
    policy = given.policy.read_text(encoding="utf-8")
    rows = list(judged(policy, "unseen" if given.unseen else "seen", explained=given.rows))
    print("\n".join(table(counts(rows))))
    if given.rows and not given.unseen:
        print("\n".join(causes(rows)))


if __name__ == "__main__":
    main()
