"""Definitions as YAML."""

from __future__ import annotations

import re
from decimal import Decimal
from io import StringIO
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from ruamel.yaml import YAML

from policy.catalog import Arguments
from policy.service import yaml_of
from policy.tools import ToolDefinition, builtin_handlers
from tests.examples import examples

HOSTILE = st.sampled_from(
    [
        *("NO", "yes", "on", "~", "null", "true", "1e3", "0o7", "010", "1:30", "=", "<<", ".inf"),
        *("---", "...", "\n---\n", "\n...\n", "```", "\n```\n", "${{ secrets.X }}", "{{ x }}"),
        *("- a", "a: b", "? a", "!!python/object:x", "&a", "*a", "%YAML 1.1", "# c", "@", "`x`"),
        *('"', '\\"', "\\", "'", "\r", "\r\n", "\t", "\x00", "\x85", "\u2028", "\u202e", "\ufeff"),
        *("", " ", " a ", "\U0001f600", "\ue000", "\x7f", "2026-11-22", "0x1F", "1_000", "</tool>"),
    ]
)
TEXTS = HOSTILE | st.text(max_size=8) | st.lists(HOSTILE, max_size=3).map("".join)
NUMBERS = st.integers() | st.floats(allow_nan=False, allow_infinity=False)
VALUES = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=10,
)


def read_by_the_other(text: str) -> Any:
    return YAML(typ="safe", pure=True).load(StringIO(text))


def same(one: Any, other: Any) -> bool:
    return repr(one) == repr(other)


@settings(max_examples=examples(200), deadline=None)
@given(VALUES)
def test_two_parsers_read_back_what_was_written(value: Any) -> None:
    text = yaml_of(value)
    assert same(yaml.safe_load(text), value)
    assert same(read_by_the_other(text), value)


@settings(max_examples=examples(200), deadline=None)
@given(VALUES)
def test_no_text_ends_the_block_that_it_stands_in(value: Any) -> None:
    text = yaml_of(value)
    assert re.fullmatch(r"([ -~]+\n)+", text)
    for line in text.splitlines():
        assert line.strip() not in ("---", "...")
        assert not re.match(r"\s*(`|~~~|[&*!%@])", line)
    assert "`" not in text and "${" not in text and "{{" not in text


@settings(max_examples=examples(100), deadline=None)
@given(TEXTS, TEXTS)
def test_a_definition_reads_back_whatever_it_says(name: str, text: str) -> None:
    definition = ToolDefinition(
        name=name, description=text, parameters={"properties": {text: {"description": text}}}
    )
    (read,) = yaml.safe_load(yaml_of([definition]))
    assert (read["name"], read["description"]) == (name, text)
    assert read["parameters"] == {"properties": {text: {"description": text}}}
    assert "output" not in read


def test_every_definition_that_comes_with_us_can_be_read() -> None:
    definitions = [handler.definition for handler in builtin_handlers()]
    read = yaml.safe_load(yaml_of(definitions))
    assert [entry["name"] for entry in read] == [each.name for each in definitions]
    assert read == read_by_the_other(yaml_of(tuple(definitions)))


def test_numbers_keep_their_kind() -> None:
    values = [1e16, 1e300, 5e-324, -0.0, 10**30, Decimal("1.5"), Decimal("1E+400")]
    read = yaml.safe_load(yaml_of(values))
    assert [type(each) for each in read] == [float] * 4 + [int] + [float] * 2
    assert read[:6] == [1e16, 1e300, 5e-324, -0.0, 10**30, 1.5]


@pytest.mark.parametrize(
    "value", [float("nan"), float("inf"), b"x", {1: 2}, object(), Decimal("NaN"), Arguments()]
)
def test_what_is_no_json_is_refused(value: Any) -> None:
    with pytest.raises(ValueError, match=r"JSON|string"):
        yaml_of([value])


def test_depth_is_bounded() -> None:
    deep: Any = 1
    for _ in range(500):
        deep = [deep]
    with pytest.raises(ValueError, match="deeply"):
        yaml_of(deep)
    repeated = [1, 2]
    assert "&" not in yaml_of([repeated, repeated])
