"""Build the syntax nodes of one statement, bottom-up, as the parser matches grammar rules.

The parsing engine calls the methods of `NodeBuilder`, which have the names of the grammar's rules,
with the children of each match. Nothing here recurses.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from sys import intern
from typing import Any, TypeAlias

from policy.diagnostics import Diagnostic, diagnose
from policy.model import Source, Span, Verdict, span_in
from policy.syntax import literals
from policy.syntax import tree as t
from policy.syntax.tokens import Token

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_NAME_BEFORE = re.compile(r"(?<![A-Za-z0-9_])[A-Za-z_][A-Za-z0-9_]*\Z")

# A child: a token, a node, or a tuple of nodes; None for an absent optional part.
Child: TypeAlias = Any

_VERDICTS = {verdict.value: verdict for verdict in Verdict}


def _start(child: Child) -> int:
    if isinstance(child, Token):
        return child.start
    if isinstance(child, tuple):
        return _start(child[0])
    return child.span.start  # type: ignore[no-any-return]


def _end(child: Child) -> int:
    if isinstance(child, Token):
        return child.end
    if isinstance(child, tuple):
        return _end(child[-1])
    return child.span.end  # type: ignore[no-any-return]


def _string(token: Token | None) -> str | None:
    return None if token is None else token.text


def _rule_name(token: Token | None) -> str | None:
    return None if token is None else token.text[:-1].rstrip()


def _between(source: Source, first: t.Expr, last: t.Expr | t.Regex) -> Span:
    return span_in(source, first.span.start, last.span.end)


def _verdict(token: Token) -> Verdict:
    return _VERDICTS[token.text]


def _key(tokens: tuple[Token, ...] | None) -> tuple[str, ...]:
    return tuple(intern(token.text) for token in tokens or ())


def _there(children: Sequence[Child]) -> tuple[Any, ...]:
    return tuple([child for child in children if child is not None])


class NodeBuilder:
    """One method for each rule of the grammar; each returns the rule's node.

    A builder builds the one statement of `source` from `start` up to `end`, and collects `problems`
    on the way.
    """

    __slots__ = ("end", "problems", "source", "start")

    def __init__(self, source: Source, start: int, end: int) -> None:
        self.source = source
        self.start = start
        self.end = end
        self.problems: list[Diagnostic] = []

    def _whole(self) -> Span:
        return span_in(self.source, self.start, self.end)

    def _over(self, children: Sequence[Child]) -> Span:
        """Return the span from the first present child to the last."""
        first = next(child for child in children if child is not None and child != ())
        last = next(child for child in reversed(children) if child is not None and child != ())
        return span_in(self.source, _start(first), _end(last))

    def _problem(
        self, message: str, child: Child, *, help: str, code: str = "syntax-error"
    ) -> None:
        span = span_in(self.source, _start(child), _end(child))
        self.problems.append(diagnose(code, message, span=span, help=help))

    # ---- literals

    def _text(self, token: Token) -> str:
        if "\\" not in token.text:
            return token.text[1:-1]
        value, wrong = literals.read_text(token.text)
        if wrong is not None:
            start = token.start + wrong
            escape = token.text[wrong : wrong + 2]
            self.problems.append(
                diagnose(
                    "unknown-escape",
                    f"unknown escape `{escape}` in a string",
                    span=span_in(self.source, start, start + 2),
                    help='write `\\\\` for a backslash; escapes are `\\"`, `\\\\`, `\\n`, `\\t` '
                    "and `\\u{…}` with the number of a character in hexadecimal",
                )
            )
        return value

    def _optional_text(self, token: Token | None) -> str | None:
        return None if token is None else self._text(token)

    def _number(self, token: Token) -> t.Number:
        span = span_in(self.source, token.start, token.end)
        long = len(token.text) > literals.MAX_DIGITS
        if long and literals.count_digits(token.text) > literals.MAX_DIGITS:
            self._problem(
                f"a number has at most {literals.MAX_DIGITS} digits",
                token,
                help="numbers in calls have the precision of a double",
            )
            return t.Number(value=0, span=span)
        return t.Number(value=literals.read_number(token.text), span=span)

    def _whole_number(self, token: Token, *, largest: int) -> int:
        value = self._number(token).value
        if not isinstance(value, int) or not 1 <= value <= largest:
            self._problem(
                f"`{token.text}` is not a whole number from 1 to {largest}",
                token,
                help="write the number in digits, without a fraction",
            )
            return 1
        return value

    def _duration(self, token: Token) -> t.Duration:
        amount, unit = token.text.rstrip("mshdw"), token.text.lstrip("0123456789")
        span = span_in(self.source, token.start, token.end)
        fits = len(amount) <= 18
        if not fits or int(amount) * literals.SECONDS[unit] > literals.MAX_SPAN_SECONDS:
            self._problem(
                "a duration is at most 100 years",
                token,
                help="write a shorter duration, such as `30d`",
            )
            return t.Duration(amount=0, unit=unit, span=span)
        return t.Duration(amount=int(amount), unit=unit, span=span)

    def _step(self, token: Token) -> str | int | t.Star:
        match token.kind:
            case "STAR":
                return t.Star()
            case "STRING":
                return self._text(token)
            case "NUMBER":
                value = self._number(token).value
                if not isinstance(value, int):
                    self._problem(
                        f"`{token.text}` is not a position in a list",
                        token,
                        help="write a whole number; the first element has position 0",
                    )
                    return 0
                return value
            case _:
                return token.text

    # ---- which agents a file applies to

    def policy_header(self, children: list[Child]) -> t.PolicyHeader:
        return t.PolicyHeader(binding=children[0], span=self._whole())

    def pack_header(self, children: list[Child]) -> t.PackHeader:
        return t.PackHeader(name=self._text(children[0]), span=self._whole())

    def every_agent(self, children: list[Child]) -> t.EveryAgent:
        return t.EveryAgent(span=self._over(children))

    def one_agent(self, children: list[Child]) -> t.Agents:
        return t.Agents(
            patterns=(self._text(children[1]),), plural=False, span=self._over(children)
        )

    def some_agents(self, children: list[Child]) -> t.Agents:
        patterns = tuple(self._text(token) for token in children[1:])
        return t.Agents(patterns=patterns, plural=True, span=self._over(children))

    def role(self, children: list[Child]) -> t.Role:
        return t.Role(name=self._text(children[1]), span=self._over(children))

    # ---- statements

    def use(self, children: list[Child]) -> t.Use:
        path, alias, granting, bindings = children
        return t.Use(
            path=self._text(path),
            alias=_string(alias),
            bindings=bindings or (),
            granting=granting is not None,
            span=self._whole(),
            path_span=self._over([path]),
        )

    def use_granting(self, children: list[Child]) -> t.Use:
        path, alias, bindings, granting = children
        return self.use([path, alias, granting, bindings])

    def use_bindings(self, children: list[Child]) -> tuple[tuple[str, t.Expr], ...]:
        return tuple(children)

    def use_binding(self, children: list[Child]) -> tuple[str, t.Expr]:
        return children[0].text, children[1]

    def param(self, children: list[Child]) -> t.Param:
        name, kind, default = children
        # `span` is an older word for a duration; the canonical form has the new one.
        written = "duration" if kind.text == "span" else kind.text
        return t.Param(name=name.text, kind=written, default=default, span=self._whole())

    def tool_set(self, children: list[Child]) -> t.ToolSet:
        return t.ToolSet(name=children[0].text, tools=children[1], span=self._whole())

    def named_set(self, children: list[Child]) -> t.NamedSet:
        kind, name, included, excluded = children
        return t.NamedSet(
            kind=kind.text,
            name=name.text,
            included=included,
            excluded=excluded,
            span=self._whole(),
        )

    def set_items(self, children: list[Child]) -> tuple[t.SetItem, ...]:
        return tuple(children)

    def excluded_items(self, children: list[Child]) -> tuple[t.SetItem, ...]:
        return _there(children)

    def negative_number(self, children: list[Child]) -> t.Number:
        return t.Number(value=-self._number(children[1]).value, span=self._over(children))

    def set_from_file(self, children: list[Child]) -> t.SetFromFile:
        kind, name, file, key = children
        return t.SetFromFile(
            kind=kind.text,
            name=name.text,
            file=self._text(file),
            key=_key(key),
            span=self._whole(),
        )

    def data_table(self, children: list[Child]) -> t.DataTable:
        name, file, key = children
        return t.DataTable(name=name.text, file=self._text(file), key=_key(key), span=self._whole())

    def data_path(self, children: list[Child]) -> tuple[Token, ...]:
        return tuple(children)

    def let(self, children: list[Child]) -> t.Let:
        return t.Let(name=children[0].text, value=children[1], span=self._whole())

    def tool_declaration(self, children: list[Child]) -> t.ToolDeclaration:
        tool, effects, complete, extra = children
        node = t.ToolDeclaration(
            tool=tool,
            effects=effects,
            complete=complete is not None,
            extra_fields=extra is not None,
            span=self._whole(),
        )
        if not (effects or node.extra_fields or node.complete):
            self._problem(
                "a `tool` declaration declares nothing about its tool",
                node,
                help="declare what the tool does: `tool T reads input.path and nothing else`",
            )
        return node

    def effects(self, children: list[Child]) -> tuple[t.Effect | t.StoreEffect, ...]:
        return tuple(children)

    def effect(self, children: list[Child]) -> t.Effect:
        verb, *rest = children
        fields = tuple(each for each in rest if isinstance(each, t.FieldPath))
        said = next((each.text for each in rest if isinstance(each, Token)), None)
        listed = verb.text == "lists"
        return t.Effect(
            verb="reads" if listed else verb.text,
            fields=fields,
            extent="tree" if said == "tree" else "file" if said or listed else None,
            listed=listed,
            span=self._over([each for each in children if each is not None]),
        )

    def store_effect(self, children: list[Child]) -> t.StoreEffect:
        verb, store = children
        return t.StoreEffect(verb=verb.text, store=self._text(store), span=self._over(children))

    def default(self, children: list[Child]) -> t.Default:
        verdict, tools = children
        return t.Default(verdict=_verdict(verdict), tools=tools, span=self._whole())

    def delegate(self, children: list[Child]) -> t.Delegate:
        return t.Delegate(tools=children[0], to=children[1], span=self._whole())

    def rule(self, children: list[Child]) -> t.Rule:
        name, shadow, verdict, tools, clauses = children
        return t.Rule(
            name=_rule_name(name),
            shadow=shadow is not None,
            verdict=_verdict(verdict),
            tools=tools,
            clauses=clauses,
            span=self._whole(),
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
            span=self._whole(),
        )
        if not changes:
            self._problem(
                "a `rewrite` changes nothing",
                node,
                help="add a change: `set input.f = …`, `remove input.f` or `redact input.f …`",
            )
        self._one_unless(node.clauses)
        return node

    def redact_results(self, children: list[Child]) -> t.RedactResults:
        name, shadow, tools, before, regex, replacement, after = children
        return t.RedactResults(
            name=_rule_name(name),
            shadow=shadow is not None,
            tools=tools,
            regex=regex,
            replacement=self._optional_text(replacement),
            clauses=self._one_unless(before + after),
            span=self._whole(),
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
            span=self._whole(),
        )

    def periods(self, children: list[Child]) -> tuple[t.Duration | str | t.FieldPath, ...]:
        for part in children:
            if isinstance(part, t.FieldPath) and not part.steps:
                self._problem(
                    f"`{part.root}` is not a period of a limit",
                    part,
                    help="write `per second`, `minute`, `hour`, `day`, `week` or a duration; `per "
                    "session`, `agent`, `user`; or `per input.f`",
                )
        return tuple(part.text if isinstance(part, Token) else part for part in children)

    def label_results(self, children: list[Child]) -> t.LabelResults:
        label, tools, fields, clauses = children
        return t.LabelResults(
            label=label.text, tools=tools, fields=fields, clauses=clauses, span=self._whole()
        )

    def label_fields(self, children: list[Child]) -> tuple[tuple[str, ...], ...]:
        return tuple(_key(path) for path in _there(children))

    def invariant(self, children: list[Child]) -> t.Invariant:
        name, kind, claim, tools, clauses = children
        return t.Invariant(
            name=_rule_name(name),
            kind=kind.text,
            claim=" ".join(claim.text.split()),  # type: ignore[arg-type]
            tools=tools,
            clauses=clauses,
            span=self._whole(),
        )

    # ---- tools

    def tools(self, children: list[Child]) -> t.Tools:
        included, excluded = children
        if excluded is None and len(included) == 1:
            return t.Tools(included=included, excluded=(), span=included[0].span)
        last = (excluded or included)[-1]
        span = span_in(self.source, included[0].span.start, last.span.end)
        return t.Tools(included=included, excluded=excluded or (), span=span)

    def tool_list(self, children: list[Child]) -> tuple[t.ToolRef, ...]:
        return tuple(children)

    def tool(self, children: list[Child]) -> t.ToolRef:
        origin = children[0].text if len(children) == 2 else None
        last = children[-1]
        pattern = self._text(last) if last.kind == "STRING" else last.text
        span = span_in(self.source, children[0].start, last.end)
        return t.ToolRef(origin=origin, pattern=intern(pattern), span=span)

    # ---- clauses and changes

    def clauses(self, children: list[Child]) -> tuple[t.Clause, ...]:
        return self._one_unless(tuple(children))

    def after(self, children: list[Child]) -> t.After:
        return t.After(tools=children[1], within=children[2], span=self._over(children))

    def when(self, children: list[Child]) -> t.When:
        word, test = children
        return t.When(test=test, span=span_in(self.source, word.start, test.span.end))

    def unless(self, children: list[Child]) -> t.Unless:
        return t.Unless(test=children[1], span=self._over(children))

    def because(self, children: list[Child]) -> t.Because:
        return t.Because(text=self._text(children[1]), span=self._over(children))

    def audit(self, children: list[Child]) -> t.Audit:
        return t.Audit(text=self._text(children[1]), span=self._over(children))

    def by(self, children: list[Child]) -> t.By:
        return t.By(
            groups=tuple(self._text(token) for token in children[1:]), span=self._over(children)
        )

    def two_people(self, children: list[Child]) -> t.TwoPeople:
        return t.TwoPeople(span=self._over(children))

    def with_approval(self, children: list[Child]) -> t.WithApproval:
        return t.WithApproval(span=self._over(children))

    def remember(self, children: list[Child]) -> t.Remember:
        _, period, fields, times, _ = children
        return t.Remember(
            period="session" if isinstance(period, Token) else period,
            fields=fields,
            times=None if times is None else self._whole_number(times, largest=1_000_000),
            span=self._over(children),
        )

    def remember_fields(self, children: list[Child]) -> tuple[t.FieldPath, ...]:
        return _there(children)

    def set_field(self, children: list[Child]) -> t.SetField:
        _, path, value, if_absent = children
        return t.SetField(
            path=path, value=value, if_absent=if_absent is not None, span=self._over(children)
        )

    def at_most(self, children: list[Child]) -> t.AtMost:
        return t.AtMost(path=children[1], bound=children[2], span=self._over(children))

    def at_least(self, children: list[Child]) -> t.AtLeast:
        return t.AtLeast(path=children[1], bound=children[2], span=self._over(children))

    def remove_field(self, children: list[Child]) -> t.RemoveField:
        return t.RemoveField(path=children[1], span=self._over(children))

    def redact_field(self, children: list[Child]) -> t.RedactField:
        _, path, regex, replacement = children
        return t.RedactField(
            path=path,
            regex=regex,
            replacement=self._optional_text(replacement),
            span=self._over(children),
        )

    # ---- conditions

    def quantifier(self, children: list[Child]) -> t.Quantifier:
        kind, variable, index, source, test = children
        return t.Quantifier(
            kind=kind.text,
            variable=variable.text,
            index=_string(index),
            source=source,
            test=test,
            span=self._over(children),
        )

    def and_(self, children: list[Child]) -> t.And:
        span = _between(self.source, children[0], children[-1])
        return t.And(operands=tuple(children), span=span)

    def or_(self, children: list[Child]) -> t.Or:
        return t.Or(operands=tuple(children), span=self._over(children))

    def not_(self, children: list[Child]) -> t.Not:
        return t.Not(operand=children[1], span=self._over(children))

    def compare(self, children: list[Child]) -> t.Compare:
        left, op, right = children
        span = _between(self.source, left, right)
        return t.Compare(op=intern(op.text), left=left, right=right, span=span)  # type: ignore[arg-type]

    def in_(self, children: list[Child]) -> t.In:
        left, right = children
        span = _between(self.source, left, right)
        return t.In(left=left, right=right, negated=False, span=span)

    def not_in(self, children: list[Child]) -> t.In:
        return t.In(left=children[0], right=children[2], negated=True, span=self._over(children))

    def text_test(self, children: list[Child]) -> t.TextTest:
        left, op, right = children
        words = " ".join(op.text.split())
        if isinstance(right, t.Regex) and words != "contains":
            self._problem(
                f"`{words}` takes a string, not a regular expression",
                right,
                help="`matches /…/` matches the whole string, `contains /…/` searches in it",
            )
        span = _between(self.source, left, right)
        return t.TextTest(op=intern(words), left=left, right=right, span=span)  # type: ignore[arg-type]

    def like(self, children: list[Child]) -> t.Like:
        return t.Like(left=children[0], pattern=self._text(children[1]), span=self._over(children))

    def matches(self, children: list[Child]) -> t.Matches:
        return t.Matches(left=children[0], regex=children[1], span=self._over(children))

    def is_(self, children: list[Child]) -> t.Is:
        return t.Is(left=children[0], what=children[1].text, span=self._over(children))

    def named_by_user(self, children: list[Child]) -> t.NamedByUser:
        return t.NamedByUser(left=children[0], span=self._over(children))

    def from_(self, children: list[Child]) -> t.From:
        return t.From(left=children[0], source=children[1], span=self._over(children))

    def window(self, children: list[Child]) -> t.Window:
        left, start, end, zone, days = children
        return t.Window(
            left=left,
            start=start.text,
            end=end.text,
            zone=self._optional_text(zone),
            days=_string(days),
            span=self._over(children),
        )

    def resource_test(self, children: list[Child]) -> t.ResourceTest:
        verb, operand = children[0], children[-1]
        form = children[1] if len(children) == 3 else None
        return t.ResourceTest(
            verb=verb.text,
            form="some" if form is None else form.text,
            operand=operand,
            span=self._over(children),
        )

    def nothing(self, children: list[Child]) -> t.Nothing:
        return t.Nothing(span=self._over(children))

    def anything(self, children: list[Child]) -> t.Anything:
        return t.Anything(span=self._over(children))

    def after_one(self, children: list[Child]) -> t.AfterTest:
        _, tool, within = children
        tools = t.Tools(included=(tool,), span=tool.span)
        return t.AfterTest(tools=tools, within=within, span=self._over(children))

    def after_some(self, children: list[Child]) -> t.AfterTest:
        _, tools, _, within = children
        return t.AfterTest(tools=tools, within=within, span=self._over(children))

    # ---- values

    def sum(self, children: list[Child]) -> t.Arithmetic:
        left, op, right = children
        if op.kind == "MINUS":
            self._check_hyphen(op, left, right)
        return t.Arithmetic(op=op.text, left=left, right=right, span=self._over(children))

    def product(self, children: list[Child]) -> t.Arithmetic:
        left, _, right = children
        return t.Arithmetic(op="*", left=left, right=right, span=self._over(children))

    def negate(self, children: list[Child]) -> t.Negate:
        return t.Negate(operand=children[1], span=self._over(children))

    json_negative = negate

    def field(self, children: list[Child]) -> t.Field:
        base, name = children
        span = span_in(self.source, base.span.start, name.end)
        return t.Field(base=base, name=intern(name.text), span=span)

    def index(self, children: list[Child]) -> t.Index:
        return t.Index(base=children[0], key=children[1], span=self._over(children))

    def name(self, children: list[Child]) -> t.Name:
        (token,) = children
        return t.Name(name=intern(token.text), span=span_in(self.source, token.start, token.end))

    def number(self, children: list[Child]) -> t.Number:
        return self._number(children[0])

    json_number = number

    def text(self, children: list[Child]) -> t.Text:
        (token,) = children
        return t.Text(value=self._text(token), span=span_in(self.source, token.start, token.end))

    json_text = text

    def duration(self, children: list[Child]) -> t.Duration:
        return self._duration(children[0])

    json_duration = duration

    def boolean(self, children: list[Child]) -> t.Boolean:
        return t.Boolean(value=children[0].text == "true", span=self._over(children))

    json_boolean = boolean

    def json_null(self, children: list[Child]) -> t.Null:
        return t.Null(span=self._over(children))

    def regex(self, children: list[Child]) -> t.Regex:
        (token,) = children
        span = span_in(self.source, token.start, token.end)
        return t.Regex(pattern=literals.read_regex(token.text), span=span)

    def list_literal(self, children: list[Child]) -> t.ListLiteral:
        span = span_in(self.source, children[0].start, children[-1].end)
        return t.ListLiteral(items=_there(children[1:-1]), span=span)

    json_list = list_literal

    def object_literal(self, children: list[Child]) -> t.ObjectLiteral:
        entries: tuple[tuple[str, t.Expr, Token], ...] = _there(children[1:-1])
        seen: set[str] = set()
        for name, _, token in entries:
            if name in seen:
                self._problem(
                    f"the field `{name}` appears twice",
                    token,
                    help="a call with a repeated field is refused before any rule is evaluated",
                )
            seen.add(name)
        return t.ObjectLiteral(
            entries=tuple((name, value) for name, value, _ in entries), span=self._over(children)
        )

    json_object = object_literal

    def pair(self, children: list[Child]) -> tuple[str, t.Expr, Token]:
        token, value = children
        return (self._text(token) if token.kind == "STRING" else token.text), value, token

    def function(self, children: list[Child]) -> t.Function:
        return t.Function(
            name=children[0].text, args=_there(children[1:-1]), span=self._over(children)
        )

    def selection(self, children: list[Child]) -> t.Selection:
        function, variable, index, source, test, _ = children
        return t.Selection(
            function=function.text,
            variable=variable.text,
            index=_string(index),
            source=source,
            test=test,
            span=self._over(children),
        )

    def history(self, children: list[Child]) -> t.History:
        kind = children[0].text[:-1].rstrip()
        return t.History(kind=kind, tools=children[1], span=self._over(children))

    def path(self, children: list[Child]) -> t.FieldPath:
        steps = [self._step(token) for token in children[1:] if token.kind != "CLOSE_BRACKET"]
        return t.FieldPath(root=children[0].text, steps=tuple(steps), span=self._over(children))

    # ---- tests

    def test(self, children: list[Child]) -> t.Test:
        title, *steps = children
        return t.Test(title=self._text(title), steps=tuple(steps), span=self._whole())

    def given(self, children: list[Child]) -> t.Given:
        _, *bindings = children
        return t.Given(
            bindings=tuple(bindings),
            span=span_in(self.source, _start(children[0]), _end(bindings[-1][1])),
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
            by=self._text(by) if by is not None and by.kind == "STRING" else _string(by),
            becoming=becoming,
            returned=returned,
            span=self._over([*children[:-1], *outcome]),
            by_span=None if by is None else self._over([by]),
        )

    def past(self, children: list[Child]) -> t.Past:
        _, times, _, call, returning, ago = children
        return t.Past(
            times=None if times is None else self._whole_number(times, largest=10_000),
            call=call,
            returning=returning,
            ago=ago,
            span=self._over(children),
        )

    def ago(self, children: list[Child]) -> t.Duration:
        return self._duration(children[0])

    def call(self, children: list[Child]) -> t.TestCall:
        return t.TestCall(tool=children[0], input=children[1], span=self._over(children))

    def withheld(self, children: list[Child]) -> t.Withheld:
        return t.Withheld(span=self._over(children))

    def outcome(self, children: list[Child]) -> tuple[Child, ...]:
        return tuple(children)

    # ---- shared by several methods

    def _one_unless(self, clauses: tuple[t.Clause, ...]) -> tuple[t.Clause, ...]:
        """Report every `unless` after the first; two could mean "either" or "both"."""
        if len(clauses) < 2:
            return clauses
        exceptions = [clause for clause in clauses if isinstance(clause, t.Unless)]
        for clause in exceptions[1:]:
            self._problem(
                "a rule has one `unless`",
                clause,
                help=(
                    "join them: `unless a or b` if either is enough, `unless a and b` if both are "
                    "required"
                ),
                code="second-unless",
            )
        return clauses

    def _check_hyphen(self, minus: Token, left: t.Expr, right: t.Expr) -> None:
        """Report a hyphen between names without spaces: `input.max-tokens` is no subtraction."""
        at, after = _start(minus), _end(minus)
        if left.span.end != at or right.span.start != after:
            return
        text = self.source.text
        second = _NAME.match(text, after)
        first = _NAME_BEFORE.search(text, max(at - 200, left.span.start), at)
        if first is None or second is None:
            return
        whole = f"{first.group()}-{second.group()}"
        base = "input"
        if isinstance(left, t.Field) and left.base.span.end - left.base.span.start < 80:
            base = text[left.base.span.start : left.base.span.end]
        self.problems.append(
            diagnose(
                "hyphen-in-name",
                f"`{whole}` is parsed as a subtraction",
                span=span_in(self.source, first.start(), second.end()),
                help=f'write `{base}["{whole}"]` for the field, or put spaces around the minus',
            )
        )
