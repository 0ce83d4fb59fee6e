"""`tools.lock` is read as a whole, or what is wrong with it is reported with its place."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policy.pins import (
    Lock,
    LockProblem,
    Reviewed,
    ServerProgram,
    accepted,
    definitions_of,
    read_lock,
    write_lock,
)
from tests.laws.calls import json_values

ADA = Reviewed(by="ada", at="2026-11-23T07:00:00Z")
TOOL = {
    "name": "look",
    "description": "Look.\u200b",
    "inputSchema": {"type": "object", "properties": {"path": {"type": "string"}}},
}


def a_lock() -> Lock:
    now = definitions_of(
        "hub",
        tools=[TOOL],
        prompts=[{"name": "sum"}],
        instructions="Look first.",
        program=ServerProgram(command=("/usr/bin/hub", "--all"), package="hub 1.0"),
    )
    return accepted(Lock(), now, reviewed=ADA, resources={"look": {"reads": ["path"]}})


def problems(content: bytes) -> tuple[LockProblem, ...]:
    read = read_lock(content)
    assert isinstance(read, tuple), "this lock was accepted"
    return read


def test_a_lock_is_read_as_it_was_written() -> None:
    text = write_lock(a_lock())
    assert read_lock(text) == a_lock() and text.isascii()
    assert write_lock(Lock()) == b'{\n "version": 1,\n "servers": {}\n}\n'


@given(meta=json_values())
def test_whatever_json_a_server_sends_comes_back_from_the_file(meta: Any) -> None:
    now = definitions_of("s", tools=[{"name": "t", "_meta": meta}])
    lock = accepted(Lock(), now, reviewed=ADA)
    if now.problems:
        return
    try:
        text = write_lock(lock)
    except ValueError:
        return  # a number that no double holds
    assert read_lock(text) == lock


def edited(change: Callable[[dict[str, Any]], object]) -> bytes:
    value = json.loads(write_lock(a_lock()))
    change(value)
    return json.dumps(value).encode()


def look(value: dict[str, Any]) -> dict[str, Any]:
    found = value["servers"]["hub"]["tools"]["look"]
    assert isinstance(found, dict)
    return found


ALTERED = "the entry is not the one that was accepted"
LOOK = "servers.hub.tools.look"


@pytest.mark.parametrize(
    ("change", "place", "said"),
    [
        (lambda v: look(v)["definition"].update(description="Look."), LOOK, ALTERED),
        (lambda v: look(v)["resources"].update(complete=True), LOOK, ALTERED),
        (lambda v: look(v)["reviewed"].update(by="eve"), LOOK, ALTERED),
        (lambda v: v["servers"]["hub"].update(instructions="x"), "servers.hub", ALTERED),
        (lambda v: v["servers"]["hub"]["program"].update(package="x"), "servers.hub", ALTERED),
        (lambda v: v["servers"].update(bub=v["servers"].pop("hub")), "servers.bub", ALTERED),
        (lambda v: look(v)["definition"].update(name="see"), LOOK, "another name"),
        (lambda v: look(v).pop("digest"), f"{LOOK}.digest", "field required"),
        (lambda v: look(v).update(note=1), f"{LOOK}.note", "not permitted"),
        (lambda v: v.update(version=2), "version", "version 2 of the format is not known"),
        (lambda v: v.update(version="1"), "version", "1"),
        (lambda v: v.pop("version"), "version", "field required"),
        (lambda v: v["servers"].update({"a__b": v["servers"]["hub"]}), "servers.a__b", "called so"),
        (lambda v: v.update(servers=[]), "servers", "valid dictionary"),
    ],
)
def test_an_entry_that_is_not_as_accepted_is_named(
    change: Callable[[dict[str, Any]], object], place: str, said: str
) -> None:
    first = problems(edited(change))[0]
    assert first.place == place and said in first.message and first.help


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "not JSON"),
        (b'{"version": 1', "not JSON"),
        (b"[]", "not a JSON object"),
        (b'{"version": 1, "servers": {"\xff": {}}}', "not valid UTF-8 at byte 28"),
        (b'{"version": 1, "version": 1}', "the key `version` occurs twice"),
        (b"\xef\xbb\xbf{}", "byte order mark"),
        (b"[" * 100_000, "nested too deeply"),
        (b'{"a":' * 100 + b"1" + b"}" * 100, "nested too deeply"),
        (b" " * 64_000_000, "more bytes than the limit"),
    ],
    ids=range(9),
)
def test_a_file_that_is_no_lock_is_an_error(content: bytes, said: str) -> None:
    (problem,) = problems(content)
    assert said in problem.message and problem.help


def test_two_tools_of_one_name_are_an_error_not_a_choice() -> None:
    text = write_lock(a_lock()).decode()
    entry = json.dumps(look(json.loads(text)))
    twice = text.replace('"look": {', f'"look": {entry}, "look": {{', 1)
    (problem,) = problems(twice.encode())
    assert "the key `look` occurs twice in one object" in problem.message


@given(cut=st.integers(0, 3000), char=st.binary(min_size=1, max_size=1))
def test_a_damaged_file_is_never_another_lock(cut: int, char: bytes) -> None:
    text = write_lock(a_lock())
    cut %= len(text)
    read = read_lock(text[:cut] + char + text[cut + 1 :])
    assert isinstance(read, tuple) or read == a_lock()
