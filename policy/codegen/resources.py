"""Resource tests in generated code: looked up among the answers of all rules at once.

The tests of a tool have numbers (see `evaluation.batched_tests`), and all tests of a verb are
evaluated for a call when the first of them is needed. So the accesses of a call are read only if a
rule depends on them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from policy.checks import checked
from policy.codegen.quoting import Quoting
from policy.evaluation import (
    DeclaredResources,
    Evaluation,
    Truth,
    batch_tests,
    resource_tests,
    true_or_indeterminate,
)

Written = tuple[str, str]


class ResourceTests:
    """Writes the tests of resources of one function; `call` gives the code of the evaluation.

    `asked` says whether some expression needs the evaluation.
    """

    __slots__ = ("_call", "_declared", "_quoting", "_verbs", "asked")

    def __init__(
        self, declared: DeclaredResources, quoting: Quoting, call: Callable[[], str]
    ) -> None:
        self._declared = declared
        self._quoting = quoting
        self._call = call
        self._verbs: set[str] = set()
        self.asked = False

    def sides(
        self, test: checked.ResourceTest, *, covering: bool, absent_is_false: bool
    ) -> Written | None:
        """Return where a test is true and where it is false; None where it has no number."""
        if not self._declared.prepared:
            return None
        tests = batch_tests(test.verb, self._declared)
        number = tests.number(test, covering=covering, absent_is_false=absent_is_false)
        if number is None:
            return None
        answers = self._asked(test.verb)
        true = f"{number} in {answers}"
        return true, f"({number} not in {answers} and {~number} not in {self._answers(test.verb)})"

    def reached(self, verb: str, tests: Mapping[int, object]) -> str:
        """Return what gives the numbers, among these, of the tests that are true or open."""
        numbers = self._quoting.name(tests)
        return f"{self._quoting.name(true_or_indeterminate)}({self._asked(verb)}, {numbers})"

    def cover(self, when: checked.Test | None) -> str | None:
        """Return what an `allow` demands besides its clauses: that its effects are covered.

        None where these cover all that the tool does, if they are true.
        """
        tests = tuple(resource_tests.covering_tests(when))
        true = {test.verb for test in _demanded(when) if resource_tests.is_covering(test)}
        others = [v for v in resource_tests.VERBS if self._declared.may(v) and v not in true]
        whole = self._quoting.name(_later(tests, self._declared))
        if "runs" not in true:
            return f"{whole}({self._evaluation()}) is True" if others else None
        by_commands = resource_tests.compile_cover_of_runs(tuple(others), self._declared)
        quick = self._quoting.name(by_commands)
        return f"({quick}({self._evaluation()}) or {whole}(e) is True)"

    def opening(self) -> list[str]:
        """Return the line that says that no answers were asked for yet."""
        names = " = ".join(self._answers(verb) for verb in sorted(self._verbs))
        return [f"{names} = None"] if names else []

    def _asked(self, verb: str) -> str:
        """Return the answers to all tests of a verb, which are asked for once a function."""
        name = self._answers(verb)
        ask = self._quoting.name(batch_tests(verb, self._declared).ask)
        return f"({name} or ({name} := {ask}({self._evaluation()})))"

    def _answers(self, verb: str) -> str:
        self._verbs.add(verb)
        return f"h{resource_tests.VERBS.index(verb)}"

    def _evaluation(self) -> str:
        self.asked = True
        return f"e or (e := {self._call()})"


@dataclass(frozen=True, slots=True)
class Numbered:
    """A test of a resource that must be true for a rule to be met."""

    verb: str
    number: int


@dataclass(frozen=True, slots=True)
class Demand:
    """A test that must be true for a rule to be met, or false if it is `refused`.

    `absent_is_false`: a test of an absent value is false, else indeterminate. `covering`: clauses
    of the rule cover for each other.
    """

    test: checked.Test
    absent_is_false: bool = False
    refused: bool = False
    covering: bool = False


def numbered(demands: Iterable[Demand], declared: DeclaredResources) -> Numbered | None:
    """Return the first demand of a rule that is a test of a resource with a number."""
    for demand in demands:
        test = demand.test
        if demand.refused or not isinstance(test, checked.ResourceTest) or not declared.prepared:
            continue
        if resource_tests.known_answer(test, declared) is not None:
            continue
        number = batch_tests(test.verb, declared).number(
            test,
            covering=demand.covering,
            absent_is_false=demand.absent_is_false,
        )
        if number is not None:
            return Numbered(test.verb, number)
    return None


def number_tests(demands: Iterable[Demand], declared: DeclaredResources) -> None:
    """Give numbers to the tests of resources in demands of a rule, before any call is decided."""
    if not declared.prepared:
        return
    for demand in demands:
        for test in _resource_tests(demand.test):
            if resource_tests.known_answer(test, declared) is None:
                batch_tests(test.verb, declared).number(
                    test, covering=demand.covering, absent_is_false=demand.absent_is_false
                )


def _resource_tests(test: checked.Test) -> Iterator[checked.ResourceTest]:
    match test:
        case checked.ResourceTest():
            yield test
        case checked.AllOf(tests=tests) | checked.AnyOf(tests=tests):
            for part in tests:
                yield from _resource_tests(part)
        case checked.NotOf(test=inner):
            yield from _resource_tests(inner)
        case _:
            return


def _demanded(test: checked.Test | None) -> Iterator[checked.ResourceTest]:
    """Yield the tests of resources that must be true for the whole to be."""
    match test:
        case checked.ResourceTest():
            yield test
        case checked.AllOf(tests=tests):
            for part in tests:
                yield from _demanded(part)
        case _:
            return


def _later(
    tests: Sequence[checked.ResourceTest], declared: DeclaredResources
) -> Callable[[Evaluation], Truth]:
    """Return the test that all effects are covered, compiled when it is first asked."""
    compiled: Callable[[Evaluation], Truth] | None = None

    def covered(call: Evaluation) -> Truth:
        nonlocal compiled
        if compiled is None:
            compiled = resource_tests.compile_cover(tuple(tests), declared)
        return compiled(call)

    return covered
