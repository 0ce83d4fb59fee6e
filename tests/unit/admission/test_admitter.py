"""Admission of raw calls: what is accepted, repaired with a note, or refused."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest

from policy.admission import Admitted, RawCall, Refused, admit
from policy.catalog import Catalog, Origin, ToolSpec, builtin_catalog, read_listing
from policy.model import ToolCall, freeze, thaw

SEARCH = {
    "type": "object",
    "properties": {
        "query": {"type": "string"},
        "limit": {"type": "integer", "default": 10},
        "tags": {"type": "array", "items": {"type": "string"}},
        "ratio": {"type": "number"},
        "deep": {"type": "boolean"},
        "text_or_number": {"type": ["string", "integer"]},
        "filter": {
            "type": "object",
            "properties": {
                "from": {"type": "string"},
                "strict": {"type": "boolean", "default": False},
            },
            "required": ["from"],
        },
        "headers": {"type": "object", "additionalProperties": {"type": "string"}},
        "rows": {"type": "array", "items": {"type": "object", "properties": {"id": {}}}},
    },
    "required": ["query"],
}  # fmt: skip


def catalog_with(schema: Any, **more: Any) -> Catalog:
    (spec,) = read_listing([{"name": "search", "inputSchema": schema}], server="s").specs
    return builtin_catalog().with_tools((replace(spec, **more),))


CATALOG = catalog_with(SEARCH)


def admitted(tool: Any, given: Any, catalog: Catalog = CATALOG) -> tuple[Any, tuple[str, ...]]:
    result = admit(RawCall(tool=tool, input=given), catalog)
    assert isinstance(result, Admitted), result
    return thaw(result.call.input), result.repairs


def refused(tool: Any, given: Any, catalog: Catalog = CATALOG) -> Refused:
    result = admit(RawCall(tool=tool, input=given), catalog)
    assert isinstance(result, Refused), result
    return result


def test_a_good_call_is_admitted_with_its_defaults() -> None:
    assert admitted("file_read", {"path": "a"}) == ({"path": "a", "encoding": "utf-8"}, ())
    assert admitted("s__search", '{"query": "x", "filter": {"from": "a"}}') == (
        {"query": "x", "limit": 10, "filter": {"from": "a", "strict": False}},
        (),
    )


def test_text_bytes_and_values_are_read_alike() -> None:
    calls = ['{"path": "a"}', b'{"path": "a"}', {"path": "a"}, freeze({"path": "a"})]
    read = [admitted("file_read", call) for call in calls]
    assert all(one == read[0] for one in read)


def test_a_later_change_by_the_caller_does_not_reach_the_call() -> None:
    given = {"query": "x", "tags": ["a"]}
    result = admit(RawCall(tool="s__search", input=given), CATALOG)
    given["tags"].append("b")  # type: ignore[attr-defined]
    assert isinstance(result, Admitted)
    assert result.call.input["tags"] == ("a",)


@pytest.mark.parametrize(
    ("given", "becomes"),
    [
        ({"query": "x", "limit": "5"}, {"limit": 5}),
        ({"query": "x", "limit": "-5"}, {"limit": -5}),
        ({"query": "x", "limit": "5.0"}, {"limit": 5.0}),
        ({"query": "x", "ratio": "0.5"}, {"ratio": 0.5}),
        ({"query": "x", "deep": "true"}, {"deep": True}),
        ({"query": "x", "deep": "False"}, {"deep": False}),
        ({"query": "x", "tags": "a"}, {"tags": ["a"]}),
        ({"query": "x", "tags": '["a", "b"]'}, {"tags": ["a", "b"]}),
        ({"query": "x", "headers": '{"a": "b"}'}, {"headers": {"a": "b"}}),
        ({"query": "x", "filter": '{"from": "a", "strict": "true"}'},
         {"filter": {"from": "a", "strict": True}}),
        ({"query": "x", "ratio": None}, {}),
    ],
)  # fmt: skip
def test_what_the_schema_makes_plain_is_mended_and_noted(
    given: dict[str, Any], becomes: dict[str, Any]
) -> None:
    value, notes = admitted("s__search", given)
    assert value == {"query": "x", "limit": 10} | becomes
    assert notes


@pytest.mark.parametrize(
    "given",
    [
        {"query": 5},
        {"query": None},
        {"query": ["x"]},
        {"query": "x", "limit": "5.5"},
        {"query": "x", "limit": "05"},
        {"query": "x", "limit": " five"},
        {"query": "x", "limit": "NaN"},
        {"query": "x", "limit": True},
        {"query": "x", "limit": 5.5},
        {"query": "x", "limit": [5]},
        {"query": "x", "deep": 1},
        {"query": "x", "deep": "yes"},
        {"query": "x", "tags": 5},
        {"query": "x", "tags": "[a"},
        {"query": "x", "tags": "[1]"},
        {"query": "x", "headers": '{"a": 5}'},
        {"query": "x", "headers": '{"a": "b", "a": "c"}'},
        {"query": "x", "filter": '{"from": "a", "to": "b"}'},
        {"query": "x", "filter": {}},
    ],
)
def test_what_may_mean_something_else_is_refused(given: dict[str, Any]) -> None:
    assert refused("s__search", given).kind == "validation"


def test_text_stays_text_where_text_fits() -> None:
    value, notes = admitted("s__search", {"query": "5", "text_or_number": "5"})
    assert (value["query"], value["text_or_number"], notes) == ("5", "5", ())


def test_text_read_twice_as_json_is_noted() -> None:
    value, notes = admitted("file_delete", '"{\\"path\\": \\"x\\"}"')
    assert value == {"path": "x"}
    assert notes


@pytest.mark.parametrize("given", [None, "", "  ", "null", b""])
def test_no_input_is_an_empty_one(given: Any) -> None:
    value, notes = admitted("list_tools", given)
    assert value == {}
    assert notes
    assert refused("file_read", given).message == "`path` is missing"


def test_the_name_of_a_tool_is_repaired_and_noted() -> None:
    result = admit(RawCall(tool="FileRead", input={"path": "a"}), CATALOG)
    assert isinstance(result, Admitted)
    assert result.call.tool == result.spec.name == "file_read"
    assert result.repairs == ("tool name `FileRead` read as `file_read`",)


def test_an_unknown_tool_is_refused_with_the_nearest_name() -> None:
    result = refused("read_file", {})
    assert (result.kind, result.suggestion) == ("not-found", "file_read")


def test_a_slip_in_the_name_of_a_tool_is_repaired_and_noted() -> None:
    result = admit(RawCall(tool="file_raed", input={"path": "a"}), CATALOG)
    assert isinstance(result, Admitted)
    assert result.call.tool == "file_read"
    assert result.repairs == ("tool name `file_raed` read as `file_read`",)


@pytest.mark.parametrize(
    ("given", "becomes"),
    [
        ({"Query": "x"}, {"query": "x"}),
        ({"QUERY": "x"}, {"query": "x"}),
        ({"query": "x", "textOrNumber": "5"}, {"query": "x", "text_or_number": "5"}),
        ({"query": "x", "text-or-number": 5}, {"query": "x", "text_or_number": 5}),
        (
            {"query": "x", "Filter": {"From": "a"}},
            {"query": "x", "filter": {"from": "a", "strict": False}},
        ),
        ({"query": "x", "rows": [{"ID": 1}]}, {"query": "x", "rows": [{"id": 1}]}),
        (
            {"query": "x", "FILTER": '{"From": "a"}'},
            {"query": "x", "filter": {"from": "a", "strict": False}},
        ),
    ],
)
def test_a_field_spelled_otherwise_is_renamed_and_noted(
    given: dict[str, Any], becomes: dict[str, Any]
) -> None:
    value, notes = admitted("s__search", given)
    assert value == {"limit": 10} | becomes
    assert any("read as `" in note for note in notes)


@pytest.mark.parametrize(
    "given",
    [
        {"query": "x", "Query": "y"},
        {"Query": "x", "QUERY": "y"},
        {"qurey": "x"},
        {"query": "x", "filter": {"from": "a", "From": "b"}},
    ],
)
def test_a_field_that_may_mean_something_else_is_not_renamed(given: dict[str, Any]) -> None:
    assert refused("s__search", given).kind == "validation"


@pytest.mark.parametrize(
    "given",
    ["{", "[1]", "5", '"x"', "{'path': 'a'}", '{"path": "a"} x', '{"path": "a", "path": "b"}',
     '{"path": NaN}', "[" * 5000, b"\xff", '{"path": "\\ud800"}', [1], 5, True, object(),
     {"path": float("nan")}, {"path": "\ud800"}, {5: "a"}, {"path": {1, 2}},
     '{"path": ' + "9" * 5000 + "}"],
)  # fmt: skip
def test_what_is_no_json_object_is_no_call(given: Any) -> None:
    assert refused("file_read", given).kind == "not-a-call"


@pytest.mark.parametrize("name", [None, 5, ["file_read"], {"a": 1}, b"file_read", True])
def test_a_tool_name_that_is_no_text_is_no_call(name: Any) -> None:
    assert refused(name, {}).kind == "not-a-call"


def test_an_input_that_holds_itself_is_refused() -> None:
    given: dict[str, Any] = {"query": "x"}
    given["filter"] = given
    assert refused("s__search", given).kind == "not-a-call"


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"query": "x", "Query": "y"}, "Query"),
        ({"query": "x", "extra": 1}, "extra"),
        ({"query": "x", "filter": {"from": "a", "to": "b"}}, "filter.to"),
        ({"query": "x", "rows": [{"id": 1}, {"id": 2, "x": 3}]}, "rows[1].x"),
    ],
)
def test_a_field_that_the_schema_does_not_name_is_refused(
    given: dict[str, Any], field: str
) -> None:
    result = refused("s__search", given)
    assert f"`{field}`" in result.message


def test_a_misspelled_field_is_refused_with_a_suggestion() -> None:
    result = refused("file_read", {"paht": "a"})
    assert result.suggestion == "path"
    assert "did you mean `path`" in result.message


def test_a_free_map_takes_any_name() -> None:
    value, notes = admitted("s__search", {"query": "x", "headers": {"X-Any": "1"}})
    assert value["headers"] == {"X-Any": "1"}
    assert notes == ()


def test_fields_may_be_declared_open() -> None:
    raw = RawCall(tool="s__search", input={"query": "x", "extra": 1})
    assert isinstance(admit(raw, CATALOG, open_fields=lambda spec: True), Admitted)
    assert isinstance(admit(raw, catalog_with(SEARCH, open_fields=True)), Admitted)
    assert isinstance(admit(raw, CATALOG, open_fields=lambda spec: False), Refused)


def test_a_field_named_by_a_pattern_is_named() -> None:
    catalog = catalog_with({"type": "object", "patternProperties": {"^x-": {"type": "integer"}}})
    assert admitted("s__search", {"x-a": 1}, catalog)[0] == {"x-a": 1}
    assert refused("s__search", {"y": 1}, catalog).kind == "validation"


def test_a_default_that_its_own_schema_refuses_is_not_filled_in() -> None:
    schema = {"type": "object", "properties": {"n": {"type": "integer", "default": "many"}}}
    assert admitted("s__search", {}, catalog_with(schema))[0] == {}


def test_digits_beyond_a_double_are_kept() -> None:
    value, _ = admitted("s__search", '{"query": "x", "ratio": 0.12345678901234567890123}')
    assert value["ratio"] == Decimal("0.12345678901234567890123")
    result = refused("s__search", '{"query": "x", "limit": 1.12345678901234567890123}')
    assert result.message == "`limit` must be a whole number, not a number"


@pytest.mark.parametrize(
    "schema",
    [{"type": "object", "properties": {"a": {"type": "nope"}}},
     {"type": "object", "properties": {"a": {"pattern": "("}}},
     {"$schema": "https://example.com/own", "type": "object"},
     {"type": "object", "properties": {"a": {"$ref": "https://example.com/x"}}},
     {"type": "array"}],
)  # fmt: skip
def test_a_tool_whose_schema_cannot_be_used_cannot_be_called(schema: Any) -> None:
    result = refused("s__search", {}, catalog_with(schema))
    assert result.kind == "validation"
    assert "schema" in result.message


def test_what_a_host_tools_own_model_refuses_is_refused() -> None:
    result = refused("file_chmod", {"path": "a", "mode": "u+s"})
    assert "`mode`" in result.message


def test_a_host_tool_that_converts_is_noted() -> None:
    def coerce(given: dict[str, Any]) -> dict[str, Any]:
        return {"day": str(given["day"]).strip()}

    spec = ToolSpec(
        name="plan",
        origin=Origin(kind="host", tool="plan"),
        schema={"type": "object", "properties": {"day": {"type": "string"}}},
        coerce=coerce,
    )
    value, notes = admitted("plan", {"day": " monday "}, Catalog(specs=(spec,)))
    assert value == {"day": "monday"}
    assert notes == ("`day`: read as the tool reads it",)


@pytest.mark.parametrize("error", [ValueError("no"), KeyError("x"), RuntimeError("boom")])
def test_a_model_that_fails_refuses_the_call(error: Exception) -> None:
    def coerce(given: dict[str, Any]) -> dict[str, Any]:
        raise error

    spec = replace(builtin_catalog().specs[0], coerce=coerce)
    assert refused("file_read", {"path": "a"}, Catalog(specs=(spec,))).kind == "validation"


def test_messages_neither_quote_values_nor_grow() -> None:
    secret = "hunter2" * 1000
    for given in (
        {"query": {"x": secret}}, {"query": "x", "limit": secret}, {"query": "x", secret: 1},
        {"query": "x", "headers": {secret: 5}}, {"query": "x", "tags": [{"a": secret}]},
    ):  # fmt: skip
        result = refused("s__search", given)
        assert len(" ".join(result.problems)) < 1000
        assert "hunter2" * 12 not in result.message
    assert len(refused(secret, {}).message) < 200


def test_control_characters_are_escaped_in_messages() -> None:
    result = refused("file_read", {"path": "a", "x\n\u202e": 1})
    assert result.message.isprintable()
    assert refused("x\n\u202e", {}).message.isprintable()


def test_a_hostile_pattern_of_a_tool_ends() -> None:
    catalog = catalog_with(
        {"type": "object", "properties": {"q": {"type": "string", "pattern": "^(?=(a+)+$)(a+)+$"}}}
    )
    assert refused("s__search", {"q": "a" * 5000 + "b"}, catalog).kind == "validation"


def test_ten_megabytes_are_read_or_refused() -> None:
    big = {"query": "x" * 10_000_000}
    assert admitted("s__search", big)[0]["query"] == big["query"]
    assert refused("s__search", {"query": "x" * 20_000_000}).kind == "not-a-call"


def test_an_admitted_call_is_admitted_unchanged() -> None:
    raw = RawCall(tool="s__search", input={"query": "x", "limit": "5", "tags": "a"})
    once = admit(raw, CATALOG)
    assert isinstance(once, Admitted)
    twice = admit(once.call, CATALOG)
    assert isinstance(twice, Admitted)
    assert twice.call == once.call
    assert twice.repairs == ()
    assert isinstance(once.call, ToolCall)
