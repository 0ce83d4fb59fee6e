"""Checks everything of one generation, pass by pass, and collects all diagnostics."""

from __future__ import annotations

from policy.catalog import Catalog
from policy.checks import lints
from policy.checks.assembly import Layer, assemble
from policy.checks.checked import CheckedPolicy
from policy.checks.conditions.value_types import ANY, CONTEXT_KINDS
from policy.checks.context import CheckContext
from policy.checks.layer_statements import check_defaults, check_delegations, check_undeclared
from policy.checks.memory import CheckMemory, NoMemory
from policy.checks.names.tool_selectors import SelectorReader
from policy.checks.report import Report
from policy.checks.rules.reader import RuleNames
from policy.checks.sources import Checked, PolicySources
from policy.checks.statements import read_declarations, read_layer
from policy.checks.test_suites import read_suites
from policy.syntax import tree


def check(
    sources: PolicySources,
    catalog: Catalog,
    *,
    memory: CheckMemory | None = None,
) -> Checked:
    """Check all sources of a generation against the known tools.

    Never raises. With errors among the diagnostics the policies may be partial and must not be used
    for decisions. Rules that the `memory` of earlier checks contains are not checked again; the
    result is the same.
    """
    report = Report()
    layers = assemble(sources, report)
    context = CheckContext(
        report=report,
        catalog=catalog,
        tools=SelectorReader(catalog=catalog, report=report),
        data=sources.data,
        context={name: CONTEXT_KINDS.get(kind, ANY) for name, kind in sources.context.items()},
        profiles=sources.profiles,
        groups=sources.groups,
        retention=sources.retention,
    )
    context.open = _open_tools(layers, context)
    names = RuleNames(places={})
    memory = memory or NoMemory()
    declared = [read_declarations(layer, context) for layer in layers]
    policies = tuple(
        read_layer(
            layer,
            context,
            names,
            own=own,
            above=() if own is declared[0] else declared[0],
            memory=memory,
        )
        for layer, own in zip(layers, declared, strict=True)
    )
    # A file whose header has an error may belong to another layer.
    if not any(layer.is_likely for layer in layers):
        for layer, policy in zip(layers, policies, strict=True):
            check_defaults(layer, policy, report)
            check_delegations(policy, context)
    check_undeclared(policies, context)
    _lint(sources, layers, policies, context=context, memory=memory)
    suites = read_suites(sources, context, names)
    kept = tuple(p for p, layer in zip(policies, layers, strict=True) if _exists(p, layer))
    return Checked(policies=kept, suites=suites, diagnostics=report.done())


def _lint(
    sources: PolicySources,
    layers: tuple[Layer, ...],
    policies: tuple[CheckedPolicy, ...],
    *,
    context: CheckContext,
    memory: CheckMemory,
) -> None:
    """Run the lints, and remember the rules without diagnostics."""
    lint_context = lints.LintContext(
        layers=layers,
        policies=policies,
        check=context,
        sources={file.source.name: file.source for file in sources.files},
    )
    before = context.report.count
    lints.run_on_rules(lint_context)
    memory.done(context.report.since(before))
    lints.run(lint_context)


def _exists(policy: CheckedPolicy, layer: Layer) -> bool:
    """Return whether anything declares a layer; the global one always exists."""
    return policy.key.kind == "every" or bool(layer.units)


def _open_tools(layers: tuple[Layer, ...], context: CheckContext) -> frozenset[str]:
    """Return the tools to which some `tool … extra fields allowed` applies."""
    found: set[str] = set()
    for layer in layers:
        for unit in layer.units:
            for statement in unit.statements:
                if not isinstance(statement, tree.ToolDeclaration) or not statement.extra_fields:
                    continue
                tools = tree.Tools(included=(statement.tool,), span=statement.tool.span)
                selector = context.tools.selector(
                    tools, unit.scope, grants=False, lenient=unit.pack
                )
                found.update(spec.name for spec in context.tools.matching(selector))
    return frozenset(found)
