"""Records: bounded values, whole lines, and equal digests for equal values."""

from __future__ import annotations

import hashlib
import json
import os
import threading
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policy.audit import JsonlSink, MemorySink, bounded, digest_of, record_line
from policy.model import Reason, Verdict, freeze, thaw
from tests.unit.audit.records import record

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(), inner, max_size=5),
    max_leaves=30,
)


@given(JSON)
def test_any_value_can_be_kept_and_written(value: Any) -> None:
    kept, _ = bounded(value)
    line = record_line(record(input=kept, final_input=kept))
    assert line.endswith(b"\n")
    assert line.count(b"\n") == 1
    assert line.isascii()
    assert json.loads(line)["tool"] == "echo"


@given(JSON)
def test_small_values_are_kept_whole(value: Any) -> None:
    kept, cut = bounded(value)
    if not cut and digest_of(value) is not None and _plain(value):
        assert thaw(kept) == value


# What a call's input may hold besides: what is no JSON, keys that are no texts, what is frozen.
ODD = st.recursive(
    JSON | st.integers(2**60, 2**70) | st.decimals() | st.binary() | st.just(object()),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.lists(inner, max_size=4).map(tuple)
        | st.dictionaries(st.text(max_size=3) | st.integers(), inner, max_size=4)
        | st.dictionaries(st.text(max_size=3), inner, max_size=4).map(freeze)
    ),
    max_leaves=12,
)


@given(ODD, st.integers(1, 60), st.integers(1, 60))
def test_whatever_a_call_holds_can_be_kept_and_written(
    value: Any, characters: int, nodes: int
) -> None:
    kept, _ = bounded(value, characters=characters, nodes=nodes)
    assert freeze(kept) == kept
    json.loads(record_line(record(input=kept, final_input=kept)))


def _plain(value: Any) -> bool:
    if isinstance(value, int):
        return value.bit_length() <= 256
    if isinstance(value, dict):
        return all(map(_plain, value.values()))
    return all(map(_plain, value)) if isinstance(value, list) else True


@pytest.mark.parametrize(
    "make",
    [
        lambda: "x" * 10_000_000,
        lambda: [0] * 1_000_000,
        lambda: {str(n): "y" * 100 for n in range(10_000)},
        lambda: [["z" * 100] * 100] * 1_000,
        lambda: 10**100_000,
        lambda: b"\xff" * 1_000_000,
    ],
)
def test_large_values_are_cut_and_say_so(make: Callable[[], Any]) -> None:
    kept, cut = bounded({"v": make()})
    assert cut
    assert len(record_line(record(input=kept))) < 250_000


def test_a_value_without_end_is_cut() -> None:
    endless: list[Any] = []
    endless.append(endless)
    assert bounded(endless)[1]
    assert digest_of(endless) is None


def test_equal_values_share_a_digest_however_they_are_spelled() -> None:
    assert digest_of({"a": 1, "b": [2.0]}) == digest_of(freeze({"b": [2], "a": 1.0}))


def test_unlike_values_never_share_a_digest() -> None:
    values: list[Any] = [
        *(None, True, False, 0, 1, 1.5, "", "1", "true", "null", "d1.5", "s", [], {}, [[]]),
        *({"a": None}, {"a": "a"}, [1, 2], [[1], 2], [1, [2]], Decimal("1.5"), "s1"),
    ]
    digests = [digest_of(value) for value in values]
    assert len(set(digests)) == len(values)
    assert None not in digests


@given(JSON)
def test_the_digest_is_that_of_the_sorted_json_text_with_texts_tagged(value: Any) -> None:
    def tagged(part: Any) -> Any:
        if isinstance(part, str):
            return f"s{part}"
        if isinstance(part, float) and part.is_integer():
            return int(part)
        if isinstance(part, dict):
            return {key: tagged(item) for key, item in part.items()}
        return [tagged(item) for item in part] if isinstance(part, list) else part

    try:
        text = json.dumps(tagged(value), sort_keys=True, separators=(",", ":"), allow_nan=False)
    except ValueError:
        assert digest_of(value) is None
        return
    assert digest_of(value) == f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"


def test_no_digit_of_a_long_number_is_lost_in_its_digest() -> None:
    near = [Decimal("1"), Decimal("1.00000000000000000000000000001"), Decimal(f"{10**40 + 1}")]
    assert len({digest_of(number) for number in near}) == 3
    assert digest_of(Decimal("1.50")) == digest_of(Decimal("1.5"))
    assert digest_of(Decimal("-0")) == digest_of(Decimal("0.00"))
    assert {digest_of(Decimal(word)) for word in ("NaN", "sNaN", "Infinity")} == {None}


def test_what_is_no_json_has_no_digest() -> None:
    assert digest_of({1: 2}) is None
    assert digest_of(object()) is None
    assert digest_of(float("nan")) is None


def test_a_line_holds_nothing_that_steers_a_terminal() -> None:
    reason = Reason(rule="r\x1b[2J", verdict=Verdict.DENY, message="\u202e" + "m" * 10_000)
    line = record_line(record(asked_tool="a\nb\x00", reasons=(reason,)))
    assert line.isascii()
    assert not any(byte < 32 for byte in line[:-1])
    assert len(line) < 5_000


def test_records_are_appended_by_many_threads_as_whole_lines(tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    sinks = [JsonlSink(path), JsonlSink(path, fsync=True)]
    long = bounded("x" * 10_000)[0]

    def write(sink: JsonlSink, mark: str) -> None:
        for number in range(20):
            sink.write(record(id=f"{mark}{number}", input=long))

    threads = [
        threading.Thread(target=write, args=(sink, f"{n}-{mark}-"))
        for n, sink in enumerate(sinks)
        for mark in "abcd"
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    ids = [json.loads(line)["id"] for line in path.read_text().splitlines()]
    assert len(ids) == len(set(ids)) == 160
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_write_that_takes_half_a_line_leaves_none_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "audit.jsonl"
    sink = JsonlSink(path)
    sink.write(record(id="1"))
    whole = os.write
    with monkeypatch.context() as patched:
        patched.setattr(os, "write", lambda handle, line: whole(handle, line[:10]))
        with pytest.raises(OSError, match="only 10"):
            sink.write(record(id="2"))
    sink.write(record(id="3"))
    assert [json.loads(line)["id"] for line in path.read_text().splitlines()] == ["1", "3"]


def test_a_file_that_was_moved_away_is_begun_anew(tmp_path: Path) -> None:
    sink = JsonlSink(tmp_path / "a.jsonl")
    sink.write(record(id="1"))
    (tmp_path / "a.jsonl").rename(tmp_path / "a.1")
    sink.write(record(id="2"))
    assert json.loads((tmp_path / "a.jsonl").read_text())["id"] == "2"


def test_memory_keeps_the_newest() -> None:
    sink = MemorySink(keep=2)
    for number in range(3):
        sink.write(record(id=str(number)))
    assert [kept.id for kept in sink.records] == ["1", "2"]
