"""Whether some call of one tool breaks a claim: a proof that none does, or such a call."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeAlias

from policy.admission import input_fault
from policy.checks import checked
from policy.program import LayerPlan
from policy.solving import Clauses, LeftOpen, Model, Search, Unsatisfiable
from policy.symbolic import (
    AllCalls,
    Basis,
    Claim,
    KnownTruths,
    OpenCondition,
    ShownCalls,
    Situation,
    Values,
    demands_too_much,
    has_accepted_input,
    leaves_of,
    open_conditions,
    require_violation,
    tests_of_changes,
)
from policy.verify.proof.claims import ClaimQuestion
from policy.verify.proof.counterexample import Counterexample
from policy.verify.proof.open_reasons import NO_INPUT, TOO_LARGE
from policy.verify.proof.replay import decided, smallest

_MOST_REPLAYS = 100
# What conditions give for values, by the tool and by the class that reads them.
Known: TypeAlias = dict[tuple[str, type], KnownTruths]


class ProofSearch:
    """Whether some call of one tool breaks a claim; `known` is kept for other claims."""

    def __init__(self, question: ClaimQuestion, *, steps: int, known: Known | None = None) -> None:
        self._known: Known = {} if known is None else known
        asked, spec = question.claim, question.spec
        program, invariant = asked.program, asked.invariant
        self._program = program
        self._spec = spec
        self._steps = steps
        count = len(program.policy.layers)
        self._layers = tuple(program.layer_plan(number, spec) for number in range(count))
        here = self._layers[asked.index]
        self._claim = Claim(invariant=invariant, layer=here.key, declared=here.declared)
        self._tests = tuple(_tests(invariant, self._layers))
        self._slots = max(program.slots, invariant.slots)
        # What the solver of arithmetic did not look into.
        self.left_open: LeftOpen = ""
        # The conditions that leave the claim undecided.
        self.open_conditions: tuple[OpenCondition, ...] = ()

    @property
    def is_too_large(self) -> bool:
        """Whether no call is tried, because the schema makes each of them too large."""
        return demands_too_much(self._spec.schema)

    @property
    def why_no_call_is_tried(self) -> str:
        """Why the schema lets no call be tried, empty if calls were tried."""
        if self.is_too_large:
            return TOO_LARGE
        return "" if has_accepted_input(self._spec) else NO_INPUT

    def what_keeps_it(self) -> tuple[Basis, ...] | Values:
        """Return what keeps the claim for every call of the tool.

        If that is not certain, return values of fields and facts that may break it.
        """
        if input_fault(self._spec) is not None:
            return (Basis(rule="schema"),)  # each call is denied, whatever the rules say
        clauses = Clauses()
        reading = AllCalls(
            clauses,
            self._spec,
            self._program.catalog.views.of(self._spec.schema),
            tests=self._tests,
            layers=[layer.key for layer in self._layers],
            slots=self._slots,
            known=self._known.setdefault((self._spec.name, AllCalls), KnownTruths()),
        )
        wrong = require_violation(self._claim, self._spec, self._layers, reading, as_it_runs=True)
        with Search(clauses, steps=self._steps) as search:
            found = search.solve(wrong.bases)
            self.left_open = reading.left_open
            if isinstance(found, Unsatisfiable):
                return tuple(wrong.bases[literal] for literal in search.smallest_core(found.core))
            for more in ([wrong.clear, reading.ordinary], [reading.ordinary]):
                plain = search.solve([*wrong.bases, *more])
                if isinstance(plain, Model):
                    found = plain
                    break
            if not isinstance(found, Model):
                return {}
            self.open_conditions = open_conditions(reading, found, self._claim, self._layers)
            return reading.suggested(found)

    def counterexample(self, suggested: Values) -> Counterexample | None:
        """Return a call that breaks the claim, as the engine decides it; None if none is found.

        `suggested` are values that calls are tried with besides those around constants of rules.
        """
        if self.is_too_large:
            return None
        clauses = Clauses()
        reading = ShownCalls(
            clauses,
            self._spec,
            self._program.catalog.views.of(self._spec.schema),
            tests=self._tests,
            layers=[layer.key for layer in self._layers],
            declared=[layer.declared for layer in self._layers],
            slots=self._slots,
            suggested=suggested,
            known=self._known.setdefault((self._spec.name, ShownCalls), KnownTruths()),
        )
        wrong = require_violation(self._claim, self._spec, self._layers, reading, as_it_runs=True)
        with Search(clauses, steps=self._steps) as search:
            # A call that certainly meets the claim's conditions persuades more than one that may,
            # and one with ordinary values more than one without.
            for more in ([wrong.clear, reading.ordinary], [wrong.clear], [reading.ordinary], []):
                assumptions = [*wrong.bases, *more]
                found = self._replayed(search, reading, assumptions)
                if found is not None:
                    return found
        return None

    def _replayed(
        self, search: Search, reading: ShownCalls, assumptions: list[int]
    ) -> Counterexample | None:
        """Return the first call of the search that the engine decides as expected."""
        for _ in range(_MOST_REPLAYS):
            model = search.solve(assumptions)
            if not isinstance(model, Model):
                return None
            situation, chosen = reading.shown(model)
            found = self.decided(situation)
            if found is not None:
                return smallest(found, self._decided_as(found), reading.values_of)
            search.require(*(-literal for literal in chosen))
        return None

    def _decided_as(self, found: Counterexample) -> Callable[[Situation], Counterexample | None]:
        """Return what decides calls that are to meet the claim as certainly as one does."""

        def decide(situation: Situation) -> Counterexample | None:
            other = self.decided(situation)
            return None if other is None or other.unclear > found.unclear else other

        return decide

    def decided(self, situation: Situation) -> Counterexample | None:
        """Return a situation as a counterexample; None if the engine decides otherwise."""
        return decided(self._program, self._claim, situation, slots=self._slots)


def _tests(
    invariant: checked.CheckedInvariant, layers: Iterable[LayerPlan]
) -> Iterator[checked.Test]:
    yield from leaves_of(invariant.when, invariant.unless)
    for layer in layers:
        for plan in (*layer.allows, *layer.restricting):
            yield from leaves_of(plan.rule.when, plan.rule.unless)
        for rewrite in layer.rewrites:
            yield from leaves_of(rewrite.rule.when, rewrite.rule.unless)
            yield from tests_of_changes(rewrite)
