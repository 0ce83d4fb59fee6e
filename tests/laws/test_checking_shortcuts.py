"""The shortcuts of checking, caches among them, change no result."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, get_args

from hypothesis import given
from hypothesis import strategies as st

from policy.catalog import (
    Catalog,
    CatalogError,
    Origin,
    SchemaView,
    SchemaViews,
    ToolPattern,
    ToolSelector,
    ToolSpec,
    as_validated,
    lookup,
    named_fields,
    read_only_schema,
)
from policy.checks import checked
from policy.checks.conditions.expressions import CONDITIONS
from policy.checks.conditions.expressions import VALUES as VALUE_READERS
from policy.checks.conditions.tests import TESTS
from policy.checks.names.known_tools import KnownTool
from policy.checks.satisfiability.outcomes import never_holds_outside, outcomes
from policy.checks.satisfiability.possible_values import FALSE, TRUE, UNDECIDED, ConditionContext
from policy.layers.grants import GrantedTools
from policy.layers.selector_overlap import SelectorOverlaps
from policy.model import Source
from policy.syntax import Spelled, print_expr, tree
from policy.syntax.inline_printer import SPELLERS
from policy.syntax.literals import write_text
from tests.laws import reference_outcomes as plain
from tests.strategies import policy_files

INPUT = checked.Fact(path=("input",))
SPAN = Source(name="x", text="x").span(0, 1)
BITS = {plain.Outcome.TRUE: TRUE, plain.Outcome.FALSE: FALSE, plain.Outcome.UNDECIDED: UNDECIDED}

# ------------------------------------------------------------------ schemas

NAMES = st.sampled_from(["a", "b", "c"])


def schemas() -> st.SearchStrategy[dict[str, Any]]:
    """Return schemas of few fields, with all that joins schemas and some nonsense."""
    leaves = st.one_of(
        st.just({}),
        st.sampled_from(
            ["string", "integer", "number", "boolean", "array", "object", "null", "x"]
        ).map(lambda kind: {"type": kind}),
        st.lists(st.sampled_from(["x", "y", 1, True, None]), max_size=3).map(
            lambda values: {"enum": values}
        ),
        st.integers(-3, 3).map(lambda least: {"type": "integer", "minimum": least}),
        st.integers(-3, 3).map(lambda most: {"type": "number", "exclusiveMaximum": most}),
        st.sampled_from(["#", "#/$defs/D", "#/$defs/gone", 3]).map(lambda at: {"$ref": at}),
        st.sampled_from(["x", 1, None]).map(lambda value: {"const": value}),
        st.just({"type": "string", "default": "x"}),
    )
    return st.recursive(leaves, _larger, max_leaves=8)


def _larger(inner: st.SearchStrategy[dict[str, Any]]) -> st.SearchStrategy[dict[str, Any]]:
    several = st.lists(inner, min_size=1, max_size=3)
    objects = st.fixed_dictionaries(
        {"properties": st.dictionaries(NAMES, inner, max_size=3)},
        optional={
            "type": st.just("object"),
            "required": st.lists(NAMES, max_size=2),
            "additionalProperties": st.one_of(st.booleans(), inner),
            "patternProperties": st.just({"^z": {}}),
            "$defs": st.fixed_dictionaries({"D": inner}),
        },
    )
    return st.one_of(
        objects,
        inner.map(lambda items: {"type": "array", "items": items}),
        st.tuples(st.sampled_from(["allOf", "anyOf", "oneOf", "prefixItems"]), several).map(
            lambda joined: {joined[0]: joined[1]}
        ),
        inner.map(lambda part: {"if": {}, "then": part}),
    )


PATHS = st.lists(st.one_of(NAMES, st.just("*"), st.integers(0, 2)), max_size=3).map(tuple)


@given(schemas(), st.lists(PATHS, min_size=1, max_size=4))
def test_a_cached_schema_view_answers_as_the_schema(
    schema: dict[str, Any], paths: list[tuple[str | int, ...]]
) -> None:
    frozen = read_only_schema(schema)
    view = SchemaViews().of(frozen)
    # A view reads what a validator reads of the schema.
    read = as_validated(frozen)
    for path in (*paths, *paths):
        assert view.lookup(path) == lookup(read, path)
        assert view.named_fields(path) == named_fields(read, path)


@given(schemas(), schemas(), PATHS)
def test_only_equal_schemas_share_a_view(
    left: dict[str, Any], right: dict[str, Any], path: tuple[str | int, ...]
) -> None:
    views = SchemaViews()
    first, second = views.of(read_only_schema(left)), views.of(read_only_schema(right))
    assert (first is second) == (repr(left) == repr(right))
    assert views.of(read_only_schema(dict(left))) is first


@given(schemas(), PATHS)
def test_a_schema_alone_answers_as_among_others(
    schema: dict[str, Any], path: tuple[str | int, ...]
) -> None:
    # With an `allOf` around it, no shortcut is taken at the top.
    joined = {"allOf": [schema], **{k: v for k, v in schema.items() if k == "$defs"}}
    if "#" not in repr(schema) and not path[1:]:
        assert lookup(joined, path).types == lookup(schema, path).types
        assert lookup(joined, path).required == lookup(schema, path).required


# ------------------------------------------------------------------ outcomes

VALUES: st.SearchStrategy[checked.Value] = st.one_of(
    NAMES.map(lambda name: checked.FieldOf(base=INPUT, name=name)),
    st.sampled_from(
        [
            checked.Fact(path=("agent", "name")),
            checked.Fact(path=("tool", "category")),
            checked.Fact(path=("call", "reads")),
            checked.FieldOf(base=checked.FieldOf(base=INPUT, name="a"), name="b"),
            checked.Variable(slot=0),
        ]
    ),
)
CONSTANTS = st.sampled_from(["x", "y", "", 0, 1, 2.5, True, False, None, (), ("x", 1)]).map(
    lambda value: checked.Constant(value=value)
)
OPERANDS = st.one_of(VALUES, CONSTANTS)
ITEMS = st.lists(st.sampled_from(["x", "y", 1, 2]), max_size=3).map(tuple)
SETS = st.builds(
    lambda items, inner, kind: checked.ValueSet(kind=kind, included=(*items, *inner)),
    ITEMS,
    st.lists(st.just(checked.ValueSet(kind="strings", included=())), max_size=1),
    st.sampled_from(["strings", "numbers", "paths"]),
)


def atoms() -> st.SearchStrategy[checked.Test]:
    """Return tests of every kind that hold no others."""
    return st.one_of(
        OPERANDS.map(lambda value: checked.ValueTest(value=value, text="")),
        st.builds(
            lambda op, left, right: checked.Comparison(op=op, left=left, right=right, text=""),
            st.sampled_from(["==", "<", "<=", ">", ">="]),
            OPERANDS,
            OPERANDS,
        ),
        st.builds(
            lambda left, right: checked.Membership(left=left, right=right, text=""),
            OPERANDS,
            st.one_of(SETS, VALUES, ITEMS.map(lambda items: checked.Constant(value=items))),
        ),
        st.builds(
            lambda left, present: checked.Presence(left=left, present=present, text=""),
            OPERANDS,
            st.booleans(),
        ),
        st.builds(
            lambda left, kind: checked.TypeTest(left=left, kind=kind, text=""),
            VALUES,
            st.sampled_from(["string", "number"]),
        ),
        st.builds(
            lambda left, pattern: checked.LikeTest(left=left, pattern=pattern, text=""),
            OPERANDS,
            st.sampled_from(["x*", "y"]),
        ),
        VALUES.map(lambda value: checked.RegexTest(left=value, pattern="x", whole=True, text="")),
        st.builds(
            lambda op, left, right: checked.TextRelation(op=op, left=left, right=right, text=""),
            st.sampled_from(["starts with", "contains"]),
            OPERANDS,
            OPERANDS,
        ),
        st.builds(
            lambda verb, form, operand, permits: checked.ResourceTest(
                verb=verb, form=form, operand=operand, permits=permits, text=""
            ),
            st.sampled_from(["reads", "writes"]),
            st.sampled_from(["some", "any", "only", "outside"]),
            st.one_of(st.none(), SETS),
            st.booleans(),
        ),
    )


def simple_atoms() -> st.SearchStrategy[checked.Test]:
    """Return tests that ask one thing of one value, as most rules do, or its opposite."""
    compared = st.builds(
        lambda op, left, right: checked.Comparison(op=op, left=left, right=right, text=""),
        st.sampled_from(["==", "<", ">="]),
        VALUES,
        CONSTANTS,
    )
    among = st.builds(
        lambda left, items: checked.Membership(
            left=left, right=checked.Constant(value=items), text=""
        ),
        VALUES,
        st.lists(st.sampled_from(["x", 1, None]), max_size=3).map(tuple),
    )
    others = st.builds(
        lambda left, present: checked.Presence(left=left, present=present, text=""),
        VALUES,
        st.booleans(),
    )
    plainly = st.one_of(compared, among, others)
    return st.one_of(
        plainly,
        plainly.map(lambda test: checked.NotOf(test=test, text="")),
        st.tuples(plainly, plainly).map(lambda tests: checked.AnyOf(tests=tests, text="")),
    )


def conditions() -> st.SearchStrategy[checked.Test]:
    """Return conditions of several parts."""
    return st.recursive(
        atoms(),
        lambda inner: st.one_of(
            inner.map(lambda test: checked.NotOf(test=test, text="")),
            st.lists(inner, min_size=1, max_size=4).map(
                lambda tests: checked.AllOf(tests=tuple(tests), text="")
            ),
            st.lists(inner, min_size=1, max_size=3).map(
                lambda tests: checked.AnyOf(tests=tuple(tests), text="")
            ),
            st.builds(
                lambda kind, source, test: checked.Quantified(
                    kind=kind, slot=0, index_slot=None, source=source, test=test, text=""
                ),
                st.sampled_from(["any", "all"]),
                VALUES,
                inner,
            ),
        ),
        max_leaves=8,
    )


def tools() -> st.SearchStrategy[KnownTool | None]:
    """Return tools of every schema, some complete and some of a category; or none."""
    return st.one_of(
        st.none(),
        st.builds(
            lambda schema, complete, category: _known(schema, complete, category),
            schemas(),
            st.booleans(),
            st.sampled_from([None, "x"]),
        ),
    )


def _known(schema: dict[str, Any], complete: bool, category: str | None) -> KnownTool:
    spec = ToolSpec(name="t", origin=Origin(tool="t"), schema=schema, category=category)
    view = Catalog(specs=(spec,)).views.of(spec.schema)
    return KnownTool(spec=spec, resources=(), complete=complete, view=view)


def _bits(found: frozenset[plain.Outcome]) -> int:
    return sum(BITS[outcome] for outcome in found)


ABSENT = st.sampled_from([plain.Outcome.FALSE, plain.Outcome.UNDECIDED])


@given(conditions(), tools(), ABSENT)
def test_possible_outcomes_of_a_test_are_those_of_the_reference(
    test: checked.Test, tool: KnownTool | None, absent: plain.Outcome
) -> None:
    slow = plain.outcomes(test, plain.Sight(tool=tool, absent=absent))
    assert outcomes(test, ConditionContext(tool=tool, absent=BITS[absent])) == _bits(slow)


@given(conditions(), conditions(), tools(), ABSENT)
def test_an_exception_excludes_what_the_reference_excludes(
    test: checked.Test, exception: checked.Test, tool: KnownTool | None, absent: plain.Outcome
) -> None:
    slow = plain.holds_nowhere(test, exception, plain.Sight(tool=tool, absent=absent))
    assert (
        never_holds_outside(test, exception, ConditionContext(tool=tool, absent=BITS[absent]))
        == slow
    )


def test_a_schema_view_is_bounded() -> None:
    view = SchemaView(read_only_schema({"type": "object"}))
    for number in range(3_000):
        view.lookup((f"f{number}",))
    assert len(view._infos) <= 1_024


# ------------------------------------------------------------------ selectors

PATTERNS = st.one_of(
    st.text("ab*?_@2\\", min_size=1, max_size=5).map(lambda text: ToolPattern(text=text)),
    st.sampled_from(["a", "a__b", "a@2", "a*", "*", "s__*", "ext__s__*"]).map(
        lambda text: ToolPattern(text=text)
    ),
    st.builds(
        lambda origin, server, tool: ToolPattern(origin=origin, text=f"{server}/{tool}"),
        st.sampled_from(["mcp", "ext"]),
        st.sampled_from(["s", "s*", "*", "t"]),
        st.sampled_from(["a", "a*", "*", "a@2", "?"]),
    ),
)


def selectors() -> st.SearchStrategy[ToolSelector]:
    """Return selectors of patterns, and of selectors, with and without exceptions."""
    return st.recursive(
        st.builds(
            _selector, st.lists(PATTERNS, min_size=1, max_size=3), st.just(()), st.booleans()
        ),
        lambda inner: st.builds(
            _selector,
            st.lists(st.one_of(PATTERNS, inner), max_size=3),
            st.lists(st.one_of(PATTERNS, inner), max_size=2),
            st.booleans(),
        ),
        max_leaves=6,
    )


def _selector(included: Iterable[Any], excluded: Iterable[Any], grants: bool) -> ToolSelector:
    return ToolSelector(included=tuple(included), excluded=tuple(excluded), grants=grants)


HOSTED = st.text("ab_", min_size=1, max_size=4).map(lambda name: Origin(tool=name))
SERVED = st.builds(
    lambda kind, server, tool: Origin(kind=kind, server=server, tool=tool),
    st.sampled_from(["mcp", "ext"]),
    st.sampled_from(["s", "t", "ab"]),
    st.text("ab*", min_size=1, max_size=3),
)


@st.composite
def catalogs(draw: st.DrawFn) -> Catalog:
    """Return catalogues of few tools, some in versions."""
    specs: dict[str, ToolSpec] = {}
    for origin in draw(st.lists(st.one_of(HOSTED, SERVED), max_size=8, unique=True)):
        versions = draw(st.sampled_from([(None,), (None,), (1, 2), (2,)]))
        for version in versions:
            spec = ToolSpec(name=origin.flat_name(), origin=origin, version=version)
            specs.setdefault(spec.name, spec)
    try:
        return Catalog(specs=tuple(specs.values()), complete=draw(st.booleans()))
    except CatalogError:
        return Catalog()


@given(catalogs(), selectors())
def test_a_selector_selects_every_tool_it_matches(catalog: Catalog, selector: ToolSelector) -> None:
    matching = [spec for spec in catalog.specs if selector.matches(spec)]
    assert {spec.name for spec in catalog.matching(selector)} == {spec.name for spec in matching}
    if selector.exact_names() is None:
        assert list(catalog.matching(selector)) == matching


@given(catalogs(), st.lists(selectors(), max_size=4), selectors())
def test_a_tool_is_granted_if_some_selector_grants_it(
    catalog: Catalog, giving: list[ToolSelector], tools: ToolSelector
) -> None:
    overlaps = SelectorOverlaps(catalog=catalog)
    given_tools = GrantedTools(giving, overlaps)
    specs = catalog.matching(tools)
    assert given_tools.holds_some_of(tools) == any(
        s.matches(spec) for s in giving for spec in specs
    )
    assert given_tools.may_meet_unknown(tools) == any(
        overlaps.may_meet_unknown(tools, selector) for selector in giving
    )


# ------------------------------------------------------------------ nodes


def test_every_expression_node_has_a_printer_and_a_checker() -> None:
    nodes = set(get_args(tree.Expr))
    assert set(SPELLERS) == nodes
    assert set(VALUE_READERS) | set(CONDITIONS) == nodes
    assert set(TESTS) == set(CONDITIONS)


@given(st.text(st.characters()))
def test_a_string_literal_parses_to_the_string(text: str) -> None:
    assert print_expr(tree.Text(value=text, span=SPAN)) == write_text(text)


@given(policy_files())
def test_cached_printing_prints_alike(file: tree.PolicyFile) -> None:
    spelled: Spelled = {}
    for statement in file.statements:
        if isinstance(statement, tree.Rule):
            tests = [c.test for c in statement.clauses if isinstance(c, tree.When | tree.Unless)]
            parts = [part for test in tests for part in getattr(test, "operands", ())]
            for expr in (*parts, *tests, *parts):
                assert print_expr(expr, spelled) == print_expr(expr)
