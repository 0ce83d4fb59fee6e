"""Print expressions, clauses, tools and headers as canonical text on one line.

Parsing the text again gives an equal node. Reasons and diagnostics quote it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, TypeAlias, assert_never

from policy.syntax import tree as t
from policy.syntax.literals import write_number, write_regex, write_text

NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
_TOOL_PATTERN = re.compile(r"[A-Za-z_*?](?:[A-Za-z0-9_.\-*?/]*[A-Za-z0-9_*?])?\Z")
_RULE_REFERENCE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(?:[.-][A-Za-z0-9_]+)*\Z")
# Keywords that may occur in the position of a tool; a tool of such a name is always quoted.
_QUOTED_TOOLS = frozenset({"mcp", "ext", "given", "after", "by", "becoming", "returning"})
# Keywords that may occur in the position of a resource test's operand.
_OPERAND_WORDS = frozenset({"only", "outside", "nothing", "anything"})

# Precedence; a node that binds less tightly than its context requires gets parentheses.
_ANY, _JUNCTION, _TEST, _SUM, _PRODUCT, _FACTOR, _POSTFIX, _ATOM = range(8)


# Conditions printed so far, by identity: the node, its precedence and its text. The node is kept so
# that no other object can reuse its identity.
Spelled: TypeAlias = dict[int, tuple[t.Expr, int, str]]


def print_expr(expr: t.Expr, spelled: Spelled | None = None) -> str:
    """Return an expression on one line; conditions in `spelled` are not printed again."""
    return _expr(expr, _ANY, {} if spelled is None else spelled)


def print_value(expr: t.Expr) -> str:
    """Return an expression as a value; a condition is put in parentheses."""
    return _expr(expr, _SUM, {})


def print_tools(tools: t.Tools) -> str:
    """Return `a, mcp b/* except c`."""
    included = ", ".join(map(print_tool, tools.included))
    if not tools.excluded:
        return included
    return f"{included} except {', '.join(map(print_tool, tools.excluded))}"


def print_limit(limit: t.Limit) -> str:
    """Return `limit TOOLS to N of VALUE per PERIOD`, without clauses."""
    shadow = "shadow " if limit.shadow else ""
    return " ".join([f"{shadow}limit {print_tools(limit.tools)}", *print_budget(limit)])


def print_budget(limit: t.Limit) -> list[str]:
    """Return the parts of `to N of VALUE per PERIOD`."""
    of = [] if limit.of is None else [f"of {print_value(limit.of)}"]
    periods = [f"per {_period(period)}" for period in limit.per]
    return [f"to {print_expr(limit.amount)}", *of, *periods]


def _period(period: t.Duration | str | t.FieldPath) -> str:
    match period:
        case t.Duration():
            return print_duration(period)
        case t.FieldPath():
            return print_path(period)
        case str():
            return period
        case _:
            assert_never(period)


def print_tool(tool: t.ToolRef) -> str:
    """Return one pattern, quoted if it has unusual characters or is a keyword."""
    plain = _is_plain(tool.pattern) and tool.pattern not in _QUOTED_TOOLS
    pattern = tool.pattern if plain else write_text(tool.pattern)
    return pattern if tool.origin is None else f"{tool.origin} {pattern}"


def _is_plain(pattern: str) -> bool:
    """Return whether a pattern needs no quotes; nearly all are a name and asterisks."""
    word = pattern.replace("*", "_")
    is_word = word.isascii() and word.isidentifier()
    return is_word or _TOOL_PATTERN.match(pattern) is not None


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


def print_clause(clause: t.Clause, spelled: Spelled | None = None) -> str:
    """Return one clause of a rule on one line; `spelled` is as for `print_expr`."""
    match clause:
        case t.When(test=test):
            return f"when {print_expr(test, spelled)}"
        case t.Unless(test=test):
            return f"unless {print_expr(test, spelled)}"
        case t.Because(text=text):
            return f"because {_quoted(text)}"
        case t.WithApproval():
            return "with approval"
        case t.After(tools=tools, within=within):
            return f"after {print_tools(tools)}{_within(within)}"
        case t.Audit(text=text):
            return f"audit {_quoted(text)}"
        case t.By(groups=groups):
            return f"by {', '.join(map(_quoted, groups))}"
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
    return f"{print_tool(call.tool)} {_object(call.input, {})[1]}"


def junction_parts(expr: t.Expr) -> tuple[str, ...]:
    """Return the parts of an expression between which a line may break: `a`, `and b`, `and c`."""
    if not isinstance(expr, (t.And, t.Or)):
        return (print_expr(expr),)
    word = "and" if isinstance(expr, t.And) else "or"
    first, *rest = (_expr(operand, _TEST, {}) for operand in expr.operands)
    return (first, *(f"{word} {operand}" for operand in rest))


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


def _quoted(value: str) -> str:
    """Return a string literal; nearly all strings are printable and need no escapes."""
    if value.isprintable() and '"' not in value and "\\" not in value:
        return f'"{value}"'
    return write_text(value)


# ------------------------------------------------------------------ expressions

_Words = tuple[int, str]


def _expr(expr: t.Expr, place: int, spelled: Spelled) -> str:
    """Return the text of an expression, in parentheses where its context requires them."""
    if type(expr) is t.Name:
        return expr.name
    if type(expr) is t.Text:
        return _quoted(expr.value)
    level, text = _spell(expr, spelled)
    return f"({text})" if level < place else text


def _spell(expr: t.Expr, spelled: Spelled) -> _Words:
    """Return the precedence of an expression and its text."""
    known = spelled.get(id(expr))
    if known is not None:
        return known[1], known[2]
    level, text = SPELLERS[type(expr)](expr, spelled)
    if level <= _TEST:
        spelled[id(expr)] = (expr, level, text)
    return level, text


def _quantifier(expr: t.Quantifier, spelled: Spelled) -> _Words:
    each = _each(expr.variable, expr.index)
    return _ANY, f"{expr.kind} {each} {_in_each(expr.source, expr.test, spelled)}"


def _selection(expr: t.Selection, spelled: Spelled) -> _Words:
    each = _each(expr.variable, expr.index)
    return _ATOM, f"{expr.function}({each} {_in_each(expr.source, expr.test, spelled)})"


def _each(variable: str, index: str | None) -> str:
    return variable if index is None else f"{variable} at {index}"


def _in_each(source: t.Expr, test: t.Expr, spelled: Spelled) -> str:
    return f"in {_expr(source, _SUM, spelled)}: {_expr(test, _ANY, spelled)}"


def _and(expr: t.And, spelled: Spelled) -> _Words:
    return _JUNCTION, " and ".join([_expr(part, _TEST, spelled) for part in expr.operands])


def _or(expr: t.Or, spelled: Spelled) -> _Words:
    return _JUNCTION, " or ".join([_expr(part, _TEST, spelled) for part in expr.operands])


def _not(expr: t.Not, spelled: Spelled) -> _Words:
    level, text = _spell(expr.operand, spelled)
    plain = level > _TEST or isinstance(expr.operand, t.Not | t.ResourceTest | t.AfterTest)
    return _TEST, f"not {text}" if plain and level >= _TEST else f"not ({text})"


def _arithmetic(expr: t.Arithmetic, spelled: Spelled) -> _Words:
    level = _PRODUCT if expr.op == "*" else _SUM
    left, right = _expr(expr.left, level, spelled), _expr(expr.right, level + 1, spelled)
    return level, f"{left} {expr.op} {right}"


def _negate(expr: t.Negate, spelled: Spelled) -> _Words:
    return _FACTOR, f"-{_expr(expr.operand, _FACTOR, spelled)}"


def _field(expr: t.Field, spelled: Spelled) -> _Words:
    name, base = expr.name, expr.base
    while type(base) is t.Field:
        name, base = f"{base.name}.{name}", base.base
    return _POSTFIX, f"{_expr(base, _POSTFIX, spelled)}.{name}"


def _index(expr: t.Index, spelled: Spelled) -> _Words:
    base, key = _expr(expr.base, _POSTFIX, spelled), _expr(expr.key, _SUM, spelled)
    return _POSTFIX, f"{base}[{key}]"


def _compare(expr: t.Compare, spelled: Spelled) -> _Words:
    left, right = _expr(expr.left, _SUM, spelled), _expr(expr.right, _SUM, spelled)
    return _TEST, f"{left} {expr.op} {right}"


def _in(expr: t.In, spelled: Spelled) -> _Words:
    left, right = _expr(expr.left, _SUM, spelled), _expr(expr.right, _SUM, spelled)
    return _TEST, f"{left} {'not in' if expr.negated else 'in'} {right}"


def _text_test(expr: t.TextTest, spelled: Spelled) -> _Words:
    left, right = _expr(expr.left, _SUM, spelled), expr.right
    if isinstance(right, t.Regex):
        return _TEST, f"{left} {expr.op} {write_regex(right.pattern)}"
    return _TEST, f"{left} {expr.op} {_expr(right, _SUM, spelled)}"


def _like(expr: t.Like, spelled: Spelled) -> _Words:
    return _TEST, f"{_expr(expr.left, _SUM, spelled)} like {_quoted(expr.pattern)}"


def _matches(expr: t.Matches, spelled: Spelled) -> _Words:
    left = _expr(expr.left, _SUM, spelled)
    return _TEST, f"{left} matches {write_regex(expr.regex.pattern)}"


def with_article(what: t.State | t.TypeName) -> str:
    """Return a word of `is …` as it is written: `present`, `a string`."""
    if what in t.STATES:
        return what
    return f"an {what}" if what == "object" else f"a {what}"


def _is(expr: t.Is, spelled: Spelled) -> _Words:
    return _TEST, f"{_expr(expr.left, _SUM, spelled)} is {with_article(expr.what)}"


def _named_by_user(expr: t.NamedByUser, spelled: Spelled) -> _Words:
    return _TEST, f"{_expr(expr.left, _SUM, spelled)} named by user"


def _from(expr: t.From, spelled: Spelled) -> _Words:
    left, source = _expr(expr.left, _SUM, spelled), _expr(expr.source, _SUM, spelled)
    return _TEST, f"{left} from {source}"


def _window(expr: t.Window, spelled: Spelled) -> _Words:
    where = "" if expr.zone is None else f" {_quoted(expr.zone)}"
    days = "" if expr.days is None else f" on {expr.days}"
    left = _expr(expr.left, _SUM, spelled)
    return _TEST, f"{left} within {expr.start}..{expr.end}{where}{days}"


def _resource_test(expr: t.ResourceTest, spelled: Spelled) -> _Words:
    to = " to" if expr.verb in ("connects", "sends") and expr.form != "outside" else ""
    form = "" if expr.form == "some" else f" {expr.form}"
    return _TEST, f"{expr.verb}{form}{to} {_operand(expr.operand, spelled)}"


def _operand(operand: t.Expr | t.Nothing | t.Anything, spelled: Spelled) -> str:
    if isinstance(operand, t.Nothing):
        return "nothing"
    if isinstance(operand, t.Anything):
        return "anything"
    first: t.Expr = operand
    while isinstance(first, t.Field | t.Index):
        first = first.base
    reserved = isinstance(first, t.Name) and first.name in _OPERAND_WORDS
    return f"({print_expr(operand, spelled)})" if reserved else _expr(operand, _POSTFIX, spelled)


def _after(expr: t.AfterTest, _: Spelled) -> _Words:
    one = len(expr.tools.included) == 1 and not expr.tools.excluded
    tools = print_tools(expr.tools) if one else f"[{print_tools(expr.tools)}]"
    return _TEST, f"after {tools}{_within(expr.within)}"


# ------------------------------------------------------------------ atoms


def _text(expr: t.Text, _: Spelled) -> _Words:
    return _ATOM, _quoted(expr.value)


def _number(expr: t.Number, _: Spelled) -> _Words:
    return _ATOM, write_number(expr.value)


def _duration(expr: t.Duration, _: Spelled) -> _Words:
    return _ATOM, print_duration(expr)


def _boolean(expr: t.Boolean, _: Spelled) -> _Words:
    return _ATOM, "true" if expr.value else "false"


def _null(_: t.Null, __: Spelled) -> _Words:
    return _ATOM, "null"


def _list(expr: t.ListLiteral, spelled: Spelled) -> _Words:
    return _ATOM, f"[{_values(expr.items, spelled)}]"


def _object(expr: t.ObjectLiteral, spelled: Spelled) -> _Words:
    entries = (
        f"{name if NAME.match(name) else write_text(name)}: {_expr(value, _SUM, spelled)}"
        for name, value in expr.entries
    )
    return _ATOM, "{" + ", ".join(entries) + "}"


def _name(expr: t.Name, _: Spelled) -> _Words:
    return _ATOM, expr.name


def _function(expr: t.Function, spelled: Spelled) -> _Words:
    return _ATOM, f"{expr.name}({_values(expr.args, spelled)})"


def _values(values: tuple[t.Expr, ...], spelled: Spelled) -> str:
    return ", ".join([_expr(value, _SUM, spelled) for value in values])


def _history(expr: t.History, _: Spelled) -> _Words:
    return _ATOM, f"{expr.kind}({print_tools(expr.tools)})"


# Every node of an expression; a chain of `case` would make a dozen comparisons for each.
SPELLERS: Mapping[type, Callable[[Any, Spelled], _Words]] = MappingProxyType(
    {
        t.Text: _text,
        t.Number: _number,
        t.Duration: _duration,
        t.Boolean: _boolean,
        t.Null: _null,
        t.ListLiteral: _list,
        t.ObjectLiteral: _object,
        t.Name: _name,
        t.Field: _field,
        t.Index: _index,
        t.Function: _function,
        t.Selection: _selection,
        t.History: _history,
        t.Arithmetic: _arithmetic,
        t.Negate: _negate,
        t.Quantifier: _quantifier,
        t.And: _and,
        t.Or: _or,
        t.Not: _not,
        t.Compare: _compare,
        t.In: _in,
        t.TextTest: _text_test,
        t.Like: _like,
        t.Matches: _matches,
        t.Is: _is,
        t.NamedByUser: _named_by_user,
        t.From: _from,
        t.Window: _window,
        t.ResourceTest: _resource_test,
        t.AfterTest: _after,
    }
)
