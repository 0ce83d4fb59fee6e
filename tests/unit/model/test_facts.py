"""Facts: clocks with and without a zone, and missing values."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

from policy.model import Facts


def test_a_clock_without_a_zone_is_read_as_utc() -> None:
    naive = datetime(2026, 11, 21, 20, 0)  # noqa: DTZ001 - the case under test
    assert Facts(now=naive).now == datetime(2026, 11, 21, 20, 0, tzinfo=UTC)


def test_a_clock_with_a_zone_keeps_its_moment() -> None:
    paris = timezone(timedelta(hours=1))
    now = datetime(2026, 11, 21, 21, 0, tzinfo=paris)
    assert Facts(now=now).now == datetime(2026, 11, 21, 20, 0, tzinfo=UTC)


def test_what_was_not_given_is_unknown() -> None:
    facts = Facts()
    assert (facts.now, facts.workspace, facts.resolvers.path, facts.resolvers.host) == (
        None,
        None,
        None,
        None,
    )
