"""What a rule came to can be written and read again: exactly the same, or not at all."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from types import MappingProxyType
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policy.catalog import ToolPattern, ToolSelector
from policy.checks import NotStorable, checked
from policy.checks.codec import read, write

scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text()
    | st.decimals(allow_nan=False, allow_infinity=False)
    | st.datetimes(timezones=st.none() | st.just(UTC)).map(lambda at: at.replace(fold=0))
    | st.dates()
    | st.timedeltas()
)
data = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner).map(tuple) | st.dictionaries(st.text(), inner).map(MappingProxyType)
    ),
)


@given(data)
def test_constants_come_back_as_they_are(value: Any) -> None:
    constant = checked.Constant(value=value)
    again = read(write(constant), checked.Constant)
    assert again == constant
    assert repr(again) == repr(constant)  # 1, 1.0, True and 1.00 are told apart


def test_conditions_and_tools_come_back_as_they_are() -> None:
    value_set = checked.ValueSet(kind="paths", included=(checked.WorkspaceItem(), "/srv/**"))
    window = checked.WindowTest(
        left=checked.Fact(path=("now",)),
        start=60,
        end=120,
        zone="UTC",
        days=frozenset({1, 4}),
        text="now between …",
    )
    resource = checked.ResourceTest(
        verb="reads", form="only", operand=value_set, permits=True, text="reads only …"
    )
    test = checked.AllOf(tests=(window, checked.NotOf(test=resource, text="not …")), text="…")
    assert read(write(test), checked.Test) == test
    inner = ToolSelector(included=(ToolPattern(origin="mcp", text="git/*"),), gives=False)
    tools = ToolSelector(
        included=(inner, ToolPattern(text="a")), excluded=(ToolPattern(text="b"),), gives=True
    )
    assert read(write(tools), ToolSelector) == tools


@pytest.mark.parametrize(
    "value",
    [
        object(),
        [1],
        {"a": 1},
        MappingProxyType({1: 2}),
        datetime(2026, 1, 1, tzinfo=ZoneInfo("Europe/Berlin")),
        b"bytes",
        float,
    ],
)
def test_what_has_no_form_is_not_written(value: Any) -> None:
    with pytest.raises(NotStorable):
        write(checked.Constant(value=value))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "{}",
        '["object"]',
        '["Constant"]',
        '["Constant",1,2]',
        '["Constant",{"a":1}]',
        '["Fact",["t",1]]',
        '["Fact","input"]',
        '["Local",true]',
        '["Local",1.0]',
        '["Truth",["t"],"text"]',
        '["Comparison","!=",["Local",1],["Local",2],"text"]',
        '["AllOf",["t",["Local",1]],"text"]',
        '["ToolSelector",["t",["ToolPattern",null,""]],["t"],true]',
        '["n","no number"]',
        '["n",1]',
        '["span",1e999,0,0]',
        '["datetime","today"]',
        "[]",
        "[[]]",
        "[" * 100_000,
        '["t"' + ',["t"' * 100_000,
    ],
)
def test_what_nobody_wrote_is_not_read(text: str) -> None:
    for kind in (checked.Test, checked.Value, ToolSelector):
        with pytest.raises(NotStorable):
            read(text, kind)


def test_another_kind_is_not_read() -> None:
    with pytest.raises(NotStorable):
        read(write(checked.Local(slot=1)), checked.Test)
    assert read(write(None), checked.Test | None) is None
    assert read(write(Decimal("1.50")), Decimal) == Decimal("1.50")
