"""Resolves one layer's statements into its `CheckedPolicy`."""

from __future__ import annotations

from dataclasses import dataclass, field

from policy.catalog import FOLDERS, Resource, is_of_folders, name_words
from policy.checks.assembly import EVERY, Layer, Unit, layer_key
from policy.checks.checked import (
    CheckedDeclaration,
    CheckedDefault,
    CheckedDelegation,
    CheckedInvariant,
    CheckedLimit,
    CheckedPolicy,
    CheckedRedaction,
    CheckedRewrite,
    CheckedRule,
    LayerKey,
)
from policy.checks.conditions.expressions import CONDITIONS
from policy.checks.conditions.fields import field_type
from policy.checks.conditions.labels import read_label
from policy.checks.conditions.reader_state import StatementContext
from policy.checks.conditions.tests import read_test, value
from policy.checks.context import CheckContext
from policy.checks.memory import CheckMemory, UnitMemory
from policy.checks.names import sets
from policy.checks.names.interpolation import interpolate
from policy.checks.names.known_tools import ToolKnowledge
from policy.checks.names.labels import labels_in
from policy.checks.names.scopes import Definition
from policy.checks.names.stores import check_stores_are_written, stores_of
from policy.checks.parameters import check_parameter
from policy.checks.rules.changes import input_steps
from policy.checks.rules.limits import read_limit
from policy.checks.rules.reader import (
    WITH_NAMES,
    RuleNames,
    check_name,
    claim_names,
    read_invariant,
    read_rewrite,
    read_rule,
    read_tools,
    rule_id,
    statement_context,
)
from policy.checks.rules.redactions import read_redaction
from policy.model import Verdict
from policy.syntax import parse_known, print_tools, tree

# Statements that neither grant nor set a default, by the word that they begin with.
_NEVER_GRANT = frozenset(
    "param paths hosts commands strings numbers addresses data let tool "
    "ask deny rewrite redact limit label prove test".split()
)


@dataclass(slots=True, kw_only=True, eq=False)
class _Parts:
    """A layer's checked statements so far, and its knowledge of the tools."""

    knowledge: ToolKnowledge
    rules: list[CheckedRule] = field(default_factory=list)
    rewrites: list[CheckedRewrite] = field(default_factory=list)
    limits: list[CheckedLimit] = field(default_factory=list)
    redactions: list[CheckedRedaction] = field(default_factory=list)
    defaults: list[CheckedDefault] = field(default_factory=list)
    delegations: list[CheckedDelegation] = field(default_factory=list)
    invariants: list[CheckedInvariant] = field(default_factory=list)


def read_declarations(layer: Layer, check: CheckContext) -> tuple[CheckedDeclaration, ...]:
    """Return what the `tool` statements of a layer add to the tools they match."""
    return tuple(
        read_declaration(statement, unit, check)
        for unit in layer.units
        for statement in unit.statements
        if isinstance(statement, tree.ToolDeclaration)
    )


def read_layer(
    layer: Layer,
    check: CheckContext,
    names: RuleNames,
    *,
    own: tuple[CheckedDeclaration, ...],
    above: tuple[CheckedDeclaration, ...] = (),
    memory: CheckMemory,
) -> CheckedPolicy:
    """Return a layer with all of its statements resolved; report their mistakes.

    `own` are the layer's declarations of tools, `above` those of the layer of every agent. `memory`
    has rules that were checked before.
    """
    parts = _Parts(knowledge=ToolKnowledge(declared=(*above, *own), check=check))
    check.labels = labels_in(layer.scope)
    check.stores = stores_of((*above, *own))
    check_stores_are_written(own, check.stores, check.report)
    # Before any rule: a mistake in a definition is reported there, not where it is used.
    for unit in layer.units:
        _check_definitions(unit, check)
        for source in (each for found in unit.scope.labels.values() for each in found):
            read_label(source, check, read_test, is_in_pack=unit.pack)
    for unit in layer.units:
        _read_unit(unit, layer.key, parts, check, names, memory)
    return CheckedPolicy(
        key=layer.key,
        rules=tuple(parts.rules),
        rewrites=tuple(parts.rewrites),
        limits=tuple(parts.limits),
        redactions=tuple(parts.redactions),
        defaults=tuple(parts.defaults),
        delegations=tuple(parts.delegations),
        declarations=own,
        invariants=tuple(parts.invariants),
        incomplete=layer.is_likely or any(one.word not in _NEVER_GRANT for one in layer.broken),
    )


def _read_unit(
    unit: Unit,
    key: LayerKey,
    parts: _Parts,
    check: CheckContext,
    names: RuleNames,
    memory: CheckMemory,
) -> None:
    """Read a unit's statements; all of its rules at once where they are all remembered."""
    names.broken.update(f"{unit.prefix}{name}" for name in unit.scope.broken)
    run = memory.unit(key, unit)
    claimed = claim_names((*unit.statements, *unit.known), unit, names)
    known = run.kept is not None
    if run.kept is not None:
        parts.rules.extend(run.kept)
    for statement in unit.statements if known and claimed else unit.in_order():
        if not claimed and isinstance(statement, WITH_NAMES):
            check_name(statement, unit, names, check)
        if not isinstance(statement, tree.Rule | tree.KnownRule):
            _read(statement, unit, key, parts, check)
        elif not known:
            _read_rule(statement, unit, parts, check, run)


def _read_rule(
    statement: tree.Rule | tree.KnownRule,
    unit: Unit,
    parts: _Parts,
    check: CheckContext,
    run: UnitMemory,
) -> None:
    counts = unit.grants or statement.verdict is not Verdict.ALLOW
    rule = run.find(statement, id=rule_id(statement.name, statement.span, unit.prefix))
    if rule is None:
        before = check.report.count
        node = statement if isinstance(statement, tree.Rule) else parse_known(statement)
        rule = read_rule(node, unit, check, knowledge=parts.knowledge)
        run.note(statement, rule, diagnostics=check.report.since(before))
        if counts:
            check.fresh.append(rule)
    if counts:
        parts.rules.append(rule)


def _read(
    statement: tree.Statement,
    unit: Unit,
    key: LayerKey,
    parts: _Parts,
    check: CheckContext,
) -> None:
    match statement:
        case tree.Rewrite():
            rewrite = read_rewrite(statement, unit, check, knowledge=parts.knowledge)
            parts.rewrites.append(rewrite)
        case tree.Invariant():
            invariant = read_invariant(statement, unit, check)
            if unit.grants or invariant.kind != "assume":
                parts.invariants.append(invariant)
        case tree.Default():
            default = _default(statement, unit, check)
            if unit.grants:
                parts.defaults.append(default)
        case tree.Delegate():
            delegation = _delegation(statement, unit, key, check)
            if unit.grants and delegation is not None:
                parts.delegations.append(delegation)
        case tree.Limit():
            limit = read_limit(statement, unit, check, key=key, knowledge=parts.knowledge)
            parts.limits.append(limit)
        case tree.RedactResults():
            redaction = read_redaction(statement, unit, check, knowledge=parts.knowledge)
            parts.redactions.append(redaction)
        case _:
            # Names, labels, `use` and `tool` were read before, rules are read separately; tests are
            # read with the suites.
            return


def _default(statement: tree.Default, unit: Unit, check: CheckContext) -> CheckedDefault:
    text = f"default {statement.verdict}"
    if statement.tools is None:
        return CheckedDefault(verdict=statement.verdict, tools=None, text=text, span=statement.span)
    grants = statement.verdict is Verdict.ALLOW
    return CheckedDefault(
        verdict=statement.verdict,
        tools=read_tools(statement.tools, unit, check, grants=grants),
        text=f"{text} for {print_tools(statement.tools)}",
        span=statement.span,
    )


def _delegation(
    statement: tree.Delegate, unit: Unit, key: LayerKey, check: CheckContext
) -> CheckedDelegation | None:
    selector = read_tools(statement.tools, unit, check, grants=True)
    to = layer_key(statement.to)
    if key == EVERY and to != EVERY:
        return CheckedDelegation(tools=selector, to=to, span=statement.span)
    check.report.add(
        "delegate-outside-global",
        "only the layer of every agent can delegate, and only to another layer",
        span=statement.span,
        help="move it to a file that begins with `policy for every agent`",
    )
    return None


# ------------------------------------------------------------------ tool declarations


def read_declaration(
    statement: tree.ToolDeclaration, unit: Unit, check: CheckContext
) -> CheckedDeclaration:
    """Return what a `tool` statement adds to the tools it matches."""
    tools = tree.Tools(included=(statement.tool,), span=statement.tool.span)
    selector = check.tools.selector(tools, unit.scope, grants=False, lenient=unit.pack)
    context = statement_context(selector, unit, check)
    resources: list[Resource] = []
    stores: dict[str, list[str]] = {"writes": [], "reads": []}
    for effect in statement.effects:
        if isinstance(effect, tree.StoreEffect):
            stores[effect.verb].append(_store_name(effect, context))
            continue
        for path in effect.fields:
            resource = _resource(effect, path, context)
            if resource is not None:
                resources.append(resource)
                _check_extent(resource, effect, statement, check)
    return CheckedDeclaration(
        tools=selector,
        resources=tuple(resources),
        complete=statement.complete,
        extra_fields=statement.extra_fields,
        writes_to=tuple(dict.fromkeys(stores["writes"])),
        reads_from=tuple(dict.fromkeys(stores["reads"])),
        span=statement.span,
    )


def _check_extent(
    resource: Resource, effect: tree.Effect, statement: tree.ToolDeclaration, check: CheckContext
) -> None:
    """Report a path that is probably a folder, where it is not said whether with all below it."""
    field = next((step for step in reversed(resource.steps) if step != "*"), "")
    is_folder = is_of_folders(statement.tool.pattern) or FOLDERS & set(name_words(field))
    if resource.may_be_tree and is_folder:
        named, verb = f"input.{'.'.join(resource.steps)}".replace(".*", "[*]"), effect.verb
        listing = f", or `lists {named}`" if verb == "reads" else ""
        check.report.add(
            "unsaid-folder",
            f"`{verb} {named}` does not say whether a folder is meant with everything below it",
            span=effect.span,
            help=f"write `{verb} tree {named}`, `{verb} file {named}`{listing}",
        )


def _store_name(effect: tree.StoreEffect, context: StatementContext) -> str:
    name = interpolate(effect.store, context.scope, context.report, span=effect.span)
    if not name.strip():
        context.report.add(
            "bad-declaration",
            "a store has a name that is not empty",
            span=effect.span,
            help='write a name: `writes to store "contacts"`',
        )
    return name


def _resource(
    effect: tree.Effect, path: tree.FieldPath, context: StatementContext
) -> Resource | None:
    steps = input_steps(path, context)
    if steps is None:
        return None
    assert context.tools is not None
    shown = ".".join(["input", *(str(step) for step in steps if step != "*")])
    kind = field_type(steps, context.tools, context.report, shown=shown, span=path.span)
    numbered = any(isinstance(step, int) for step in steps)
    if not numbered and kind.may_be("string", "list", "object"):
        return Resource(
            verb=effect.verb,
            steps=tuple(str(step) for step in steps),
            tree=None if effect.extent is None else effect.extent == "tree",
            listed=effect.listed,
        )
    context.report.add(
        "bad-declaration",
        "one element of a list cannot be declared"
        if numbered
        else f"`{shown}` is {kind}, but a resource is a string or a list of strings",
        span=path.span,
        help="write `[*]` for every element"
        if numbered
        else "name the field that contains the string",
    )
    return None


# ------------------------------------------------------------------ definitions


def _check_definitions(unit: Unit, check: CheckContext) -> None:
    """Read every definition once, so that mistakes in unused ones are reported too."""
    for statement in unit.statements:
        if not isinstance(
            statement,
            (
                tree.ToolSet,
                tree.NamedSet,
                tree.SetFromFile,
                tree.DataTable,
                tree.Let,
                tree.Param,
            ),
        ):
            continue
        found = unit.scope.names.get(statement.name)
        if found is None or found.node is not statement:
            continue
        _check_definition(found, unit, check)


def _check_definition(found: Definition, unit: Unit, check: CheckContext) -> None:
    match found.node:
        case tree.ToolSet():
            check.tools.named(found, lenient=unit.pack)
            _check_not_a_tool(found, check)
        case tree.NamedSet() | tree.SetFromFile():
            sets.named_set(found, check)
        case tree.DataTable(file=file, key=key, span=span):
            if sets.data_value(file, key, span, check) is sets.MISSING:
                return
        case tree.Let(value=expr):
            # Its uses are not known yet, so neither fields nor positions are checked.
            context = StatementContext(check=check, scope=found.scope, tools=None)
            context.lets = (found.node,)
            if isinstance(expr, CONDITIONS):
                read_test(expr, context)
            else:
                value(expr, context)
        case tree.Param():
            check_parameter(found, found.node, check, unit)


def _check_not_a_tool(found: Definition, check: CheckContext) -> None:
    name = found.node.name
    if check.catalog.get(name) is None:
        return
    check.report.add(
        "name-redefined",
        f"`{name}` is the name of a tool",
        span=found.span,
        help="choose another name for the set, so that rules for the tool mean the tool",
    )
