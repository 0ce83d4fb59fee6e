"""Laws of quick checking: what is remembered or skipped changes no answer."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from policy.catalog import (
    Catalog,
    Origin,
    SchemaView,
    SchemaViews,
    ToolSpec,
    lookup,
    named_fields,
    read_only_schema,
)
from policy.checks import checked
from policy.checks.known import KnownTool
from policy.checks.outcomes import holds_nowhere, outcomes
from policy.checks.possible import FALSE, TRUE, UNDECIDED, Sight
from tests.laws import plain_outcomes as plain

INPUT = checked.Fact(path=("input",))
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
def test_a_view_answers_as_the_schema_does_every_time(
    schema: dict[str, Any], paths: list[tuple[str | int, ...]]
) -> None:
    schema = read_only_schema(schema)  # type: ignore[assignment]
    view = SchemaViews().of(schema)
    for path in (*paths, *paths):
        assert view.lookup(path) == lookup(schema, path)
        assert view.named_fields(path) == named_fields(schema, path)


@given(schemas(), schemas(), PATHS)
def test_only_schemas_that_say_the_same_share_a_view(
    left: dict[str, Any], right: dict[str, Any], path: tuple[str | int, ...]
) -> None:
    views = SchemaViews()
    first, second = views.of(read_only_schema(left)), views.of(read_only_schema(right))
    assert (first is second) == (repr(left) == repr(right))
    assert views.of(read_only_schema(dict(left))) is first


@given(schemas(), PATHS)
def test_a_schema_that_stands_alone_says_what_it_says_among_others(
    schema: dict[str, Any], path: tuple[str | int, ...]
) -> None:
    # With an `allOf` around it, no shortcut is taken at the top.
    joined = {"allOf": [schema], **{k: v for k, v in schema.items() if k == "$defs"}}
    if "#" not in repr(schema) and not path[1:]:
        assert lookup(joined, path).kinds == lookup(schema, path).kinds
        assert lookup(joined, path).required == lookup(schema, path).required


# ------------------------------------------------------------------ outcomes

VALUES: st.SearchStrategy[checked.Value] = st.one_of(
    NAMES.map(lambda name: checked.Step(base=INPUT, name=name)),
    st.sampled_from(
        [
            checked.Fact(path=("agent", "name")),
            checked.Fact(path=("tool", "category")),
            checked.Fact(path=("call", "reads")),
            checked.Step(base=checked.Step(base=INPUT, name="a"), name="b"),
            checked.Local(slot=0),
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
        OPERANDS.map(lambda value: checked.Truth(value=value, text="")),
        st.builds(
            lambda op, left, right: checked.Comparison(op=op, left=left, right=right, text=""),
            st.sampled_from(["==", "<", "<=", ">", ">="]),
            OPERANDS,
            OPERANDS,
        ),
        st.builds(
            lambda left, right: checked.Member(left=left, right=right, text=""),
            OPERANDS,
            st.one_of(SETS, VALUES, ITEMS.map(lambda items: checked.Constant(value=items))),
        ),
        st.builds(
            lambda left, present: checked.Presence(left=left, present=present, text=""),
            OPERANDS,
            st.booleans(),
        ),
        st.builds(
            lambda left, kind: checked.KindTest(left=left, kind=kind, text=""),
            VALUES,
            st.sampled_from(["string", "number"]),
        ),
        st.builds(
            lambda left, pattern: checked.LikeTest(left=left, pattern=pattern, text=""),
            OPERANDS,
            st.sampled_from(["x*", "y"]),
        ),
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
def test_a_test_comes_out_as_the_slow_way_says(
    test: checked.Test, tool: KnownTool | None, absent: plain.Outcome
) -> None:
    slow = plain.outcomes(test, plain.Sight(tool=tool, absent=absent))
    assert outcomes(test, Sight(tool=tool, absent=BITS[absent])) == _bits(slow)


@given(conditions(), conditions(), tools(), ABSENT)
def test_an_exception_excludes_what_the_slow_way_says(
    test: checked.Test, exception: checked.Test, tool: KnownTool | None, absent: plain.Outcome
) -> None:
    slow = plain.holds_nowhere(test, exception, plain.Sight(tool=tool, absent=absent))
    assert holds_nowhere(test, exception, Sight(tool=tool, absent=BITS[absent])) == slow


def test_a_view_forgets_before_it_grows_without_end() -> None:
    view = SchemaView(read_only_schema({"type": "object"}))
    for number in range(3_000):
        view.lookup((f"f{number}",))
    assert len(view._infos) <= 1_024
