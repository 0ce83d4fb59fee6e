"""Nodes -> the words that say them, on one line: expressions, clauses, tools, whom a file binds.

What these return can be parsed again and gives an equal node. Reasons and diagnostics quote it.
"""

from __future__ import annotations

import re
from typing import assert_never

from policy.syntax import tree as t
from policy.syntax.literals import write_number, write_regex, write_text

NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
_TOOL_PATTERN = re.compile(r"[A-Za-z_*?](?:[A-Za-z0-9_.\-*?/]*[A-Za-z0-9_*?])?\Z")
_RULE_REFERENCE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(?:[.-][A-Za-z0-9_]+)*\Z")
# Words that may stand where a tool could, somewhere; a tool of such a name is quoted everywhere.
_QUOTED_TOOLS = frozenset({"mcp", "ext", "given", "after", "by", "becoming", "returning"})
# Words that may stand where a resource test has its operand.
_OPERAND_WORDS = frozenset({"only", "outside", "nothing", "anything"})

# How tightly a node holds together; one that is looser than its place is put in parentheses.
_ANY, _JUNCTION, _TEST, _SUM, _PRODUCT, _FACTOR, _POSTFIX, _ATOM = range(8)


def print_expr(expr: t.Expr) -> str:
    """Return an expression on one line."""
    return _expr(expr, _ANY)


def print_value(expr: t.Expr) -> str:
    """Return an expression for a place that takes a value, a condition only in parentheses."""
    return _expr(expr, _SUM)


def print_tools(tools: t.Tools) -> str:
    """Return `a, mcp b/* except c`."""
    included = ", ".join(map(print_tool, tools.included))
    if not tools.excluded:
        return included
    return f"{included} except {', '.join(map(print_tool, tools.excluded))}"


def print_tool(tool: t.ToolRef) -> str:
    """Return one pattern, quoted where its letters or the words of the language ask for it."""
    plain = _TOOL_PATTERN.match(tool.pattern) and tool.pattern not in _QUOTED_TOOLS
    pattern = tool.pattern if plain else write_text(tool.pattern)
    return pattern if tool.origin is None else f"{tool.origin} {pattern}"


def print_binding(binding: t.Binding) -> str:
    """Return `every agent`, `agent "a"`, `agents "a", "b-*"` or `role "r"`."""
    match binding:
        case t.EveryAgent():
            return "every agent"
        case t.Agents(patterns=patterns, plural=plural):
            return f"agent{'s' if plural else ''} {', '.join(map(write_text, patterns))}"
        case t.Role(name=name):
            return f"role {write_text(name)}"
        case _:
            assert_never(binding)


def print_rule_reference(name: str) -> str:
    """Return a rule's name as a test refers to it."""
    return name if _RULE_REFERENCE.match(name) else write_text(name)


def print_duration(duration: t.Duration) -> str:
    """Return `30s`."""
    return f"{duration.amount}{duration.unit}"


def print_path(path: t.FieldPath) -> str:
    """Return `input.a["odd name"][0][*]`."""
    return path.root + "".join(map(_step, path.steps))


def print_clause(clause: t.Clause) -> str:
    """Return one clause of a rule on one line."""
    match clause:
        case t.After(tools=tools, within=within):
            return f"after {print_tools(tools)}{_within(within)}"
        case t.When(test=test):
            return f"when {print_expr(test)}"
        case t.Unless(test=test):
            return f"unless {print_expr(test)}"
        case t.Because(text=text):
            return f"because {write_text(text)}"
        case t.Audit(text=text):
            return f"audit {write_text(text)}"
        case t.WithApproval():
            return "with approval"
        case t.By(groups=groups):
            return f"by {', '.join(map(write_text, groups))}"
        case t.TwoPeople():
            return "two people"
        case t.Remember():
            return _remember(clause)
        case _:
            assert_never(clause)


def print_change(change: t.Change) -> str:
    """Return one change of a rewrite on one line."""
    path = print_path(change.path)
    match change:
        case t.SetField(value=value, if_absent=if_absent):
            return f"set {path} = {print_value(value)}{' if absent' if if_absent else ''}"
        case t.AtMost(bound=bound):
            return f"set {path} = at most {print_value(bound)}"
        case t.AtLeast(bound=bound):
            return f"set {path} = at least {print_value(bound)}"
        case t.RemoveField():
            return f"remove {path}"
        case t.RedactField(regex=regex, replacement=replacement):
            return f"redact {path} {print_matching(regex, replacement)}"
        case _:
            assert_never(change)


def print_matching(regex: t.Regex, replacement: str | None) -> str:
    """Return `matching /re/ with "…"`."""
    instead = "" if replacement is None else f" with {write_text(replacement)}"
    return f"matching {write_regex(regex.pattern)}{instead}"


def print_call(call: t.TestCall) -> str:
    """Return `tool {field: value}`."""
    return f"{print_tool(call.tool)} {_object(call.input)}"


def junction_parts(expr: t.Expr) -> tuple[str, ...]:
    """Return an expression in the parts between which a line may end: `a`, `and b`, `and c`."""
    match expr:
        case t.And(operands=operands) | t.Or(operands=operands):
            word = "and" if isinstance(expr, t.And) else "or"
            first, *rest = (_expr(operand, _TEST) for operand in operands)
            return (first, *(f"{word} {operand}" for operand in rest))
        case _:
            return (print_expr(expr),)


def _remember(clause: t.Remember) -> str:
    period = clause.period if isinstance(clause.period, str) else print_duration(clause.period)
    fields = f" for {', '.join(map(print_path, clause.fields))}" if clause.fields else ""
    times = "" if clause.times is None else f" up to {clause.times} times"
    return f"remember {period}{fields}{times}"


def _step(step: str | int | t.Star) -> str:
    match step:
        case t.Star():
            return "[*]"
        case int():
            return f"[{step}]"
        case str():
            return f".{step}" if NAME.match(step) else f"[{write_text(step)}]"
        case _:
            assert_never(step)


def _within(within: t.Duration | None) -> str:
    return "" if within is None else f" within {print_duration(within)}"


def _expr(expr: t.Expr, place: int) -> str:
    level, text = _spelled(expr)
    return f"({text})" if level < place else text


def _spelled(expr: t.Expr) -> tuple[int, str]:
    """Return how tightly the expression holds together, and its words."""
    match expr:
        case t.Quantifier(kind=kind, source=source, test=test):
            return _ANY, f"{kind} {_each(expr.variable, expr.index)} {_in(source, test)}"
        case t.And() | t.Or():
            return _JUNCTION, " ".join(junction_parts(expr))
        case t.Not(operand=operand):
            return _TEST, f"not {_negated(operand)}"
        case t.Arithmetic(op=op, left=left, right=right):
            level = _PRODUCT if op == "*" else _SUM
            return level, f"{_expr(left, level)} {op} {_expr(right, level + 1)}"
        case t.Negate(operand=operand):
            return _FACTOR, f"-{_expr(operand, _FACTOR)}"
        case t.Field(base=base, name=name):
            return _POSTFIX, f"{_expr(base, _POSTFIX)}.{name}"
        case t.Index(base=base, key=key):
            return _POSTFIX, f"{_expr(base, _POSTFIX)}[{_expr(key, _SUM)}]"
        case (
            t.Compare()
            | t.In()
            | t.TextTest()
            | t.Like()
            | t.Matches()
            | t.Is()
            | t.NamedByUser()
            | t.From()
            | t.Window()
        ):
            return _TEST, f"{_expr(expr.left, _SUM)} {_predicate(expr)}"
        case t.ResourceTest():
            return _TEST, _resource_test(expr)
        case t.AfterTest(tools=tools, within=within):
            one = len(tools.included) == 1 and not tools.excluded
            spelled = print_tools(tools) if one else f"[{print_tools(tools)}]"
            return _TEST, f"after {spelled}{_within(within)}"
        case _:
            return _ATOM, _atom(expr)


_Atom = (
    t.Text
    | t.Number
    | t.Duration
    | t.Boolean
    | t.Null
    | t.ListLiteral
    | t.ObjectLiteral
    | t.Name
    | t.Function
    | t.Selection
    | t.History
)


def _atom(expr: _Atom) -> str:
    match expr:
        case t.Text(value=text):
            return write_text(text)
        case t.Number(value=number):
            return write_number(number)
        case t.Duration():
            return print_duration(expr)
        case t.Boolean(value=truth):
            return "true" if truth else "false"
        case t.Null():
            return "null"
        case t.ListLiteral(items=items):
            return f"[{', '.join(map(print_value, items))}]"
        case t.ObjectLiteral():
            return _object(expr)
        case t.Name(name=name):
            return name
        case t.Function(name=name, args=args):
            return f"{name}({', '.join(map(print_value, args))})"
        case t.Selection(function=function, source=source, test=test):
            return f"{function}({_each(expr.variable, expr.index)} {_in(source, test)})"
        case t.History(kind=kind, tools=tools):
            return f"{kind}({print_tools(tools)})"
        case _:
            assert_never(expr)


_Predicate = (
    t.Compare | t.In | t.TextTest | t.Like | t.Matches | t.Is | t.NamedByUser | t.From | t.Window
)


def _predicate(expr: _Predicate) -> str:
    match expr:
        case t.Compare(op=op, right=right):
            return f"{op} {_expr(right, _SUM)}"
        case t.In(right=right, negated=negated):
            return f"{'not in' if negated else 'in'} {_expr(right, _SUM)}"
        case t.TextTest(op=op, right=right):
            operand = write_regex(right.pattern) if isinstance(right, t.Regex) else None
            return f"{op} {operand or _expr(right, _SUM)}"  # type: ignore[arg-type]
        case t.Like(pattern=pattern):
            return f"like {write_text(pattern)}"
        case t.Matches(regex=regex):
            return f"matches {write_regex(regex.pattern)}"
        case t.Is(what=what):
            article = "" if what in ("present", "absent") else "an " if what == "object" else "a "
            return f"is {article}{what}"
        case t.NamedByUser():
            return "named by user"
        case t.From(source=source):
            return f"from {_atom(source)}"
        case t.Window(start=start, end=end, zone=zone, days=days):
            where = "" if zone is None else f" {write_text(zone)}"
            return f"within {start}..{end}{where}{'' if days is None else f' on {days}'}"
        case _:
            assert_never(expr)


def _each(variable: str, index: str | None) -> str:
    return variable if index is None else f"{variable} at {index}"


def _in(source: t.Expr, test: t.Expr) -> str:
    return f"in {_expr(source, _SUM)}: {_expr(test, _ANY)}"


def _negated(operand: t.Expr) -> str:
    level, text = _spelled(operand)
    plain = level > _TEST or isinstance(operand, t.Not | t.ResourceTest | t.AfterTest)
    return text if plain and level >= _TEST else f"({text})"


def _resource_test(expr: t.ResourceTest) -> str:
    to = " to" if expr.verb in ("connects", "sends") and expr.form != "outside" else ""
    form = "" if expr.form == "some" else f" {expr.form}"
    return f"{expr.verb}{form}{to} {_operand(expr.operand)}"


def _operand(operand: t.Expr | t.Nothing | t.Anything) -> str:
    match operand:
        case t.Nothing():
            return "nothing"
        case t.Anything():
            return "anything"
        case _:
            first: t.Expr = operand
            while isinstance(first, t.Field | t.Index):
                first = first.base
            reserved = isinstance(first, t.Name) and first.name in _OPERAND_WORDS
            return f"({print_expr(operand)})" if reserved else _expr(operand, _POSTFIX)


def _object(literal: t.ObjectLiteral) -> str:
    entries = (
        f"{name if NAME.match(name) else write_text(name)}: {print_value(value)}"
        for name, value in literal.entries
    )
    return "{" + ", ".join(entries) + "}"
