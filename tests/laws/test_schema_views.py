"""The view of a schema is never stricter than the validator: of any draft, with any keyword."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from policy.admission import input_fault
from policy.catalog import Origin, ToolSpec
from tests.examples import examples
from tests.viewed_schemas import objections

_NAMED_DRAFTS = (
    *(f"http://json-schema.org/draft-0{number}/schema#" for number in (4, 6, 7)),
    "https://json-schema.org/draft/2019-09/schema",
)
_DRAFTS = (None, *_NAMED_DRAFTS)
_REFERENCES = (
    *("#", "#/$defs/a", "#/definitions/a", "#/$defs/a%20b", "#/$defs/a%25b", "#/$defs/a~1b"),
    *("#/properties/n", "#/properties/m", "#/allOf/0", "#/anyOf/1"),
)
_SCALARS = ("a", "xyz", 0, 1, 6, 2.5, 6.0, True, None)
_VALUES: tuple[Any, ...] = (
    *_SCALARS,
    *([], [1], [6], ["a"], [1, 6], [1, "a"], ["a", 1], [1, 2, 6], [[6]], [{"n": "a"}]),
    *({}, {"n": 1}, {"n": "a"}, {"m": 6}, {"n": 1, "m": "a"}, {"n": [1, 6]}, {"n": {"n": 6}}),
)
_INPUTS: tuple[dict[str, Any], ...] = (
    {},
    *({"n": value} for value in _VALUES),
    *({"n": value, "m": 1} for value in _SCALARS),
)


_WHOLE = {"type": "integer"}
_SMALL = {"type": "integer", "minimum": 0, "maximum": 5}
_OF_PATTERNS = {"additionalProperties": False, "patternProperties": {"^n": {}}}
_LEAVES: tuple[Any, ...] = (
    *(True, {}, False, _WHOLE, _SMALL, {"const": 1}, {"type": "string"}, {"enum": ["a", 1]}),
    *({"type": "array", "items": _SMALL}, {"type": "array", "maxItems": 2}, {"required": ["n"]}),
    *({"type": "array", "prefixItems": [_SMALL]}, _OF_PATTERNS),
)
_leaves = st.sampled_from(_LEAVES)


def _some(**keywords: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    """Draw some of the keywords, as those of one group say something together."""
    return st.fixed_dictionaries({}, optional=keywords)


def _groups(inner: st.SearchStrategy[Any]) -> tuple[st.SearchStrategy[dict[str, Any]], ...]:
    two = st.lists(inner, min_size=2, max_size=2)
    first = st.lists(inner, min_size=1, max_size=1)
    named = st.fixed_dictionaries({"n": inner})
    by_pattern = st.fixed_dictionaries({"^n": inner})
    return (
        _some(prefixItems=first, items=inner | first, additionalItems=inner),
        _some(properties=named, patternProperties=by_pattern, additionalProperties=inner),
        st.one_of(*(st.fixed_dictionaries({key: two}) for key in ("anyOf", "oneOf", "allOf"))),
        _some(**{"if": inner, "then": inner, "else": inner}),
        st.fixed_dictionaries({"$ref": st.sampled_from(_REFERENCES)}),
    )


def _unread(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    """Draw keywords that no view reads."""
    return _some(
        contains=inner,
        propertyNames=inner,
        unevaluatedItems=inner,
        unevaluatedProperties=inner,
        dependentSchemas=st.fixed_dictionaries({"m": inner}),
        **{"not": inner},
    )


_beside: st.SearchStrategy[dict[str, Any]] = _unread(_leaves) | st.sampled_from(
    [leaf for leaf in _LEAVES if isinstance(leaf, dict)]
)
_beside |= st.sampled_from((*_NAMED_DRAFTS, "http://json-schema.org/schema#")).map(
    lambda draft: {"$schema": draft}
)
_beside |= st.just({"id": "urn:x", "definitions": {"a": {"type": "string"}}})
_alone = st.one_of(*_groups(_leaves))
_joined = st.builds(lambda one, other: {**one, **other}, _alone, _beside)
_nested = st.one_of(*_groups(_leaves | _alone | _joined))
_schemas = st.one_of(
    _alone,
    _alone,
    _joined,
    _nested,
    _alone.map(lambda part: {"type": "array", "items": part}),
    _alone.map(lambda part: {"type": "object", "properties": {"n": part}}),
)
_PARTS = {
    "a": _WHOLE,
    "a b": _WHOLE,
    "a%20b": {"type": "string"},
    "a%b": {"type": "string"},
    "a%25b": _WHOLE,
    "a/b": {"type": "string"},
    "a~1b": _WHOLE,
}


@st.composite
def _tools(draw: st.DrawFn) -> ToolSpec:
    """Draw a schema of a tool: most often, all there is to it is that of the field `n`."""
    around = draw(st.sampled_from(("field", "field", "field", "both", "none")))
    found = {} if around == "field" else dict(draw(_nested))
    if around != "none":
        found["properties"] = {"n": draw(_schemas)}
        found["required"] = ["n"]
    draft = draw(st.sampled_from(_DRAFTS))
    if draft is not None:
        found["$schema"] = draft
    found.update({"$defs": _PARTS, "definitions": _PARTS} if "$ref" in repr(found) else {})
    return ToolSpec(name="t", origin=Origin(tool="t"), schema=found)


@settings(max_examples=examples(1000))
@given(_tools())
def test_a_view_is_never_stricter_than_the_validator(spec: ToolSpec) -> None:
    # Of a tool whose schema has a fault, no call is accepted.
    if input_fault(spec) is None:
        assert not list(objections(spec.schema, _INPUTS))
