"""Messages that cannot be read are answered under the id that their client waits for."""

from __future__ import annotations

import pytest
from mcp.types import jsonrpc_message_adapter
from pydantic import ValidationError

from policy.proxy.unreadable import NOT_UTF8, TOO_LONG, TOO_MANY_VALUES, reply_to, stand_in
from policy.values import has_too_many_values

DEEP = "[" * 500 + "]" * 500
LONG = "x" * 10_000


def replied(text: str) -> tuple[object, str]:
    with pytest.raises(ValidationError) as caught:
        jsonrpc_message_adapter.validate_json(text, by_name=False)
    reply = reply_to(caught.value)
    return reply.id, reply.error.message


@pytest.mark.parametrize(
    ("text", "id"),
    [
        (f'{{"jsonrpc":"2.0","id":7,"method":"x","params":{{"a":{DEEP}}}}}', 7),
        (f'{{"id": "a\\"b", "method": "x", "params": {{"a": {DEEP}}}}}', 'a"b'),
        (f'{{"method":"x","params":{{"a":{DEEP}}},"jsonrpc":"2.0","id":7}}', 7),
        # What is in the message is no id of it.
        (f'{{"method":"x","params":{{"id":8}},"a":{DEEP},"jsonrpc":"2.0"}}', None),
        (f'{{"method":"x","id":{DEEP}}}', None),
        (f'{{"jsonrpc":"2.0","id":{"9" * 400},"params":{DEEP}}}', None),
    ],
)
def test_the_id_of_a_message_that_is_too_deep(text: str, id: object) -> None:
    assert replied(text) == (id, "this message is nested too deeply")


@pytest.mark.parametrize(
    "text",
    ["garbage", "", "{", "[1]", "7", '{"jsonrpc":"2.0","id":', '"id":7}', '{"id":7', "\x00"],
)
def test_what_is_no_message_has_no_id(text: str) -> None:
    assert replied(text) == (None, "this line is not a JSON-RPC message")


def test_what_must_not_be_read_keeps_its_id() -> None:
    first = f'{{"jsonrpc":"2.0","id":7,"params":"{LONG}"}}'.encode()
    last = f'{{"params":"{LONG}","id":"b"}}'.encode()
    assert replied(stand_in(first, why=TOO_LONG))[0] == 7
    assert replied(stand_in(last, why=TOO_LONG))[0] == "b"
    latin = '{"jsonrpc":"2.0","id":7,"params":"ä"}'.encode("latin-1")
    assert replied(stand_in(latin, why=NOT_UTF8)) == (7, "this message is not UTF-8")


def many(count: int, *, text: str = "") -> bytes:
    values = ",".join(["1"] * count)
    return f'{{"jsonrpc":"2.0","id":7,"params":{{"a":[{values}],"t":"{text}"}}}}'.encode()


def test_a_message_of_too_many_values_is_refused_and_a_long_text_is_not() -> None:
    around = 6  # commas and brackets beside those of the list
    most = 20_000
    assert not has_too_many_values(many(most - around), most)
    assert has_too_many_values(many(most + 1), most)
    assert not has_too_many_values(many(1, text=r"a, [b], {c}, \"d\", " * most), most)
    id, why = replied(stand_in(many(most + 1), why=TOO_MANY_VALUES))
    assert id == 7
    assert "more values than are read" in why


def test_any_other_error_is_answered_too() -> None:
    assert reply_to(OSError("gone")).id is None
