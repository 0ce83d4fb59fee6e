"""Reports tools whose effects an `allow` never covers.

Such an `allow` permits only effects that its `only` clauses cover. It never allows a tool that
certainly has other effects.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from policy.catalog import VERBS, Verb
from policy.checks.checked import (
    AllOf,
    AnyOf,
    CheckedDeclaration,
    CheckedRule,
    ResourceTest,
    Test,
)
from policy.checks.conditions.command_context import demanded
from policy.checks.conditions.fields import tool_names
from policy.checks.names.known_tools import KnownTool
from policy.checks.report import Report
from policy.checks.satisfiability.outcomes import is_empty, resource_tests
from policy.diagnostics import Severity
from policy.model import Verdict

_TO = {"connects": " to", "sends": " to"}


def check_uncovered_effects(
    rule: CheckedRule,
    tools: tuple[KnownTool, ...],
    report: Report,
    *,
    others: bool,
    everything: bool,
) -> None:
    """Report the tools that an `allow` never allows: an error if it is all of them.

    `others` is whether the rule may match further tools. Of a pattern such as `file_*` some tools
    may well be left out; whoever writes `everything` expects that all are allowed.
    """
    if rule.verdict is not Verdict.ALLOW or not rule.speaks_of_resources:
        return
    covered = _covered(rule.when)
    open_verbs = {tool.spec.name: _left_open(tool, covered) for tool in tools}
    left = {name: verbs for name, verbs in open_verbs.items() if verbs}
    if not left or (others and not everything and len(left) < len(tools)):
        if not left and not others:
            _check_alternatives(rule, tools, report)
        return
    verbs = _all_of(left)
    whole = len(left) == len(tools) and not (others or everything)
    clauses = " and ".join(f"`{verb} only{_TO.get(verb, '')} …`" for verb in verbs)
    report.add(
        "effect-not-covered",
        f"no clause of this `allow` covers what {_said_of(left)}, "
        f"so it never allows {'it' if len(left) == 1 else 'them'}",
        span=rule.span,
        label="has conditions on resources, and so allows only what they cover",
        help=f"add {clauses}" + ("" if whole else ", or remove these tools from the rule"),
        severity=Severity.ERROR if whole else Severity.WARNING,
    )


def _check_alternatives(rule: CheckedRule, tools: tuple[KnownTool, ...], report: Report) -> None:
    """Report the parts of an `or` that never allow a call, as they cover less than it has."""
    for part, covered in _alternatives(rule.when, frozenset()):
        left = {tool.spec.name: verbs for tool in tools if (verbs := _left_open(tool, covered))}
        if len(left) < len(tools):
            continue
        free = " and ".join(f"{verb}{_TO.get(verb, '')} anything" for verb in _all_of(left))
        report.add(
            "effect-not-covered",
            f"`{part.text}` alone never allows a call: it does not cover what {_said_of(left)}",
            span=rule.span,
            label="has conditions on resources, and so allows only what they cover",
            help=f"write `({part.text} and {free})`, or a rule of its own without such conditions",
            severity=Severity.WARNING,
        )


def _alternatives(
    test: Test | None, covered: frozenset[Verb]
) -> Iterator[tuple[Test, frozenset[Verb]]]:
    """Yield the parts of every `or`, each with the verbs that it and all around it cover."""
    if isinstance(test, AllOf):
        for part in test.tests:
            others = (_covered(other) for other in test.tests if other is not part)
            yield from _alternatives(part, covered.union(*others))
    elif isinstance(test, AnyOf):
        for part in test.tests:
            inner = list(_alternatives(part, covered))
            yield from inner or [(part, covered | _covered(part))]


def _all_of(left: Mapping[str, tuple[Verb, ...]]) -> list[Verb]:
    return [verb for verb in VERBS if any(verb in found for found in left.values())]


def _covered(test: Test | None) -> frozenset[Verb]:
    """Return the verbs of which a condition covers resources."""
    return frozenset(one.verb for one in resource_tests(test) if _covers(one))


def check_incomplete_resources(
    rule: CheckedRule,
    tools: tuple[KnownTool, ...],
    declarations: tuple[CheckedDeclaration, ...],
    report: Report,
) -> None:
    """Report the tools for which an `only` never holds, as not all resources are declared."""
    if rule.verdict is not Verdict.ALLOW or rule.when is None:
        return
    bounded = [test for test in demanded(rule.when) if _is_bounded(test)]
    # Of a tool without any declared resource, another check reports that.
    partly = [tool for tool in tools if tool.resources and not tool.complete]
    if not bounded or not partly:
        return
    first = partly[0].spec
    names = tool_names([tool.spec.name for tool in partly])
    add = (
        "end its `tool` statement with `and nothing else`"
        if any(each.tools.matches(first) for each in declarations)
        else f"add `tool {first.name} {_effects(partly[0])} and nothing else`"
    )
    # A sandbox may confine the whole code of a plugin or a server.
    confinable = any(tool.spec.origin.kind != "host" for tool in partly)
    holds = "holds only in a sandbox" if confinable else "never holds"
    report.add(
        "undeclared-resources",
        f"`{bounded[0].text}` {holds} for {names}: it may have other resources than those "
        "that are declared",
        span=rule.span,
        help=f"{add}, if the tool accesses nothing else",
    )


def _is_bounded(test: ResourceTest) -> bool:
    return test.form == "only" and test.permits and test.operand is not None


def _effects(tool: KnownTool) -> str:
    """Return the declared resources of a tool as a `tool` statement names them."""
    of_verb: dict[str, list[str]] = {}
    for resource in tool.resources:
        of_verb.setdefault(resource.verb, []).append(f"input.{'.'.join(resource.steps)}")
    return " ".join(
        f"{verb}{_TO.get(verb, '')} {', '.join(dict.fromkeys(fields))}"
        for verb, fields in of_verb.items()
    ).replace(".*", "[*]")


def _said_of(left: Mapping[str, tuple[Verb, ...]]) -> str:
    """Return what tools do, by the effects of each: `` `a` and `b` read and `c` runs ``."""
    alike: dict[tuple[Verb, ...], list[str]] = {}
    for name, verbs in left.items():
        alike.setdefault(verbs, []).append(name)
    said = []
    for verbs, names in alike.items():
        forms = verbs if len(names) == 1 else [verb.removesuffix("s") for verb in verbs]
        does = [f"{form}{_TO.get(verb, '')}" for form, verb in zip(forms, verbs, strict=True)]
        said.append(f"{tool_names(names)} {' and '.join(does)}")
    return ", and what ".join(said)


def _covers(test: ResourceTest) -> bool:
    free = test.operand is None or is_empty(test.operand)
    return test.permits and (test.form == "only" or free)


def _left_open(tool: KnownTool, covered: frozenset[Verb]) -> tuple[Verb, ...]:
    """Return the effects that every call of the tool has and nothing covers."""
    if not tool.complete:
        return ()
    return tuple(verb for verb in VERBS if verb not in covered and tool.surely(verb))
