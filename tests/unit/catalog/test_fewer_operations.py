"""A schema loses operations without an exception, whatever a server wrote into it."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from policy.catalog import (
    FewerOperations,
    Origin,
    ToolSpec,
    operations_in,
    read_only_schema,
    schema_strictify,
    strict_schema,
    union_branches,
)
from tests.examples import examples

WORDS = (
    "type properties required enum const oneOf anyOf allOf $ref $defs description operation a "
    "items prefixItems patternProperties additionalProperties discriminator format minimum not"
).split()
LEAVES = st.one_of(
    st.none(), st.booleans(), st.integers(0, 3), st.sampled_from(["object", "string", "read", "#"])
)
ANYTHING = st.recursive(
    LEAVES,
    lambda below: st.one_of(
        st.lists(below, max_size=3), st.dictionaries(st.sampled_from(WORDS), below, max_size=5)
    ),
    max_leaves=25,
)


def branch(value: str) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries(
        {
            "type": st.just("object"),
            "properties": st.fixed_dictionaries(
                {"operation": st.just({"const": value}), "a": ANYTHING}
            ),
            "required": st.just(["operation"]),
            "additionalProperties": st.just(False),
        },
        optional={"description": ANYTHING},
    )


IN_ONE = st.fixed_dictionaries(
    {
        "type": st.just("object"),
        "properties": st.fixed_dictionaries(
            {"operation": st.just({"type": "string", "enum": ["read", "drop"]}), "a": ANYTHING}
        ),
        "required": st.just(["operation"]),
    },
    optional={"description": ANYTHING, "additionalProperties": ANYTHING},
)
UNION = st.fixed_dictionaries(
    {
        "type": st.just("object"),
        "oneOf": st.tuples(branch("read"), branch("drop")).map(list),
    },
    optional={"description": ANYTHING, "$defs": ANYTHING},
)


@settings(max_examples=examples(300), deadline=None)
@given(st.dictionaries(st.sampled_from(WORDS), ANYTHING, max_size=6))
def test_no_schema_is_too_odd_for_its_model_form(schema: dict[str, Any]) -> None:
    plain = schema_strictify(schema)
    strict_schema(plain)
    strict_schema(schema)
    union_branches(schema)
    operations_in(schema)


@settings(max_examples=examples(300), deadline=None)
@given(st.one_of(IN_ONE, UNION), st.sampled_from([("read",), ("drop",)]))
def test_what_is_left_has_exactly_the_operations_that_are_kept(
    schema: dict[str, Any], kept: tuple[str, ...]
) -> None:
    spec = ToolSpec(name="x", origin=Origin(tool="x"), schema=read_only_schema(schema))
    tag = operations_in(schema)
    if tag is None:
        # The two operations are no closed objects, or their fields have nothing in common.
        assert "oneOf" in schema
        return
    left = FewerOperations.of(spec, tag, kept).schema(schema)
    assert left["properties"]["operation"]["enum"] == list(kept)
