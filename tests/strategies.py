"""Hypothesis strategies for policies: every type of node, small, only what the language allows.

Names are drawn from words of the language too, wherever the language lets them be names.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Any, get_args

from hypothesis import strategies as st

from policy.model import Source, Verdict, span_at
from policy.syntax import tree as t

NOWHERE = span_at("generated", 0, 0, first=(1, 1), last=(1, 1))

# Reserved in expressions; `results` and `calls` only before a parenthesis, so not as functions.
RESERVED = frozenset(
    "any all not and or in after reads writes runs connects sends true false".split()
)
_WORDS = (
    "x input user session call to by from per when allow deny ask limit test for with on only "
    "outside nothing anything null is present given set remove at within named policy tools tool "
    "tools_ default none day string mcp ext except results calls a an _ A9 shadow if absent"
).split()

texts = st.one_of(
    st.sampled_from(
        ["", "a", "/srv/**", '"', "\\", "${home}/x", "#", "/", "it's", "*.corp.example"]
    ),
    st.text(max_size=6),
)
field_names = st.one_of(
    st.sampled_from(_WORDS + sorted(RESERVED)),
    st.from_regex(r"[a-z_][a-zA-Z0-9_]{0,4}", fullmatch=True),
)
names = field_names.filter(lambda name: name not in RESERVED)
function_names = names.filter(lambda name: name not in ("results", "calls"))
rule_names = st.one_of(
    st.sampled_from(["allow", "test", "policy", "a-b", "limit", "x1-2"]),
    st.from_regex(r"[a-z][a-z0-9]{0,3}(-[a-z0-9]{1,3}){0,2}", fullmatch=True),
)
rule_references = st.one_of(
    rule_names, st.sampled_from(["default", "p.a-b", "table:a*", "f:1", ""])
)
verdicts = st.sampled_from([Verdict.ALLOW, Verdict.ASK, Verdict.DENY])
patterns = st.one_of(
    st.sampled_from(
        "* a? file_* a/b x.y mcp ext after given by returning when allow 9a a- -a -> test".split()
    ),
    st.sampled_from(_WORDS),
    texts,
)


def node(kind: type[Any], /, **parts: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Return the strategy of a node of one kind, standing nowhere."""
    return st.builds(kind, **parts, span=st.just(NOWHERE))


def some(item: st.SearchStrategy[Any], *, least: int = 1) -> st.SearchStrategy[tuple[Any, ...]]:
    """Return the strategy of short tuples."""
    return st.lists(item, min_size=least, max_size=least + 2).map(tuple)


def perhaps(item: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Return the strategy of what may be left out."""
    return st.one_of(st.none(), item)


# ---- values

whole_numbers = st.integers(min_value=0, max_value=10**20)
decimals = st.decimals(min_value=0, max_value=10**6, places=3, allow_nan=False)
numbers = node(t.Number, value=st.one_of(whole_numbers, decimals.map(abs)))
signed_numbers = node(
    t.Number, value=st.one_of(st.integers(-(10**6), 10**6), st.just(Decimal("-1.5")))
)
durations = node(
    t.Duration,
    amount=st.integers(min_value=0, max_value=5_000),
    unit=st.sampled_from(["ms", "s", "m", "h", "d", "w"]),
)
plain_texts = node(t.Text, value=texts)
booleans = node(t.Boolean, value=st.booleans())
nulls = node(t.Null)
regexes = node(
    t.Regex,
    pattern=st.one_of(
        st.sampled_from(["a", "/", "a/b", r"\\", r"\d+", "[^/]*", r"\\/", "#", '"', "é", "(a|b)"]),
        st.text(alphabet='ab/.*[]()#" ', min_size=1, max_size=6),
    ),
)

# ---- tools and places

tool_refs = node(t.ToolRef, origin=st.sampled_from([None, None, "mcp", "ext"]), pattern=patterns)
tools = node(t.Tools, included=some(tool_refs), excluded=some(tool_refs, least=0))
_roots = names.filter(
    lambda name: (
        name
        not in {"from", "to", "second", "minute", "hour", "day", "week", "session", "agent", "user"}
    )
)
_steps = st.one_of(field_names, texts, st.integers(0, 50), st.just(t.Star()))
paths = node(t.FieldPath, root=_roots, steps=some(_steps, least=0))
every_agent = node(t.EveryAgent)
agents = st.one_of(
    node(t.Agents, patterns=texts.map(lambda text: (text,)), plural=st.just(False)),
    node(t.Agents, patterns=some(texts), plural=st.just(True)),
)
roles = node(t.Role, name=texts)
layers = st.one_of(agents, roles)
bindings = st.one_of(every_agent, layers)
histories = node(t.History, kind=st.sampled_from(["results", "calls"]), tools=tools)
names_of_things = node(t.Name, name=names)

# ---- data of tests


def _objects(values: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    keys = st.lists(st.one_of(field_names, texts), max_size=2, unique=True)
    entries = keys.flatmap(lambda ks: st.tuples(*(st.tuples(st.just(k), values) for k in ks)))
    return node(t.ObjectLiteral, entries=entries)


json_values = st.recursive(
    st.one_of(
        plain_texts,
        numbers,
        durations,
        booleans,
        nulls,
        node(t.Negate, operand=st.one_of(numbers, durations)),
    ),
    lambda inner: st.one_of(node(t.ListLiteral, items=some(inner, least=0)), _objects(inner)),
    max_leaves=4,
)
objects = _objects(json_values)

# ---- expressions


def expressions_over(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Return the strategy of expressions one level above `inner`."""
    operands = st.lists(inner, min_size=2, max_size=3).map(tuple)
    each = {"variable": names, "index": perhaps(names), "source": inner, "test": inner}
    return st.one_of(
        node(t.ListLiteral, items=some(inner, least=0)),
        node(t.Field, base=inner, name=field_names),
        node(t.Index, base=inner, key=inner),
        node(t.Function, name=function_names, args=some(inner, least=0)),
        node(t.Selection, function=function_names, **each),
        node(t.Arithmetic, op=st.sampled_from(["+", "-", "*"]), left=inner, right=inner),
        node(t.Negate, operand=inner),
        node(t.Quantifier, kind=st.sampled_from(["any", "all"]), **each),
        node(t.And, operands=operands),
        node(t.Or, operands=operands),
        node(t.Not, operand=inner),
        node(
            t.Compare,
            op=st.sampled_from(["==", "!=", "<", "<=", ">", ">="]),
            left=inner,
            right=inner,
        ),
        node(t.In, left=inner, right=inner, negated=st.booleans()),
        node(
            t.TextTest,
            op=st.sampled_from(["starts with", "ends with", "contains"]),
            left=inner,
            right=inner,
        ),
        node(t.TextTest, op=st.just("contains"), left=inner, right=regexes),
        node(t.Like, left=inner, pattern=texts),
        node(t.Matches, left=inner, regex=regexes),
        node(
            t.Is,
            left=inner,
            what=st.sampled_from([*t.STATES, *t.TYPE_NAMES]),
        ),
        node(t.NamedByUser, left=inner),
        node(t.From, left=inner, source=st.one_of(names_of_things, histories)),
        node(
            t.Window,
            left=inner,
            start=st.sampled_from(["00:00", "08:30"]),
            end=st.sampled_from(["18:00", "23:59"]),
            zone=perhaps(texts),
            days=perhaps(st.sampled_from(["weekdays", "weekends", "mon", "sun"])),
        ),
        node(
            t.ResourceTest,
            verb=st.sampled_from(get_args(t.Verb)),
            form=st.sampled_from(get_args(t.Form)),
            operand=st.one_of(inner, node(t.Nothing), node(t.Anything)),
        ),
    )


simple_expressions = st.one_of(
    names_of_things,
    numbers,
    plain_texts,
    durations,
    booleans,
    objects,
    histories,
    node(t.AfterTest, tools=tools, within=perhaps(durations)),
)
expressions = st.recursive(simple_expressions, expressions_over, max_leaves=6)

# ---- clauses and changes

unlesses = node(t.Unless, test=expressions)
_other_clauses = st.one_of(
    node(t.After, tools=tools, within=perhaps(durations)),
    node(t.When, test=expressions),
    node(t.Because, text=texts),
    node(t.Audit, text=texts),
    node(t.WithApproval),
    node(t.By, groups=some(texts)),
    node(t.TwoPeople),
    node(
        t.Remember,
        period=st.one_of(durations, st.just("session")),
        fields=some(paths, least=0),
        times=perhaps(st.integers(1, 1_000)),
    ),
)
clauses = st.tuples(
    some(_other_clauses, least=0), some(unlesses, least=0).map(lambda found: found[:1])
).map(lambda parts: (*parts[0], *parts[1]))
changes = st.one_of(
    node(t.SetField, path=paths, value=expressions, if_absent=st.booleans()),
    node(t.AtMost, path=paths, bound=expressions),
    node(t.AtLeast, path=paths, bound=expressions),
    node(t.RemoveField, path=paths),
    node(t.RedactField, path=paths, regex=regexes, replacement=perhaps(texts)),
)

# ---- statements

_kinds = st.sampled_from(["paths", "hosts", "commands", "strings", "numbers", "addresses"])
_keys = some(field_names, least=0)
_named = {"name": perhaps(rule_names), "shadow": st.booleans(), "tools": tools}
_items = st.one_of(plain_texts, names_of_things, signed_numbers)

rules = node(t.Rule, **_named, verdict=verdicts, clauses=clauses)
rewrites = node(t.Rewrite, **_named, clauses=clauses, changes=some(changes))
redactions = node(
    t.RedactResults, **_named, regex=regexes, replacement=perhaps(texts), clauses=clauses
)
limits = node(
    t.Limit,
    **_named,
    amount=st.one_of(numbers, names_of_things),
    of=perhaps(expressions),
    per=some(
        st.one_of(
            durations,
            st.sampled_from("second minute hour day week session agent user".split()),
            node(t.FieldPath, root=_roots, steps=some(_steps)),
        ),
        least=0,
    ),
    clauses=clauses,
)
labels = node(
    t.LabelResults,
    label=names,
    tools=tools,
    fields=some(some(field_names), least=0),
    clauses=clauses,
)
invariants = node(
    t.Invariant,
    name=perhaps(rule_names),
    kind=st.sampled_from(["prove", "assume"]),
    claim=st.sampled_from(["never allow", "always deny"]),
    tools=tools,
    clauses=clauses,
)
uses = node(
    t.Use,
    path=texts,
    alias=perhaps(names),
    bindings=some(st.tuples(names, expressions), least=0),
    granting=st.booleans(),
)
params = node(
    t.Param,
    name=names,
    kind=st.sampled_from(
        "tools paths hosts commands strings numbers addresses".split()
        + "string number duration path host".split()
    ),
    default=perhaps(expressions),
)
tool_sets = node(t.ToolSet, name=names, tools=tools)
named_sets = node(
    t.NamedSet, kind=_kinds, name=names, included=some(_items), excluded=some(_items, least=0)
)
sets_from_files = node(t.SetFromFile, kind=_kinds, name=names, file=texts, key=_keys)
data_tables = node(t.DataTable, name=names, file=texts, key=_keys)
lets = node(t.Let, name=names, value=expressions)
_effects = st.one_of(
    node(t.Effect, verb=st.sampled_from(get_args(t.Verb)), fields=some(paths)),
    node(
        t.Effect,
        verb=st.sampled_from(["reads", "writes"]),
        fields=some(paths),
        extent=st.sampled_from(["tree", "file"]),
    ),
    node(
        t.Effect,
        verb=st.just("reads"),
        fields=some(paths),
        extent=st.sampled_from(["tree", "file"]),
        listed=st.just(True),
    ),
    node(t.StoreEffect, verb=st.sampled_from(["reads", "writes"]), store=texts),
)
tool_declarations = node(
    t.ToolDeclaration,
    tool=tool_refs,
    effects=some(_effects),
    complete=st.booleans(),
    extra_fields=st.booleans(),
)
defaults = node(t.Default, verdict=verdicts, tools=perhaps(tools))
delegations = node(t.Delegate, tools=tools, to=layers)
_calls = node(t.TestCall, tool=tool_refs, input=objects)
_pasts = node(
    t.Past,
    times=perhaps(st.integers(1, 9)),
    call=_calls,
    returning=perhaps(json_values),
    ago=perhaps(durations),
)
cases = node(
    t.Case,
    past=some(_pasts, least=0),
    call=_calls,
    returning=perhaps(json_values),
    verdict=verdicts,
    by=perhaps(rule_references),
    becoming=perhaps(json_values),
    returned=perhaps(json_values | node(t.Withheld)),
)
givens = node(t.Given, bindings=some(st.tuples(paths, json_values)))
tests = node(t.Test, title=texts, steps=some(st.one_of(givens, cases)))

statements = st.one_of(
    rules,
    rewrites,
    redactions,
    limits,
    labels,
    invariants,
    uses,
    params,
    tool_sets,
    named_sets,
    sets_from_files,
    data_tables,
    lets,
    tool_declarations,
    defaults,
    delegations,
    tests,
)
headers = st.one_of(node(t.PolicyHeader, binding=bindings), node(t.PackHeader, name=texts))


def policy_files(
    statement: st.SearchStrategy[Any] = statements, *, most: int = 4
) -> st.SearchStrategy[t.PolicyFile]:
    """Return the strategy of whole files with up to `most` statements."""
    return st.builds(
        t.PolicyFile,
        source=st.just(Source(name="generated", text="")),
        header=headers,
        statements=st.lists(statement, max_size=most).map(tuple),
    )
