"""Rules about resources, or about the same calls' texts: how long admitted calls take to decide."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import policy
from bench import verbs_workload as workload
from bench.timing import Round, going_round, per_call
from policy.admission import Admitted, RawCall, admit
from policy.catalog import read_listing
from policy.model import mark_admitted

AGAIN, FRESH = "seen before", "never seen before"
_KEPT, _FRESH = 50, 300
_CALLER = policy.Caller(agent="coder", role="owner", session="s1")


class Verbs:
    """Placet with n rules."""

    def __init__(self, n: int, plain: bool) -> None:  # noqa: FBT001 (called by name, over JSON)
        listing = read_listing(workload.listed(n, plain=plain), reviewed=True)
        assert not listing.problems, listing.problems
        text = workload.policy_text(workload.make_rules(n), plain=plain)
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder, "bench.policy")
            file.write_text(text)
            catalog = policy.builtin_catalog().with_tools(listing.specs)
            self.generation = policy.load(file, catalog=catalog)
        self.kept = {
            kind: [self._admitted(req) for req in islice(workload.requests(n, kind), _KEPT)]
            for kind in workload.KINDS
        }
        self.again = {kind: going_round(calls) for kind, calls in self.kept.items()}
        self.fresh = {kind: self._coming(n, kind) for kind in workload.KINDS}
        self.size = n

    def check(self) -> dict[str, list[list[str]]]:
        """Return what was said and what should have been, by kind of resource."""
        return {
            kind: [
                [self.decided(self._admitted(req)), req.verdict]
                for req in islice(workload.requests(self.size, kind, start=10**7), _FRESH)
            ]
            for kind in workload.KINDS
        }

    def round(self, seconds: float) -> Round:
        """Return how long calls take that were decided before, and others."""
        share = seconds / len(self.again) / 2
        taken: Round = {}
        for kind, calls in self.again.items():
            taken[f"{kind}, {AGAIN}"] = per_call(self.decided, calls, seconds=share)
            new = list(islice(self.fresh[kind], _FRESH))
            taken[f"{kind}, {FRESH}"] = per_call(self.decided, iter(new), seconds=share)
        return taken

    def decided(self, call: policy.ToolCall) -> str:
        """Return the verdict on an admitted call."""
        return self.generation.decide(call, _CALLER).verdict

    def _coming(self, n: int, kind: str) -> Iterator[policy.ToolCall]:
        return (self._admitted(req) for req in workload.requests(n, kind, start=_KEPT))

    def _admitted(self, request: workload.Request) -> policy.ToolCall:
        """Return the call as `Generation.answer` admits it, not decided: nothing is read yet."""
        program = self.generation.program
        raw = RawCall(tool=request.tool, input=request.input)
        outcome = admit(raw, program.catalog, open_fields=program.open_fields)
        assert isinstance(outcome, Admitted), outcome
        mark_admitted(outcome.call, program.token)
        return outcome.call
