"""`label NAME on results of TOOLS at FIELDS clauses`: reads one statement."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass, replace
from typing import Any

from policy.checks.checked import (
    CheckedLabel,
    EarlierCall,
    EarlierCalls,
    Fact,
    ResourceTest,
    Test,
)
from policy.checks.conditions.declared_outputs import declared_outputs
from policy.checks.conditions.reader_state import ReadTest, StatementContext
from policy.checks.conditions.result_fact import RESULT, with_result
from policy.checks.context import CheckContext
from policy.checks.names.scopes import LabelSource
from policy.syntax import print_clause, tree


def read_label(
    source: LabelSource, check: CheckContext, read: ReadTest, *, is_in_pack: bool
) -> CheckedLabel:
    """Return one `label` statement, resolved; report its mistakes."""
    known = check.read_labels.get(source)
    if known is not None:
        return known
    if source in check.open_labels:
        # A condition that asks for labels is an error, which is reported where it is read.
        source = LabelSource(replace(source.node, clauses=()), source.scope)
        return _label(source, check, read, is_in_pack=is_in_pack)
    check.open_labels.append(source)
    try:
        known = check.read_labels[source] = _label(source, check, read, is_in_pack=is_in_pack)
    finally:
        check.open_labels.pop()
    return known


def _label(
    source: LabelSource, check: CheckContext, read: ReadTest, *, is_in_pack: bool
) -> CheckedLabel:
    node = source.node
    selector = check.tools.selector(node.tools, source.scope, grants=False, lenient=is_in_pack)
    tools = check.fields_for(selector)
    context = with_result(
        StatementContext(check=check, scope=source.scope, tools=tools, is_in_pack=is_in_pack),
        selector,
    )
    wheres = [clause.test for clause in node.clauses if isinstance(clause, tree.When)]
    whens = wheres[0] if len(wheres) == 1 else None
    if len(wheres) > 1:
        whens = tree.And(operands=tuple(wheres), span=node.span)
    unless = next((c.test for c in node.clauses if isinstance(c, tree.Unless)), None)
    _refuse_others(node, context)
    context.permits = False
    when_test = None if whens is None else read(whens, context)
    context.permits = True
    unless_test = None if unless is None else read(unless, context)
    _check_parts(node, (when_test, unless_test), context)
    return CheckedLabel(
        name=node.label,
        tools=selector,
        fields=node.fields,
        when=when_test,
        unless=unless_test,
        slots=context.slots,
        outputs=declared_outputs(tools.specs, check.catalog.views),
    )


def _refuse_others(node: tree.LabelResults, context: StatementContext) -> None:
    for clause in node.clauses:
        if not isinstance(clause, tree.When | tree.Unless):
            context.report.add(
                "bad-label",
                f"a `label` cannot have `{print_clause(clause)}`",
                span=clause.span,
                help="use `when` and `unless`, about the input and the result of the call",
            )


def _check_parts(
    node: tree.LabelResults, tests: tuple[Test | None, ...], context: StatementContext
) -> None:
    """Report a condition that asks for more than what is kept of a call."""
    for what, verb in dict(_other_facts(tests)).items():
        context.report.add(
            "bad-label",
            f"a `label` is about one call and its result, and {what} is not kept with it",
            span=node.span,
            help="use the fields of `input` and `result` alone"
            if verb is None
            else _instead_of_resource(verb, context),
        )


def _instead_of_resource(verb: tree.Verb, context: StatementContext) -> str:
    """Return how a label can be about the field that names a resource."""
    specs = () if context.tools is None else context.tools.specs
    fields = (one.steps for spec in specs for one in spec.resources if one.verb == verb)
    field = next((steps for steps in fields if "*" not in steps), ("FIELD",))
    value = ".".join(("input", *field))
    test = f"url({value}).host in HOSTS" if verb == "connects" else f"{value} matches /PATTERN/"
    return f"compare the input: `unless {test}` marks all results but those that are surely safe"


def _other_facts(node: Any) -> Iterator[tuple[str, tree.Verb | None]]:
    """Yield what else conditions are about; of a resource test also its verb."""
    match node:
        case Fact(path=path):
            if path not in (("input",), RESULT.path):
                yield f"`{'.'.join(path)}`", None
        case ResourceTest(text=text, verb=verb):
            yield f"`{text}`", verb
        case EarlierCall(text=text) | EarlierCalls(text=text):
            yield f"`{text}`", None
        case tuple():
            for part in node:
                yield from _other_facts(part)
        case _ if is_dataclass(node):
            for one in fields(node):
                yield from _other_facts(getattr(node, one.name))
        case _:
            return
