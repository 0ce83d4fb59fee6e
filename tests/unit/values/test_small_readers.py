"""Recipients, times, URL functions and regular expressions."""

from __future__ import annotations

from datetime import UTC, datetime, time, timedelta

import pytest

from policy.values import (
    Regex,
    Unreadable,
    check_recipient_pattern,
    compile_regex,
    parse_clock,
    parse_date,
    parse_duration,
    parse_time,
    read_recipient,
    recipient_in,
    url_parts,
    with_scheme,
    within_window,
)

# ------------------------------------------------------------------ recipients


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("ada@corp.example", "ada@corp.example"),
        ("Ada@Corp.Example.", "Ada@corp.example"),
        ("Ada Byron <ada@corp.example>", "ada@corp.example"),
        ('"Ada Byron" <ada+x@corp.example>', "ada+x@corp.example"),
        ("a@bücher.example", "a@xn--bcher-kva.example"),
    ],
)
def test_an_address_is_settled(text: str, address: str) -> None:
    assert read_recipient(text) == address


@pytest.mark.parametrize(
    "text",
    ["", "ada", "@x.example", "a@", "a@b@c.example", "a@x.example, b@y.example",
     "a@x.example;b@y.example", '"a b"@x.example', "a@x.example <b@y.example>",
     "a%b@x.example", "b!a@x.example", "a@[10.0.0.1]", "a@10.0.0.1", "a(c)@x.example",
     "a@x.example\nBcc: b@y.example", "a\u200b@x.example", "mailto:a@x.example", "@r:a@x.example"],
)  # fmt: skip
def test_what_mailers_take_differently_is_unreadable(text: str) -> None:
    assert isinstance(read_recipient(text), Unreadable)
    assert recipient_in(text, ("*@x.example", "*@*.example")) is None


def test_a_recipient_is_in_a_pattern() -> None:
    assert recipient_in("Ada <ada@CORP.example>", ("*@corp.example",)) is True
    assert recipient_in("ada@corp.example", ("*@Corp.Example",)) is True
    assert recipient_in("ada@corp.example.evil.example", ("*@corp.example",)) is False
    assert recipient_in("ada@sub.corp.example", ("*@corp.example",)) is False
    assert recipient_in("ada@sub.corp.example", ("*@*.corp.example",)) is True
    assert recipient_in("ADA@corp.example", ("ada@corp.example",)) is None
    assert recipient_in("ada@corp.example", ()) is False


def test_an_address_pattern_is_checked() -> None:
    assert check_recipient_pattern("*@corp.example") is None
    assert check_recipient_pattern("*@*.corp.example") is None
    for bad in ("corp.example", "*@", "@x.example", "a@b@c", "*@corp.*", "a@10.0.0.1"):
        assert check_recipient_pattern(bad) is not None


# ------------------------------------------------------------------ times


def test_a_time_is_in_utc_unless_said() -> None:
    assert parse_time("2026-03-01T08:00:00") == datetime(2026, 3, 1, 8, tzinfo=UTC)
    assert parse_time("2026-03-01T09:00+01:00") == datetime(2026, 3, 1, 8, tzinfo=UTC)
    assert parse_time("2026-03-01t08:00:00.123456789z") == datetime(
        2026, 3, 1, 8, 0, 0, 123456, tzinfo=UTC
    )
    assert parse_date("2026-03-01") == datetime(2026, 3, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    "text", ["", "2026-03-01", "2026-02-30T00:00:00Z", "2026-03-01T25:00Z", "2026-W01-1T00:00",
             "20260301T080000Z", "2026-03-01T08:00:60Z", "٢٠٢٦-03-01T08:00Z", "now"]
)  # fmt: skip
def test_what_is_no_time_is_unreadable(text: str) -> None:
    assert isinstance(parse_time(text), Unreadable)


def test_spans_have_one_unit() -> None:
    assert parse_duration("250ms") == timedelta(milliseconds=250)
    assert parse_duration("10m") == timedelta(minutes=10)
    assert parse_duration("2w") == timedelta(weeks=2)
    for bad in ("", "10", "m", "-1m", "1.5h", "1y", "1h30m", "999999999999w"):
        assert isinstance(parse_duration(bad), Unreadable)


def test_a_window_has_an_open_end_and_opens_on_its_day() -> None:
    monday = datetime(2026, 3, 2, tzinfo=UTC)
    day = frozenset({0})

    def inside(hours: float, start: int, end: int, *, days: frozenset[int] | None = None) -> bool:
        now = monday + timedelta(hours=hours)
        answer = within_window(now, time(start), time(end), days=days)
        assert isinstance(answer, bool)
        return answer

    assert inside(8, 8, 18) and not inside(18, 8, 18) and not inside(7.99, 8, 18)
    assert inside(8, 8, 18, days=day) and not inside(32, 8, 18, days=day)
    # Past midnight the day is the one on which the window opened.
    assert inside(23, 22, 6, days=day) and inside(29, 22, 6, days=day)
    assert not inside(5, 22, 6, days=day) and inside(5, 22, 6) and not inside(30, 22, 6)
    assert inside(12, 0, 0) and inside(0, 0, 0)


def test_a_window_is_read_on_the_clock_of_its_zone() -> None:
    now = datetime(2026, 7, 1, 7, 0, tzinfo=UTC)
    assert within_window(now, time(9), time(10), zone="Europe/Paris") is True
    assert isinstance(within_window(now, time(9), time(10), zone="../etc/passwd"), Unreadable)
    assert isinstance(within_window(now, time(9), time(10), zone="No/Where"), Unreadable)
    assert isinstance(within_window(now.replace(tzinfo=None), time(9), time(10)), Unreadable)


def test_a_time_of_the_day() -> None:
    assert parse_clock("08:30") == time(8, 30)
    assert parse_clock("24:00") == time(0)
    for bad in ("8:30", "24:01", "08:60", "", "08:30:00"):
        assert isinstance(parse_clock(bad), Unreadable)


# ------------------------------------------------------------------ URLs


def test_a_url_has_parts() -> None:
    assert url_parts("HTTP://API.example:8080/a/../b?q=1#f") == {
        "scheme": "http",
        "host": "api.example",
        "port": 8080,
        "path": "/b",
        "query": "q=1",
        "fragment": "f",
    }
    assert url_parts("https://a.example#x?y") == {
        "scheme": "https",
        "host": "a.example",
        "port": 443,
        "path": "/",
        "query": None,
        "fragment": "x?y",
    }
    for bad in ("a.example", "https://a\\b/", "", "https://a.example/%2e%2e/x"):
        assert isinstance(url_parts(bad), Unreadable)


def test_a_url_gets_another_scheme() -> None:
    assert with_scheme("http://a.example/x?y", "https") == "https://a.example/x?y"
    assert with_scheme("http://a.example:80/x", "https") == "https://a.example/x"
    assert with_scheme("http://a.example:8080", "https") == "https://a.example:8080"
    assert with_scheme("HTTPS://a.example:443", "https") == "https://a.example:443"
    for bad in ("a.example", "http://a\\b"):
        assert isinstance(with_scheme(bad, "https"), Unreadable)
    assert isinstance(with_scheme("http://a.example", "javascript"), Unreadable)


# ------------------------------------------------------------------ regular expressions


def regex(source: str) -> Regex:
    compiled = compile_regex(source)
    assert isinstance(compiled, Regex), compiled
    return compiled


def test_whole_and_part_differ() -> None:
    assert regex("b+").found_in("abbc") is True
    assert regex("b+").matches_whole("abbc") is False
    assert regex("a.c").matches_whole("a\nc") is False
    assert regex("é|x").matches_whole("é") is True
    assert regex("a").found_in("\ud800a") is None
    assert regex("a").spans("\ud800a") is None


def test_parts_are_given_in_characters() -> None:
    assert regex("[0-9]+").spans("é12漢345") == ((1, 3), (4, 7))
    assert regex("x*").spans("aéb") == ()
    assert regex("[0-9]+").replace_all("é12漢3", r"<\0>") == r"é<\0>漢<\0>"
    assert regex("([0-9])").replace_all("a1", r"<\1>", literal=False) == "a<1>"


@pytest.mark.parametrize(
    "source", ["(", "a{1001}", "(?=a)", r"\1", r"\C", "[", "\ud800", "a" * 10_001]
)
def test_what_re2_does_not_take_is_refused(source: str) -> None:
    assert isinstance(compile_regex(source), Unreadable)


def test_hostile_text_takes_no_longer() -> None:
    assert regex("(a+)+$").found_in("a" * 100_000 + "b") is False


def test_finding_all_parts_is_refused_where_it_takes_the_square(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("policy.values.regex.regex.MOST_WORK", 1_000_000)
    text = "a" * 2_000
    assert regex("a(.*b)?").spans(text) is None
    assert regex("a(.*b)?").replace_all(text, "x") is None
    # Parts whose length is bounded need no such limit.
    assert len(regex("a{1}b?").spans(text) or ()) == 2_000
