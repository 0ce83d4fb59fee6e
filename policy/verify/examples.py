"""Runs the tests written inside rule files and returns the result of each case."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from policy.catalog import NAMES_ELSEWHERE, Catalog, Origin
from policy.checks import CheckedPolicy, ExampleSuite
from policy.decision import Decision, PastCharges, answer
from policy.diagnostics import Diagnostic, Severity, diagnose, did_you_mean, has_errors, visible
from policy.layers import merge
from policy.model import Frozen, PastCall, Span, Verdict, history_of, thaw
from policy.program import Program, compile_policy
from policy.syntax import tree
from policy.verify.failed_case import failed, no_call
from policy.verify.literals import NotData, duration_of, same_json, value_of
from policy.verify.returned_result import wrong_result
from policy.verify.test_setup import (
    FACTS,
    NOBODY_SAID,
    CaseSetup,
    NotGivable,
    confining,
    fact_name,
    with_fact,
)
from policy.verify.unmatched_rule import why_unmatched

# The time in tests that give none, used only to place earlier calls before it.
_SOME_TIME = datetime(2026, 1, 1, tzinfo=UTC)
_MOST_TIMES = 100_000  # earlier calls added to the history by one `after`


@dataclass(frozen=True, slots=True, kw_only=True)
class ExampleResult:
    """One case of one test: the decision, and how it differs from what is expected, if it does.

    `decision` is None where the case could not be run. It is not `tested` yet where it calls a tool
    of a plugin that is not known: a service loads its policy before it runs plugins, and tests the
    case once they have said which tools they have.
    """

    file: str
    title: str
    line: int
    tool: str
    expected: Verdict
    decision: Decision | None
    diagnostics: tuple[Diagnostic, ...] = ()
    tested: bool = True

    @property
    def passed(self) -> bool:
        """Whether the case had the expected result."""
        return not has_errors(self.diagnostics)


def run_examples(
    suites: tuple[ExampleSuite, ...], program: Program, *, catalog: Catalog
) -> tuple[ExampleResult, ...]:
    """Return the result of every case, in the order of the files.

    A suite with its own base, such as a pack's, runs over that base alone.
    """
    results: list[ExampleResult] = []
    bases: dict[tuple[CheckedPolicy, ...], Program] = {}
    for suite in suites:
        under_test = program
        if suite.base is not None:
            if suite.base not in bases:
                bases[suite.base] = compile_policy(
                    merge(suite.base).policy,
                    catalog,
                    profiles=program.profiles,
                    shortcuts=program.shortcuts,
                )
            under_test = bases[suite.base]
        runner = _Runner(suite=suite, program=under_test, catalog=catalog)
        for test in suite.tests:
            results.extend(runner.run(test))
    return tuple(results)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Runner:
    """Runs one suite over one program."""

    suite: ExampleSuite
    program: Program
    catalog: Catalog

    def run(self, test: tree.Test) -> Iterator[ExampleResult]:
        circumstances = NOBODY_SAID
        # Reported with the next case, so that every result belongs to a case.
        pending: list[Diagnostic] = []
        for step in test.steps:
            if isinstance(step, tree.Given):
                circumstances = self._given(circumstances, step, pending)
                continue
            yield self._case(test, step, circumstances=circumstances, pending=tuple(pending))
            pending.clear()

    def _given(
        self, circumstances: CaseSetup, given: tree.Given, pending: list[Diagnostic]
    ) -> CaseSetup:
        for path, expr in given.bindings:
            name = fact_name(path)
            try:
                circumstances = with_fact(circumstances, path, value_of(expr))
            except KeyError:
                pending.append(_unknown_fact(name, path.span))
            except NotData as found:
                pending.append(_no_data(found.expr))
            except NotGivable as wanted:
                pending.append(_wrong_kind(name, str(wanted), expr.span))
        return circumstances

    def _case(
        self,
        test: tree.Test,
        case: tree.Case,
        *,
        circumstances: CaseSetup,
        pending: tuple[Diagnostic, ...],
    ) -> ExampleResult:
        name = self._flat_name(case.call.tool)
        try:
            given = value_of(case.call.input)
            becoming = None if case.becoming is None else value_of(case.becoming)
            case_setup = confining(self._with_past(circumstances, case.past), name)
        except NotData as found:
            problems = (*pending, _no_data(found.expr))
            return self._result(test, case, decision=None, diagnostics=problems)
        unknown = next(map(_untested, self._calls_of_plugins(case)), None)
        if unknown is not None:
            result = self._result(test, case, decision=None, diagnostics=(*pending, unknown))
            return replace(result, tested=False)
        pending = (*pending, *self._unknown_past(case))
        decision = answer(
            self.program, name, thaw(given), case_setup.caller, case_setup.facts
        ).decision
        wrong = self._wrong(case, name, case_setup, decision=decision, becoming=becoming)
        found_wrong = () if wrong is None else (wrong,)
        return self._result(test, case, decision=decision, diagnostics=(*pending, *found_wrong))

    def _result(
        self,
        test: tree.Test,
        case: tree.Case,
        *,
        decision: Decision | None,
        diagnostics: tuple[Diagnostic, ...],
    ) -> ExampleResult:
        return ExampleResult(
            file=self.suite.file,
            title=test.title,
            line=case.span.line,
            tool=case.call.tool.pattern,
            expected=case.verdict,
            decision=decision,
            diagnostics=diagnostics,
        )

    def _flat_name(self, ref: tree.ToolRef) -> str:
        if ref.origin is None:
            return ref.pattern
        spec = self.catalog.find(ref.origin, ref.pattern)
        return self._origin(ref, "").flat_name() if spec is None else spec.name

    def _origin(self, ref: tree.ToolRef, name: str) -> Origin:
        """Return where a tool comes from, known or not."""
        spec = self.catalog.get(name)
        if spec is not None:
            return spec.origin
        if ref.origin is None:
            return Origin(tool=name)
        server, _, tool = ref.pattern.partition("/")
        return Origin(kind=ref.origin, server=server, tool=tool)

    def _with_past(self, circumstances: CaseSetup, past: tuple[tree.Past, ...]) -> CaseSetup:
        facts = circumstances.facts
        now = facts.now or _SOME_TIME
        calls = tuple(call for before in past for call in self._past(before, now))
        # Without a clock, the ages of earlier calls are still known.
        oldest_first = sorted(calls, key=lambda call: call.at or now)
        history = replace(history_of(oldest_first), as_of=now)
        charges = PastCharges(
            self.program, calls, caller=circumstances.caller, facts=facts, as_of=now
        )
        resolvers = replace(facts.resolvers, history=lambda: history, balance=charges.balance)
        return replace(circumstances, facts=replace(facts, resolvers=resolvers))

    def _past(self, past: tree.Past, now: datetime) -> tuple[PastCall, ...]:
        given = value_of(past.call.input)
        assert isinstance(given, Mapping)  # the grammar accepts nothing else
        name = self._flat_name(past.call.tool)
        origin = self._origin(past.call.tool, name)
        call = PastCall(
            tool=name,
            origin=origin.kind,
            server=origin.server,
            input=given,
            result=None if past.returning is None else value_of(past.returning),
            at=now if past.ago is None else now - duration_of(past.ago),
        )
        return (call,) * min(1 if past.times is None else past.times, _MOST_TIMES)

    def _calls_of_plugins(self, case: tree.Case) -> Iterator[tree.TestCall]:
        """Yield the calls of tools of plugins of which no tool is known."""
        if self.catalog.complete:
            return
        for call in (*(past.call for past in case.past), case.call):
            name = self._flat_name(call.tool)
            kind, separator, rest = name.partition("__")
            plugin, _, tool = rest.partition("__")
            known = plugin in self.catalog.plugins or self.catalog.get(name) is not None
            if kind == "ext" and separator and plugin and tool and not known:
                yield call

    def _unknown_past(self, case: tree.Case) -> Iterator[Diagnostic]:
        """Yield the earlier calls of tools that do not exist: no rule would look at them."""
        for past in case.past:
            name = self._flat_name(past.call.tool)
            if past.call.tool.origin is None and self.catalog.get(name) is None:
                yield _unknown_tool(past.call, name, self.catalog)

    def _wrong(
        self,
        case: tree.Case,
        name: str,
        case_setup: CaseSetup,
        *,
        decision: Decision,
        becoming: Frozen,
    ) -> Diagnostic | None:
        """Return the first difference between the expected and the actual decision."""
        if self.catalog.get(name) is None and case.by != "schema":
            return _unknown_tool(case.call, name, self.catalog)
        if decision.verdict is not case.verdict:
            return failed(
                case,
                f"this test fails: the verdict is {decision.verdict}, not {case.verdict}",
                decision=decision,
                unmatched=self._unmatched(case, case_setup, decision),
            )
        deciding = {reason.rule for reason in decision.deciding}
        if case.by is not None and case.by not in deciding:
            return failed(
                case,
                f"this test fails: the verdict is {decision.verdict}, but not by "
                f"`{visible(case.by, 80)}`",
                decision=decision,
                unmatched=self._unmatched(case, case_setup, decision),
            )
        if case.becoming is not None and not same_json(decision.call.input, becoming):
            return failed(case, "this test fails: the call becomes another one", decision=decision)
        if case.returning is not None and case.returned is not None:
            problem = wrong_result(case, self.program, decision, case_setup)
            if problem is not None:
                return problem
        if case.by is None and deciding == {"schema"} and not decision.rewritten:
            return no_call(case, decision)
        return None

    def _unmatched(self, case: tree.Case, case_setup: CaseSetup, decision: Decision) -> str | None:
        if case.by is None:
            return None
        return why_unmatched(case.by, self.program, decision, case_setup)


def _unknown_tool(call: tree.TestCall, name: str, catalog: Catalog) -> Diagnostic:
    return diagnose(
        "unknown-tool",
        f"no tool is called `{visible(name, 80)}`",
        span=call.tool.span,
        label="not in the catalogue",
        help=_tool_meant(name, catalog)
        or _server_meant(name, catalog)
        or "add a tool of your own to `[catalogue] files` (`placet catalog export` writes the "
        "list); if no tool of this name is meant to exist, write `-> deny by schema`",
    )


def _untested(call: tree.TestCall) -> Diagnostic:
    return diagnose(
        "unknown-tool",
        f"this case is not tested: no tool of the plugin of `{visible(call.tool.pattern, 80)}` is "
        "known",
        severity=Severity.WARNING,
        span=call.tool.span,
        label="not in the catalogue",
        help="it is tested where the plugin is configured and as it was reviewed, as "
        "`placet plugins` shows, and in a service once that runs it",
    )


def _tool_meant(name: str, catalog: Catalog) -> str:
    """Return which known tool a test means by the name that it has with another agent."""
    here = NAMES_ELSEWHERE.get(name)
    if here is not None and catalog.get(here) is not None:
        return f"here that is `{here}`"
    return did_you_mean(name, catalog.names)


def _server_meant(name: str, catalog: Catalog) -> str:
    """Return how the tools of the MCP server are added that a name begins with; "" for none."""
    server, separator, _ = name.partition("__")
    if not separator or server == "ext":
        return ""
    accept = f"`placet pin accept --server {visible(server, 40)}`"
    if server in catalog.servers:
        return f"correct the name, or accept the server's tools as they are now: {accept}"
    return f"the catalogue has no tool of this server: {accept} adds its tools"


def _unknown_fact(name: str, span: Span) -> Diagnostic:
    return diagnose(
        "unknown-fact",
        f"a test cannot set `{visible(name, 80)}`",
        span=span,
        help=did_you_mean(name, FACTS)
        or next((f"did you mean `{fact}`?" for fact in FACTS if fact.startswith(f"{name}.")), "")
        or f"it can set {', '.join(f'`{fact}`' for fact in FACTS)} and `context.…`",
    )


def _wrong_kind(name: str, wanted: str, span: Span) -> Diagnostic:
    return diagnose(
        "unknown-fact",
        f"`{visible(name, 80)}` cannot have this value",
        span=span,
        help=f"write {wanted}",
    )


def _no_data(expr: tree.Expr) -> Diagnostic:
    return diagnose(
        "failed-test",
        "the data of a test must be literal values, without names and functions",
        span=expr.span,
        help="write the value itself",
    )
