"""Lay out statements on lines: one line if it fits, otherwise a line for each clause."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import assert_never

from policy.syntax import inline_printer as w
from policy.syntax import tree as t
from policy.syntax.literals import write_text

WIDTH = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A part of a statement kept on one line if it fits; it may break between its `chunks`.

    Comments from the offset `start` on belong to it.
    """

    chunks: tuple[str, ...]
    start: int
    indent: int = 2

    @property
    def text(self) -> str:
        """The part on one line."""
        return " ".join(self.chunks)

    def lines(self) -> list[str]:
        """Return the part's lines, broken between chunks where it is too long for one."""
        margin = " " * self.indent
        lines = [margin + self.chunks[0]]
        for chunk in self.chunks[1:]:
            if len(lines[-1]) + 1 + len(chunk) <= WIDTH:
                lines[-1] += " " + chunk
            else:
                lines.append(f"{margin}  {chunk}")
        return lines


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """A statement's parts, in three forms.

    `parts` is the form over several lines, `apart` the form with comments inside.
    """

    parts: tuple[Part, ...]
    apart: tuple[Part, ...]
    joins: bool = True

    def lines(self) -> list[str]:
        """Return the lines of a statement without comments inside."""
        line = " ".join(part.text for part in self.parts)
        if self.joins and len(line) <= WIDTH:
            return [line]
        return [line for part in self.parts for line in part.lines()]


def lay_out(node: t.Header | t.Statement) -> Layout:
    """Return the layout of a statement."""
    match node:
        case t.PolicyHeader(binding=binding):
            return _sentence(node, f"policy for {w.print_binding(binding)}")
        case t.PackHeader(name=name):
            return _sentence(node, f"pack {write_text(name)}")
        case t.ToolSet(name=name, tools=tools):
            return _listing(node, f"tools {name} =", _tool_items(tools))
        case t.NamedSet(kind=kind, name=name):
            return _listing(node, f"{kind} {name} =", _set_items(node))
        case t.Rule() | t.Rewrite() | t.RedactResults() | t.Limit() | t.Invariant():
            return _rule(node)
        case t.LabelResults(clauses=clauses):
            return _sentence(node, *_label(node), clauses=map(_clause, clauses))
        case t.ToolDeclaration():
            return _sentence(node, *_declaration(node))
        case t.Let(name=name, value=value):
            first, *rest = w.junction_parts(value)
            return _sentence(node, f"let {name} = {first}", *rest)
        case t.Test():
            return _test(node)
        case t.Use() | t.Param() | t.SetFromFile() | t.DataTable() | t.Default() | t.Delegate():
            return _sentence(node, *_plain(node))
        case _:
            assert_never(node)


_Named = t.Rule | t.Rewrite | t.RedactResults | t.Limit | t.Invariant
_Plain = t.Use | t.Param | t.SetFromFile | t.DataTable | t.Default | t.Delegate


def _sentence(node: t.Header | t.Statement, *chunks: str, clauses: Iterable[Part] = ()) -> Layout:
    parts = (Part(chunks=chunks, start=node.span.start, indent=0), *clauses)
    return Layout(parts=parts, apart=parts)


def _listing(node: t.ToolSet | t.NamedSet, opening: str, items: list[tuple[str, int]]) -> Layout:
    whole = Part(chunks=(opening, *(text for text, _ in items)), start=node.span.start, indent=0)
    apart = (
        Part(chunks=(opening,), start=node.span.start, indent=0),
        *(Part(chunks=(text,), start=start) for text, start in items),
    )
    return Layout(parts=(whole,), apart=apart)


def _rule(node: _Named) -> Layout:
    opening = _opening(node)
    clauses = [_clause(clause) for clause in node.clauses]
    if isinstance(node, t.Rewrite):
        clauses += [
            Part(chunks=(w.print_change(change),), start=change.span.start)
            for change in node.changes
        ]
    if node.name is None:
        first = Part(chunks=opening, start=node.span.start, indent=0)
        named: tuple[Part, ...] = ()
    else:
        first = Part(chunks=opening, start=node.tools.span.start)
        named = (Part(chunks=(f"{node.name}:",), start=node.span.start, indent=0),)
    apart = (*named, first, *clauses)
    return Layout(parts=(*named, *_joined(first, clauses)), apart=apart)


def _joined(first: Part, clauses: list[Part]) -> list[Part]:
    """Put the first clause on the line of the verdict if it fits."""
    if not clauses or first.indent + len(first.text) + 1 + len(clauses[0].text) > WIDTH:
        return [first, *clauses]
    both = Part(chunks=(*first.chunks, *clauses[0].chunks), start=first.start, indent=first.indent)
    return [both, *clauses[1:]]


def _opening(node: _Named) -> tuple[str, ...]:
    shadow = "" if isinstance(node, t.Invariant) or not node.shadow else "shadow "
    match node:
        case t.Rule(verdict=verdict):
            return _after(f"{shadow}{verdict.value}", node.tools)
        case t.Rewrite():
            return _after(f"{shadow}rewrite", node.tools)
        case t.RedactResults(regex=regex, replacement=replacement):
            matching = w.print_matching(regex, replacement)
            return (*_after(f"{shadow}redact results of", node.tools), matching)
        case t.Limit():
            return (*_after(f"{shadow}limit", node.tools), *w.print_budget(node))
        case t.Invariant(kind=kind, claim=claim):
            return _after(f"{kind} {claim}", node.tools)
        case _:
            assert_never(node)


def _label(node: t.LabelResults) -> list[str]:
    chunks = [*_after(f"label {node.label} on results of", node.tools)]
    if node.fields:
        chunks.append(f"at {', '.join('.'.join(path) for path in node.fields)}")
    return chunks


def _declaration(node: t.ToolDeclaration) -> list[str]:
    chunks = [f"tool {w.print_tool(node.tool)}"]
    for effect in node.effects:
        if isinstance(effect, t.StoreEffect):
            link = "to" if effect.verb == "writes" else "from"
            chunks.append(f"{effect.verb} {link} store {write_text(effect.store)}")
        else:
            chunks.append(f"{_does(effect)} {', '.join(map(w.print_path, effect.fields))}")
    if node.complete:
        chunks.append("and nothing else")
    if node.extra_fields:
        chunks.append("extra fields allowed")
    return chunks


def _does(effect: t.Effect) -> str:
    if effect.listed:
        return "lists tree" if effect.extent == "tree" else "lists"
    if effect.extent is not None:
        return f"{effect.verb} {effect.extent}"
    return f"{effect.verb} to" if effect.verb in ("connects", "sends") else effect.verb


def _plain(node: _Plain) -> tuple[str, ...]:
    match node:
        case t.Use():
            return _use(node)
        case t.Param(name=name, kind=kind, default=default):
            value = "" if default is None else f" = {w.print_value(default)}"
            return (f"param {name}: {kind}{value}",)
        case t.SetFromFile(kind=kind, name=name, file=file, key=key):
            return (f"{kind} {name} from {write_text(file)}{_at(key)}",)
        case t.DataTable(name=name, file=file, key=key):
            return (f"data {name} from {write_text(file)}{_at(key)}",)
        case t.Default(verdict=verdict, tools=tools):
            if tools is None:
                return (f"default {verdict.value}",)
            return _after(f"default {verdict.value} for", tools)
        case t.Delegate(tools=tools, to=to):
            return (*_after("delegate", tools), f"to {w.print_binding(to)}")
        case _:
            assert_never(node)


def _use(node: t.Use) -> tuple[str, ...]:
    chunks = [f"use {write_text(node.path)}"]
    if node.alias is not None:
        chunks.append(f"as {node.alias}")
    bindings = [f"{name} = {w.print_value(value)}" for name, value in node.bindings]
    if bindings:
        chunks += _commas(["with " + bindings[0], *bindings[1:]])
    if node.granting:
        chunks.append("granting")
    return tuple(chunks)


def _at(key: tuple[str, ...]) -> str:
    return f" at {'.'.join(key)}" if key else ""


def _after(words: str, tools: t.Tools) -> tuple[str, ...]:
    first, *rest = (text for text, _ in _tool_items(tools))
    return (f"{words} {first}", *rest)


def _tool_items(tools: t.Tools) -> list[tuple[str, int]]:
    included = _commas([w.print_tool(tool) for tool in tools.included])
    excluded = _commas([w.print_tool(tool) for tool in tools.excluded])
    if excluded:
        excluded[0] = f"except {excluded[0]}"
    starts = [tool.span.start for tool in (*tools.included, *tools.excluded)]
    return list(zip([*included, *excluded], starts, strict=True))


def _set_items(node: t.NamedSet) -> list[tuple[str, int]]:
    included = _commas([w.print_expr(item) for item in node.included])
    excluded = _commas([w.print_expr(item) for item in node.excluded])
    if excluded:
        excluded[0] = f"except {excluded[0]}"
    starts = [item.span.start for item in (*node.included, *node.excluded)]
    return list(zip([*included, *excluded], starts, strict=True))


def _commas(items: list[str]) -> list[str]:
    return [f"{item}," for item in items[:-1]] + items[-1:]


def _clause(clause: t.Clause) -> Part:
    match clause:
        case t.When(test=test) | t.Unless(test=test):
            word = "when" if isinstance(clause, t.When) else "unless"
            first, *rest = w.junction_parts(test)
            return Part(chunks=(f"{word} {first}", *rest), start=clause.span.start)
        case _:
            return Part(chunks=(w.print_clause(clause),), start=clause.span.start)


def _test(node: t.Test) -> Layout:
    title = Part(chunks=(f"test {write_text(node.title)}",), start=node.span.start, indent=0)
    parts = (title, *(part for step in node.steps for part in _step(step)))
    return Layout(parts=parts, apart=parts, joins=False)


def _step(step: t.Given | t.Case) -> list[Part]:
    if isinstance(step, t.Given):
        bindings = [f"{w.print_path(path)} = {w.print_expr(v)}" for path, v in step.bindings]
        first, *rest = _commas(bindings)
        return [Part(chunks=(f"given {first}", *rest), start=step.span.start)]
    parts = [Part(chunks=(_past(past),), start=past.span.start) for past in step.past]
    call = " ".join([w.print_call(step.call), *_returning(step.returning), "->", *_outcome(step)])
    indent = 4 if step.past else 2
    return [*parts, Part(chunks=(call,), start=step.call.span.start, indent=indent)]


def _past(past: t.Past) -> str:
    times = [] if past.times is None else [f"{past.times} times"]
    ago = [] if past.ago is None else [f"{w.print_duration(past.ago)} ago"]
    return " ".join(["after", *times, w.print_call(past.call), *_returning(past.returning), *ago])


def _returning(value: t.Expr | t.Withheld | None) -> list[str]:
    if isinstance(value, t.Withheld):
        return ["returning withheld"]
    return [] if value is None else [f"returning {w.print_expr(value)}"]


def _outcome(case: t.Case) -> list[str]:
    by = [] if case.by is None else [f"by {w.print_rule_reference(case.by)}"]
    becoming = [] if case.becoming is None else [f"becoming {w.print_expr(case.becoming)}"]
    return [case.verdict.value, *by, *becoming, *_returning(case.returned)]
