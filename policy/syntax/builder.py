"""What Lark has matched -> the nodes of one statement, from the leaves up.

Lark calls the methods of `Builder` by the names of the grammar's rules, with nothing but the
children, while it parses: nothing here recurses. What else a node needs (the file, the statement's
place, where to report) is the `Work` at hand, kept in a context variable so that any number of
threads can share the one set of tables.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from lark import Token, Transformer

from policy.diagnostics import Diagnostic, diagnose
from policy.source import Source, Span
from policy.syntax import literals
from policy.syntax import tree as t
from policy.verdict import Verdict

# A child: a token, a node, or a tuple of nodes; None where an optional part is not there.
Child: TypeAlias = Any


@dataclass(slots=True, kw_only=True)
class Work:
    """The statement being built, and the mistakes met while building it."""

    source: Source
    start: int
    end: int
    problems: list[Diagnostic] = field(default_factory=list)

    def whole(self) -> Span:
        """Return the span of the statement."""
        return self.source.span(self.start, self.end)


WORK: ContextVar[Work] = ContextVar("WORK")


def _start(child: Child) -> int:
    if isinstance(child, Token):
        return WORK.get().start + (child.start_pos or 0)
    if isinstance(child, tuple):
        return _start(child[0])
    return child.span.start  # type: ignore[no-any-return]


def _end(child: Child) -> int:
    if isinstance(child, Token):
        return WORK.get().start + (child.end_pos or 0)
    if isinstance(child, tuple):
        return _end(child[-1])
    return child.span.end  # type: ignore[no-any-return]


def _over(children: Sequence[Child]) -> Span:
    """Return the span from the first child that is there to the last."""
    first = next(child for child in children if child is not None and child != ())
    last = next(child for child in reversed(children) if child is not None and child != ())
    return WORK.get().source.span(_start(first), _end(last))


def _problem(message: str, child: Child, *, help: str, code: str = "syntax-error") -> None:
    WORK.get().problems.append(diagnose(code, message, span=_over([child]), help=help))


def _text(token: Token) -> str:
    value, wrong = literals.read_text(token)
    if wrong is not None:
        start = _start(token) + wrong
        escape = str(token)[wrong : wrong + 2]
        WORK.get().problems.append(
            diagnose(
                "unknown-escape",
                f"a string knows no escape `{escape}`",
                span=WORK.get().source.span(start, start + 2),
                help='write `\\\\` for a backslash; there are `\\"`, `\\\\`, `\\n`, `\\t` and '
                "`\\u{…}` with the number of a character in hexadecimal",
            )
        )
    return value


def _optional_text(token: Token | None) -> str | None:
    return None if token is None else _text(token)


def _string(token: Token | None) -> str | None:
    return None if token is None else str(token)


def _rule_name(token: Token | None) -> str | None:
    return None if token is None else token[:-1].rstrip()


def _number(token: Token) -> t.Number:
    if literals.count_digits(token) > literals.MAX_DIGITS:
        _problem(
            f"a number has at most {literals.MAX_DIGITS} digits",
            token,
            help="no call's number is compared beyond what a double holds",
        )
        return t.Number(value=0, span=_over([token]))
    return t.Number(value=literals.read_number(token), span=_over([token]))


def _whole(token: Token, *, largest: int) -> int:
    value = _number(token).value
    if not isinstance(value, int) or not 1 <= value <= largest:
        _problem(f"`{token}` is no whole number from 1 to {largest}", token, help="count in ones")
        return 1
    return value


def _duration(token: Token) -> t.Duration:
    amount, unit = token.rstrip("mshdw"), token.lstrip("0123456789")
    fits = len(amount) <= 18
    if not fits or int(amount) * literals.SECONDS[unit] > literals.MAX_SPAN_SECONDS:
        _problem("a span is at most 100 years", token, help="write a shorter one, such as `30d`")
        return t.Duration(amount=0, unit=unit, span=_over([token]))
    return t.Duration(amount=int(amount), unit=unit, span=_over([token]))


def _verdict(token: Token) -> Verdict:
    return Verdict(str(token))


def _key(tokens: tuple[Token, ...] | None) -> tuple[str, ...]:
    return tuple(str(token) for token in tokens or ())


class Builder(Transformer[Token, Any]):
    """One method for each rule of the grammar; each returns the rule's node."""

    # ---- whom a file binds

    def policy_header(self, children: list[Child]) -> t.PolicyHeader:
        return t.PolicyHeader(binding=children[0], span=WORK.get().whole())

    def pack_header(self, children: list[Child]) -> t.PackHeader:
        return t.PackHeader(name=_text(children[0]), span=WORK.get().whole())

    def every_agent(self, children: list[Child]) -> t.EveryAgent:
        return t.EveryAgent(span=_over(children))

    def one_agent(self, children: list[Child]) -> t.Agents:
        return t.Agents(patterns=(_text(children[1]),), plural=False, span=_over(children))

    def some_agents(self, children: list[Child]) -> t.Agents:
        patterns = tuple(_text(token) for token in children[1:])
        return t.Agents(patterns=patterns, plural=True, span=_over(children))

    def role(self, children: list[Child]) -> t.Role:
        return t.Role(name=_text(children[1]), span=_over(children))

    # ---- statements

    def use(self, children: list[Child]) -> t.Use:
        path, alias, bindings, granting = children
        return t.Use(
            path=_text(path),
            alias=_string(alias),
            bindings=bindings,
            granting=granting is not None,
            span=WORK.get().whole(),
        )

    def use_bindings(self, children: list[Child]) -> tuple[tuple[str, t.Expr], ...]:
        return _there(children)

    def use_binding(self, children: list[Child]) -> tuple[str, t.Expr]:
        return str(children[0]), children[1]

    def param(self, children: list[Child]) -> t.Param:
        name, kind, default = children
        return t.Param(name=str(name), kind=str(kind), default=default, span=WORK.get().whole())

    def tool_set(self, children: list[Child]) -> t.ToolSet:
        return t.ToolSet(name=str(children[0]), tools=children[1], span=WORK.get().whole())

    def named_set(self, children: list[Child]) -> t.NamedSet:
        kind, name, included, excluded = children
        return t.NamedSet(
            kind=str(kind),  # type: ignore[arg-type]
            name=str(name),
            included=included,
            excluded=excluded,
            span=WORK.get().whole(),
        )

    def set_items(self, children: list[Child]) -> tuple[t.SetItem, ...]:
        return tuple(children)

    def excluded_items(self, children: list[Child]) -> tuple[t.SetItem, ...]:
        return _there(children)

    def negative_number(self, children: list[Child]) -> t.Number:
        return t.Number(value=-_number(children[1]).value, span=_over(children))

    def set_from_file(self, children: list[Child]) -> t.SetFromFile:
        kind, name, file, key = children
        return t.SetFromFile(
            kind=str(kind),  # type: ignore[arg-type]
            name=str(name),
            file=_text(file),
            key=_key(key),
            span=WORK.get().whole(),
        )

    def data_table(self, children: list[Child]) -> t.DataTable:
        name, file, key = children
        return t.DataTable(name=str(name), file=_text(file), key=_key(key), span=WORK.get().whole())

    def data_path(self, children: list[Child]) -> tuple[Token, ...]:
        return tuple(children)

    def let(self, children: list[Child]) -> t.Let:
        return t.Let(name=str(children[0]), value=children[1], span=WORK.get().whole())

    def tool_declaration(self, children: list[Child]) -> t.ToolDeclaration:
        tool, effects, complete, extra = children
        node = t.ToolDeclaration(
            tool=tool,
            effects=effects,
            complete=complete is not None,
            extra_fields=extra is not None,
            span=WORK.get().whole(),
        )
        if not (effects or node.extra_fields or node.complete):
            _problem(
                "a `tool` declaration says nothing about its tool",
                node,
                help="say what it does: `tool T reads input.path and nothing else`",
            )
        return node

    def effects(self, children: list[Child]) -> tuple[t.Effect | t.StoreEffect, ...]:
        return tuple(children)

    def effect(self, children: list[Child]) -> t.Effect:
        verb, *fields = children
        return t.Effect(verb=str(verb), fields=tuple(fields), span=_over(children))  # type: ignore[arg-type]

    def store_effect(self, children: list[Child]) -> t.StoreEffect:
        verb, store = children
        return t.StoreEffect(verb=str(verb), store=_text(store), span=_over(children))  # type: ignore[arg-type]

    def default(self, children: list[Child]) -> t.Default:
        verdict, tools = children
        return t.Default(verdict=_verdict(verdict), tools=tools, span=WORK.get().whole())

    def delegate(self, children: list[Child]) -> t.Delegate:
        return t.Delegate(tools=children[0], to=children[1], span=WORK.get().whole())

    def rule(self, children: list[Child]) -> t.Rule:
        name, shadow, verdict, tools, clauses = children
        return t.Rule(
            name=_rule_name(name),
            shadow=shadow is not None,
            verdict=_verdict(verdict),
            tools=tools,
            clauses=clauses,
            span=WORK.get().whole(),
        )

    def rewrite(self, children: list[Child]) -> t.Rewrite:
        name, shadow, tools, *parts = children
        changes = tuple(part for part in parts if isinstance(part, t.Change))
        node = t.Rewrite(
            name=_rule_name(name),
            shadow=shadow is not None,
            tools=tools,
            clauses=tuple(part for part in parts if not isinstance(part, t.Change)),
            changes=changes,
            span=WORK.get().whole(),
        )
        if not changes:
            _problem(
                "a `rewrite` changes nothing",
                node,
                help="add a change: `set input.f = …`, `remove input.f` or `redact input.f …`",
            )
        _one_unless(node.clauses)
        return node

    def redact_results(self, children: list[Child]) -> t.RedactResults:
        name, shadow, tools, before, regex, replacement, after = children
        return t.RedactResults(
            name=_rule_name(name),
            shadow=shadow is not None,
            tools=tools,
            regex=regex,
            replacement=_optional_text(replacement),
            clauses=_one_unless(before + after),
            span=WORK.get().whole(),
        )

    def limit(self, children: list[Child]) -> t.Limit:
        name, shadow, tools, amount, of, per, clauses = children
        return t.Limit(
            name=_rule_name(name),
            shadow=shadow is not None,
            tools=tools,
            amount=amount,
            of=of,
            per=per,
            clauses=clauses,
            span=WORK.get().whole(),
        )

    def periods(self, children: list[Child]) -> tuple[t.Duration | str | t.FieldPath, ...]:
        for part in children:
            if isinstance(part, t.FieldPath) and not part.steps:
                _problem(
                    f"`{part.root}` is no period of a limit",
                    part,
                    help="write `per second`, `minute`, `hour`, `day`, `week` or a span; `per "
                    "session`, `agent`, `user`; or `per input.f`",
                )
        return tuple(str(part) if isinstance(part, Token) else part for part in children)

    def label_results(self, children: list[Child]) -> t.LabelResults:
        label, tools, fields, clauses = children
        return t.LabelResults(
            label=str(label), tools=tools, fields=fields, clauses=clauses, span=WORK.get().whole()
        )

    def label_fields(self, children: list[Child]) -> tuple[tuple[str, ...], ...]:
        return tuple(_key(path) for path in _there(children))

    def invariant(self, children: list[Child]) -> t.Invariant:
        name, kind, claim, tools, clauses = children
        return t.Invariant(
            name=_rule_name(name),
            kind=str(kind),  # type: ignore[arg-type]
            claim=" ".join(claim.split()),  # type: ignore[arg-type]
            tools=tools,
            clauses=clauses,
            span=WORK.get().whole(),
        )

    # ---- tools

    def tools(self, children: list[Child]) -> t.Tools:
        included, excluded = children
        return t.Tools(included=included, excluded=excluded or (), span=_over(children))

    def tool_list(self, children: list[Child]) -> tuple[t.ToolRef, ...]:
        return tuple(children)

    def tool(self, children: list[Child]) -> t.ToolRef:
        pattern = children[-1]
        return t.ToolRef(
            origin=str(children[0]) if len(children) == 2 else None,  # type: ignore[arg-type]
            pattern=_text(pattern) if pattern.type == "STRING" else str(pattern),
            span=_over(children),
        )

    # ---- clauses and changes

    def clauses(self, children: list[Child]) -> tuple[t.Clause, ...]:
        return _one_unless(tuple(children))

    def after(self, children: list[Child]) -> t.After:
        return t.After(tools=children[1], within=children[2], span=_over(children))

    def when(self, children: list[Child]) -> t.When:
        return t.When(test=children[1], span=_over(children))

    def unless(self, children: list[Child]) -> t.Unless:
        return t.Unless(test=children[1], span=_over(children))

    def because(self, children: list[Child]) -> t.Because:
        return t.Because(text=_text(children[1]), span=_over(children))

    def audit(self, children: list[Child]) -> t.Audit:
        return t.Audit(text=_text(children[1]), span=_over(children))

    def by(self, children: list[Child]) -> t.By:
        return t.By(groups=tuple(_text(token) for token in children[1:]), span=_over(children))

    def two_people(self, children: list[Child]) -> t.TwoPeople:
        return t.TwoPeople(span=_over(children))

    def with_approval(self, children: list[Child]) -> t.WithApproval:
        return t.WithApproval(span=_over(children))

    def remember(self, children: list[Child]) -> t.Remember:
        _, period, fields, times, _ = children
        return t.Remember(
            period="session" if isinstance(period, Token) else period,
            fields=fields,
            times=None if times is None else _whole(times, largest=1_000_000),
            span=_over(children),
        )

    def remember_fields(self, children: list[Child]) -> tuple[t.FieldPath, ...]:
        return _there(children)

    def set_field(self, children: list[Child]) -> t.SetField:
        _, path, value, if_absent = children
        return t.SetField(
            path=path, value=value, if_absent=if_absent is not None, span=_over(children)
        )

    def at_most(self, children: list[Child]) -> t.AtMost:
        return t.AtMost(path=children[1], bound=children[2], span=_over(children))

    def at_least(self, children: list[Child]) -> t.AtLeast:
        return t.AtLeast(path=children[1], bound=children[2], span=_over(children))

    def remove_field(self, children: list[Child]) -> t.RemoveField:
        return t.RemoveField(path=children[1], span=_over(children))

    def redact_field(self, children: list[Child]) -> t.RedactField:
        _, path, regex, replacement = children
        return t.RedactField(
            path=path,
            regex=regex,
            replacement=_optional_text(replacement),
            span=_over(children),
        )

    # ---- conditions

    def quantifier(self, children: list[Child]) -> t.Quantifier:
        kind, variable, index, source, test = children
        return t.Quantifier(
            kind=str(kind),  # type: ignore[arg-type]
            variable=str(variable),
            index=_string(index),
            source=source,
            test=test,
            span=_over(children),
        )

    def and_(self, children: list[Child]) -> t.And:
        return t.And(operands=tuple(children), span=_over(children))

    def or_(self, children: list[Child]) -> t.Or:
        return t.Or(operands=tuple(children), span=_over(children))

    def not_(self, children: list[Child]) -> t.Not:
        return t.Not(operand=children[1], span=_over(children))

    def compare(self, children: list[Child]) -> t.Compare:
        left, op, right = children
        return t.Compare(op=str(op), left=left, right=right, span=_over(children))  # type: ignore[arg-type]

    def in_(self, children: list[Child]) -> t.In:
        return t.In(left=children[0], right=children[1], negated=False, span=_over(children))

    def not_in(self, children: list[Child]) -> t.In:
        return t.In(left=children[0], right=children[2], negated=True, span=_over(children))

    def text_test(self, children: list[Child]) -> t.TextTest:
        left, op, right = children
        words = " ".join(op.split())
        if isinstance(right, t.Regex) and words != "contains":
            _problem(
                f"`{words}` takes text, not a regular expression",
                right,
                help="`matches /…/` is about the whole text, `contains /…/` searches in it",
            )
        return t.TextTest(op=words, left=left, right=right, span=_over(children))  # type: ignore[arg-type]

    def like(self, children: list[Child]) -> t.Like:
        return t.Like(left=children[0], pattern=_text(children[1]), span=_over(children))

    def matches(self, children: list[Child]) -> t.Matches:
        return t.Matches(left=children[0], regex=children[1], span=_over(children))

    def is_(self, children: list[Child]) -> t.Is:
        return t.Is(left=children[0], what=str(children[1]), span=_over(children))  # type: ignore[arg-type]

    def named_by_user(self, children: list[Child]) -> t.NamedByUser:
        return t.NamedByUser(left=children[0], span=_over(children))

    def from_(self, children: list[Child]) -> t.From:
        return t.From(left=children[0], source=children[1], span=_over(children))

    def window(self, children: list[Child]) -> t.Window:
        left, start, end, zone, days = children
        return t.Window(
            left=left,
            start=str(start),
            end=str(end),
            zone=_optional_text(zone),
            days=_string(days),
            span=_over(children),
        )

    def resource_test(self, children: list[Child]) -> t.ResourceTest:
        verb, operand = children[0], children[-1]
        form = children[1] if len(children) == 3 else None
        return t.ResourceTest(
            verb=str(verb),  # type: ignore[arg-type]
            form="some" if form is None else str(form),  # type: ignore[arg-type]
            operand=operand,
            span=_over(children),
        )

    def nothing(self, children: list[Child]) -> t.Nothing:
        return t.Nothing(span=_over(children))

    def anything(self, children: list[Child]) -> t.Anything:
        return t.Anything(span=_over(children))

    def after_one(self, children: list[Child]) -> t.AfterTest:
        _, tool, within = children
        tools = t.Tools(included=(tool,), span=tool.span)
        return t.AfterTest(tools=tools, within=within, span=_over(children))

    def after_some(self, children: list[Child]) -> t.AfterTest:
        _, tools, _, within = children
        return t.AfterTest(tools=tools, within=within, span=_over(children))

    # ---- values

    def sum(self, children: list[Child]) -> t.Arithmetic:
        left, op, right = children
        if op.type == "MINUS":
            _check_hyphen(op, left, right)
        return t.Arithmetic(op=str(op), left=left, right=right, span=_over(children))  # type: ignore[arg-type]

    def product(self, children: list[Child]) -> t.Arithmetic:
        left, _, right = children
        return t.Arithmetic(op="*", left=left, right=right, span=_over(children))

    def negate(self, children: list[Child]) -> t.Negate:
        return t.Negate(operand=children[1], span=_over(children))

    json_negative = negate

    def field(self, children: list[Child]) -> t.Field:
        base, name = children
        return t.Field(base=base, name=str(name), span=_over(children))

    def index(self, children: list[Child]) -> t.Index:
        return t.Index(base=children[0], key=children[1], span=_over(children))

    def name(self, children: list[Child]) -> t.Name:
        return t.Name(name=str(children[0]), span=_over(children))

    def number(self, children: list[Child]) -> t.Number:
        return _number(children[0])

    json_number = number

    def text(self, children: list[Child]) -> t.Text:
        return t.Text(value=_text(children[0]), span=_over(children))

    json_text = text

    def duration(self, children: list[Child]) -> t.Duration:
        return _duration(children[0])

    json_duration = duration

    def boolean(self, children: list[Child]) -> t.Boolean:
        return t.Boolean(value=children[0] == "true", span=_over(children))

    json_boolean = boolean

    def json_null(self, children: list[Child]) -> t.Null:
        return t.Null(span=_over(children))

    def regex(self, children: list[Child]) -> t.Regex:
        return t.Regex(pattern=literals.read_regex(children[0]), span=_over(children))

    def list_literal(self, children: list[Child]) -> t.ListLiteral:
        return t.ListLiteral(items=_there(children[1:-1]), span=_over(children))

    json_list = list_literal

    def object_literal(self, children: list[Child]) -> t.ObjectLiteral:
        entries: tuple[tuple[str, t.Expr, Token], ...] = _there(children[1:-1])
        seen: set[str] = set()
        for name, _, token in entries:
            if name in seen:
                _problem(
                    f"the field `{name}` is given twice",
                    token,
                    help="a call with a field given twice is refused before any rule is asked",
                )
            seen.add(name)
        return t.ObjectLiteral(
            entries=tuple((name, value) for name, value, _ in entries), span=_over(children)
        )

    json_object = object_literal

    def pair(self, children: list[Child]) -> tuple[str, t.Expr, Token]:
        token, value = children
        return (_text(token) if token.type == "STRING" else str(token)), value, token

    def function(self, children: list[Child]) -> t.Function:
        return t.Function(name=str(children[0]), args=_there(children[1:-1]), span=_over(children))

    def selection(self, children: list[Child]) -> t.Selection:
        function, variable, index, source, test, _ = children
        return t.Selection(
            function=str(function),
            variable=str(variable),
            index=_string(index),
            source=source,
            test=test,
            span=_over(children),
        )

    def history(self, children: list[Child]) -> t.History:
        kind = children[0][:-1].rstrip()
        return t.History(kind=kind, tools=children[1], span=_over(children))

    def path(self, children: list[Child]) -> t.FieldPath:
        steps = [_step(token) for token in children[1:] if token.type != "CLOSE_BRACKET"]
        return t.FieldPath(root=str(children[0]), steps=tuple(steps), span=_over(children))

    # ---- tests

    def test(self, children: list[Child]) -> t.Test:
        title, *steps = children
        return t.Test(title=_text(title), steps=tuple(steps), span=WORK.get().whole())

    def given(self, children: list[Child]) -> t.Given:
        _, *bindings = children
        return t.Given(
            bindings=tuple(bindings),
            span=WORK.get().source.span(_start(children[0]), _end(bindings[-1][1])),
        )

    def given_binding(self, children: list[Child]) -> tuple[t.FieldPath, t.Expr]:
        return children[0], children[1]

    def case(self, children: list[Child]) -> t.Case:
        *past, call, returning, outcome = children
        verdict, by, becoming, returned = outcome
        return t.Case(
            past=tuple(past),
            call=call,
            returning=returning,
            verdict=_verdict(verdict),
            by=_text(by) if by is not None and by.type == "STRING" else _string(by),
            becoming=becoming,
            returned=returned,
            span=_over([*children[:-1], *outcome]),
        )

    def past(self, children: list[Child]) -> t.Past:
        _, times, _, call, returning, ago = children
        return t.Past(
            times=None if times is None else _whole(times, largest=10_000),
            call=call,
            returning=returning,
            ago=ago,
            span=_over(children),
        )

    def ago(self, children: list[Child]) -> t.Duration:
        return _duration(children[0])

    def call(self, children: list[Child]) -> t.TestCall:
        return t.TestCall(tool=children[0], input=children[1], span=_over(children))

    def outcome(self, children: list[Child]) -> tuple[Child, ...]:
        return tuple(children)


def _there(children: Sequence[Child]) -> tuple[Any, ...]:
    return tuple(child for child in children if child is not None)


def _one_unless(clauses: tuple[t.Clause, ...]) -> tuple[t.Clause, ...]:
    """Report every `unless` after the first; one reads two as "either", another as "both"."""
    exceptions = [clause for clause in clauses if isinstance(clause, t.Unless)]
    for clause in exceptions[1:]:
        _problem(
            "a rule has one `unless`",
            clause,
            help="join them: `unless a or b` if either excuses, `unless a and b` if both must",
            code="second-unless",
        )
    return clauses


def _check_hyphen(minus: Token, left: t.Expr, right: t.Expr) -> None:
    """Report a hyphen that is glued between two names: `input.max-tokens` is no subtraction."""
    at, after = _start(minus), _end(minus)
    if left.span.end != at or right.span.start != after:
        return
    text = WORK.get().source.text
    second = _NAME.match(text, after)
    first = _NAME_BEFORE.search(text, max(at - 200, left.span.start), at)
    if first is None or second is None:
        return
    whole = f"{first.group()}-{second.group()}"
    base = "input"
    if isinstance(left, t.Field) and left.base.span.end - left.base.span.start < 80:
        base = text[left.base.span.start : left.base.span.end]
    WORK.get().problems.append(
        diagnose(
            "hyphen-in-name",
            f"`{whole}` is read as a subtraction",
            span=WORK.get().source.span(first.start(), second.end()),
            help=f'write `{base}["{whole}"]` for the field, or put spaces around the minus',
        )
    )


_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_NAME_BEFORE = re.compile(r"(?<![A-Za-z0-9_])[A-Za-z_][A-Za-z0-9_]*\Z")


def _step(token: Token) -> str | int | t.Star:
    match token.type:
        case "STAR":
            return t.Star()
        case "STRING":
            return _text(token)
        case "NUMBER":
            value = _number(token).value
            if not isinstance(value, int):
                _problem(f"`{token}` is no place in a list", token, help="count from 0 in ones")
                return 0
            return value
        case _:
            return str(token)
