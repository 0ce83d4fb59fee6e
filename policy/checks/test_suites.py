"""The tests of all files as suites: which tests, over which layers.

The tests of a layer's file run over the whole generation. A pack's own tests run over the pack
alone, once for each set of parameter values that they use.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from policy.checks.assembly import alone, pack_files
from policy.checks.checked import CheckedDefault, CheckedPolicy, ExampleSuite
from policy.checks.context import CheckContext
from policy.checks.memory import NoMemory
from policy.checks.rules.reader import RuleNames, check_reference
from policy.checks.sources import PolicySources
from policy.checks.statements import read_declarations, read_layer
from policy.diagnostics import Label
from policy.model import Span, Verdict
from policy.syntax import tree

Packs = Mapping[str, tree.PolicyFile]


@dataclass(slots=True, kw_only=True, eq=False)
class _Segment:
    """A run of a test's cases over one set of parameters."""

    title: str
    given: dict[str, tree.Expr]
    span: Span
    steps: list[tree.Given | tree.Case] = field(default_factory=list)

    @property
    def has_cases(self) -> bool:
        return any(isinstance(step, tree.Case) for step in self.steps)

    def test(self) -> tree.Test:
        """Return the segment as a separate test."""
        return tree.Test(title=self.title, steps=tuple(self.steps), span=self.span)


def read_suites(
    sources: PolicySources, check: CheckContext, names: RuleNames
) -> tuple[ExampleSuite, ...]:
    """Return the suites of all files, in order; this also checks every pack."""
    packs = pack_files(sources)
    suites: list[ExampleSuite] = []
    for file in sorted(sources.files, key=lambda f: f.source.name):
        match file.binding_header:
            case tree.PolicyHeader():
                tests = _tests(file)
                for test in tests:
                    _check(test, names, check)
                if tests:
                    suites.append(ExampleSuite(file=file.source.name, tests=tests))
            case tree.PackHeader():
                suites.extend(_of_pack(file, packs, check))
            case None:
                pass
    return tuple(suites)


def _tests(file: tree.PolicyFile) -> tuple[tree.Test, ...]:
    return tuple(s for s in file.statements if isinstance(s, tree.Test))


# ------------------------------------------------------------------ packs


def _of_pack(file: tree.PolicyFile, packs: Packs, check: CheckContext) -> Iterator[ExampleSuite]:
    """Check a pack by itself, and yield a suite for each set of values its tests give it."""
    params = {s.name: s for s in file.statements if isinstance(s, tree.Param)}
    segments = [s for test in _tests(file) for s in _segments(test, params)]
    groups: dict[tuple[tuple[str, tree.Expr], ...], list[_Segment]] = {}
    for segment in segments:
        if not _is_bound(segment, params, check):
            continue
        groups.setdefault(tuple(sorted(segment.given.items(), key=_name)), []).append(segment)
    if not groups:
        _read_alone(file, packs, check, given={})
    for given, members in groups.items():
        base, names = _read_alone(file, packs, check, given=dict(given))
        tests = tuple(segment.test() for segment in members)
        for test in tests:
            _check(test, names, check)
        yield ExampleSuite(file=file.source.name, tests=tests, base=(_with_default(base, file),))


def _name(item: tuple[str, tree.Expr]) -> str:
    return item[0]


def _read_alone(
    file: tree.PolicyFile, packs: Packs, check: CheckContext, *, given: Mapping[str, tree.Expr]
) -> tuple[CheckedPolicy, RuleNames]:
    names = RuleNames(places={})
    layer = alone(file, packs, check.report, given=given)
    own = read_declarations(layer, check)
    return read_layer(layer, check, names, own=own, memory=NoMemory()), names


def _with_default(policy: CheckedPolicy, file: tree.PolicyFile) -> CheckedPolicy:
    """Return the layer with `default allow`, unless the pack has a default."""
    if any(default.tools is None for default in policy.defaults):
        return policy
    header = file.binding_header
    assert header is not None
    default = CheckedDefault(
        verdict=Verdict.ALLOW, tools=None, text="default allow", span=header.span
    )
    return replace(policy, defaults=(*policy.defaults, default))


def _segments(test: tree.Test, params: Mapping[str, tree.Param]) -> list[_Segment]:
    """Split a test where it sets parameters; earlier settings stay in effect."""
    segments = [_Segment(title=test.title, given={}, span=test.span)]
    for step in test.steps:
        current = segments[-1]
        if isinstance(step, tree.Case):
            current.steps.append(step)
            continue
        ours = {
            path.root: value
            for path, value in step.bindings
            if path.root in params and not path.steps
        }
        rest = tuple(b for b in step.bindings if b[0].root not in ours or b[0].steps)
        if ours and current.has_cases:
            kept = [s for s in current.steps if isinstance(s, tree.Given)]
            given = current.given | ours
            current = _Segment(title=test.title, given=given, span=test.span, steps=list(kept))
            segments.append(current)
        current.given |= ours
        if rest:
            current.steps.append(replace(step, bindings=rest))
    return segments


def _is_bound(segment: _Segment, params: Mapping[str, tree.Param], check: CheckContext) -> bool:
    """Return whether every parameter has a value in a test; report those without."""
    missing = [n for n, p in params.items() if p.default is None and n not in segment.given]
    if missing:
        check.report.add(
            "missing-param",
            f"this test gives no value to {' and '.join(f'`{name}`' for name in missing)}",
            span=segment.span,
            help=f"write `given {', '.join(f'{name} = …' for name in missing)}`",
        )
    return not missing


# ------------------------------------------------------------------ checks of tests


def _check(test: tree.Test, names: RuleNames, check: CheckContext) -> None:
    before: tree.Case | None = None
    for step in test.steps:
        if isinstance(step, tree.Case):
            _check_case(step, names, check)
            _check_indentation(step, before, check)
            before = step


def _check_indentation(case: tree.Case, before: tree.Case | None, check: CheckContext) -> None:
    """Report a case that seems to stand below the earlier calls of the case before it."""
    if before is None or not before.past or case.past:
        return
    past = before.past[0].span
    if case.call.span.column > past.column:
        check.report.add(
            "case-without-past",
            "this case has no earlier calls: those above belong to the case before it",
            span=case.call.span,
            labels=(Label(span=past, text="holds for the next case alone"),),
            help="repeat the `after` line before this case, or indent it less",
        )


def _check_case(case: tree.Case, names: RuleNames, check: CheckContext) -> None:
    for past in case.past:
        check.tools.is_pattern(past.call.tool)
    _check_result(case, check)
    if case.by is not None:
        check_reference(case.by, names, check=check, span=case.by_span or case.span)
    # A test may call a tool that does not exist on purpose; running it reports a mistake.
    if case.by != "schema":
        check.tools.is_pattern(case.call.tool)


def _check_result(case: tree.Case, check: CheckContext) -> None:
    """Report a result without what comes of it, or the reverse, or one of a denied call."""
    given, returned = case.returning, case.returned
    alone = given or returned
    if alone is None:
        return
    if case.verdict is Verdict.DENY:
        message = "a call that is denied returns nothing"
    elif returned is None:
        message = "this case says what the tool returns, but not what the agent gets"
    elif given is None:
        message = "this case says what the agent gets, but not what the tool returns"
    else:
        return
    check.report.add(
        "returning-alone",
        message,
        span=alone.span,
        help="write both, for a call that runs: `TOOL {…} returning RESULT -> allow returning …`",
    )
