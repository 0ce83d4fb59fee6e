"""Sample values are complete: every value has the results of one of them in simple tests."""

from __future__ import annotations

from typing import Any

import jsonschema
from hypothesis import given
from hypothesis import strategies as st

from policy.catalog import Origin, SchemaView, ToolSpec
from policy.checks import checked
from policy.evaluation import (
    ABSENT,
    ConditionScope,
    DeclaredResources,
    Indeterminate,
    compile_test,
)
from policy.symbolic.field_values import accepted_values, bounds_in
from policy.symbolic.samples import complete_samples, simple_subject
from policy.symbolic.situation import Situation

FIELD = checked.FieldOf(base=checked.Fact(path=("input",)), name="x")
SPEC = ToolSpec(name="t", origin=Origin(tool="t"), complete=True)
STRINGS = st.sampled_from(("", "a", "b", "A", "other", "other1", "é", "e\u0301"))
# Where the next whole number, or the next number at all, is no double.
LARGE = st.sampled_from((2**53, 2**53 + 2, -(2**53), 10**23, 1e300, 1.6e308, 1.7e308, 5e-324))
NUMBERS = st.integers(-3, 3) | st.sampled_from((0.5, 1.5, -0.25, 2.0)) | LARGE
CONSTANTS = STRINGS | NUMBERS | st.booleans()


def _constant(value: Any) -> checked.Constant:
    return checked.Constant(value=value)


TESTS = st.one_of(
    st.builds(
        lambda op, value: checked.Comparison(op=op, left=FIELD, right=_constant(value), text=""),
        st.sampled_from(("==", "<", "<=", ">", ">=")),
        CONSTANTS,
    ),
    st.builds(
        lambda op, value: checked.Comparison(op=op, left=_constant(value), right=FIELD, text=""),
        st.sampled_from(("==", "<")),
        CONSTANTS,
    ),
    st.builds(
        lambda items: checked.Membership(
            left=FIELD, right=checked.ListOf(items=tuple(map(_constant, items))), text=""
        ),
        st.lists(CONSTANTS, min_size=1, max_size=3),
    ),
    st.builds(
        lambda items: checked.Membership(
            left=FIELD,
            right=checked.ValueSet(kind="strings", included=tuple(items)),
            text="",
        ),
        st.lists(STRINGS, min_size=1, max_size=3),
    ),
    st.builds(lambda p: checked.Presence(left=FIELD, present=p, text=""), st.booleans()),
    st.builds(
        lambda kind: checked.TypeTest(left=FIELD, kind=kind, text=""),
        st.sampled_from(("string", "number", "boolean", "list", "object")),
    ),
    st.just(checked.ValueTest(value=FIELD, text="")),
)
VALUES = (
    CONSTANTS
    | st.text(alphabet="abe\u00e9\u0301\u200bother1 ", max_size=6)
    | st.floats(-5, 5, allow_nan=False)
    | st.floats(0, 1)
    | st.integers()
    | st.floats(allow_nan=False)
    | LARGE.map(lambda number: number * 2)
    | st.lists(CONSTANTS, max_size=2)
    | st.just({"a": 1})
    | st.just(ABSENT)
)


def _results(tests: list[checked.Test], value: Any, *, absent_is_false: bool) -> list[Any]:
    scope = ConditionScope(
        declared=DeclaredResources((), complete=True, unseen=False),
        absent_is_false=absent_is_false,
        covering=False,
        test=compile_test,
    )
    call = Situation(spec=SPEC, base={}).having({("input", "x"): value}).evaluation(slots=0)
    found = (compile_test(test, scope)(call) for test in tests)
    return [None if isinstance(truth, Indeterminate) else truth for truth in found]


@given(st.lists(TESTS, min_size=1, max_size=4), VALUES, st.booleans())
def test_every_value_has_the_results_of_a_sample(
    tests: list[checked.Test], value: Any, absent_is_false: bool
) -> None:
    assert all(simple_subject(test) == ("input", "x") for test in tests)
    seen = _results(tests, value, absent_is_false=absent_is_false)
    assert seen in [
        _results(tests, sample, absent_is_false=absent_is_false)
        for sample in complete_samples(tests)
    ]


SCHEMAS = st.sampled_from(
    (
        {"type": "integer", "minimum": 2, "maximum": 7},
        {"type": "number", "exclusiveMinimum": -1.5},
        {"type": "number", "exclusiveMinimum": 0},
        {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1},
        {"type": "number", "minimum": 0.25, "maximum": 0.75},
        {"type": "string"},
        {"enum": ["a", "b", 3]},
        {"type": ["string", "null"]},
        {"type": "boolean"},
    )
)


@given(st.lists(TESTS, min_size=1, max_size=3), SCHEMAS, VALUES, st.booleans())
def test_every_value_that_the_schema_accepts_has_the_results_of_an_accepted_sample(
    tests: list[checked.Test], schema: dict[str, Any], value: Any, required: bool
) -> None:
    whole = {
        "type": "object",
        "properties": {"x": schema},
        **({"required": ["x"]} if required else {}),
    }
    given_input = {} if value is ABSENT else {"x": value}
    if not jsonschema.Draft202012Validator(whole).is_valid(given_input):
        return
    view = SchemaView(whole)
    samples = accepted_values(view, "x", complete_samples(tests, more=bounds_in(view, "x")))
    seen = _results(tests, value, absent_is_false=True)
    assert seen in [_results(tests, sample, absent_is_false=True) for sample in samples]
