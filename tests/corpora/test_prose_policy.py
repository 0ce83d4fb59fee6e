"""The example policy of an airline: tau2's own calls pass unless they break the prose.

Each write that passes is then changed in every way that breaks a sentence, and has to be denied by
the rule of that sentence.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import deepcopy
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from tests.corpora.judging import COLLECTED, rows
from tests.corpora.replaying import Outcome, Replay, open_replay

POLICY = Path(__file__).parents[2] / "docs" / "examples" / "airline"
ROWS = {row["task"]: row["calls"] for row in rows(COLLECTED / "tau2" / "airline.jsonl")}
# The prose names this moment.
NOW = datetime(2024, 5, 15, 15, tzinfo=UTC)
BOOK, CANCEL, CERTIFICATE = "book_reservation", "cancel_reservation", "send_certificate"
FLIGHTS, BAGS, PASSENGERS = (
    "update_reservation_flights",
    "update_reservation_baggages",
    "update_reservation_passengers",
)
WRITES = {BOOK, CANCEL, CERTIFICATE, FLIGHTS, BAGS, PASSENGERS}
Call = dict[str, Any]


@pytest.fixture
def replay(tmp_path: Path) -> Replay:
    listed = json.loads((POLICY / "tools.json").read_text(encoding="utf-8"))
    return open_replay(POLICY, listed, workspace=tmp_path / "work", clock=lambda: NOW)


async def replayed(replay: Replay, calls: Sequence[Mapping[str, Any]]) -> list[Outcome]:
    session = replay.session()
    return [await replay.call(session, c["tool"], c["input"], c["result"]) for c in calls]


async def test_of_its_own_calls_only_those_that_break_the_prose_are_denied(replay: Replay) -> None:
    found = [
        (task, one)
        for task, calls in ROWS.items()
        for one in await replayed(replay, calls)
        if one.tool in WRITES or one.verdict != "allowed"
    ]
    assert len(found) == 55
    denied = [
        (task, one.tool, *sorted(one.rules)) for task, one in found if one.verdict == "denied"
    ]
    assert denied == [
        ("7", CANCEL, "cancel-grounds"),  # not insured, not business, booked two weeks ago
        ("9", CANCEL, "cancel-before-departure"),  # landed the day before
        ("29", FLIGHTS, "same-destination"),  # JFK in place of LGA
        ("33", BAGS, "bags-of-a-change"),  # two bags cost, though a gold member has three free
        ("37", CANCEL, "cancel-before-departure"),
    ]
    asked = [(task, one.tool) for task, one in found if one.verdict == "asked"]
    assert asked == [
        ("2", CERTIFICATE),
        ("7", CANCEL),
        ("19", CANCEL),
        ("27", CERTIFICATE),
        ("38", CERTIFICATE),
        ("39", CANCEL),
        ("44", CANCEL),
    ]


# What a change does to the look-ups before a write, and to its input; None where it does not apply.
Change = Callable[[list[Call], Call], object]
MISSING = "gift_card_0000001"


def _without_profile(before: list[Call], given: Call) -> None:
    before[:] = [each for each in before if each["tool"] != "get_user_details"]


def _status(status: str) -> Change:
    def change(before: list[Call], given: Call) -> None:
        for each in before:
            if each["tool"] == "get_flight_status":
                each["result"] = status

    return change


def _reservation(**fields: Any) -> Change:
    def change(before: list[Call], given: Call) -> None:
        for each in before:
            if each["tool"] == "get_reservation_details":
                each["result"].update(fields)

    return change


def _member(membership: str) -> Change:
    def change(before: list[Call], given: Call) -> None:
        for each in before:
            if each["tool"] == "get_user_details":
                each["result"]["membership"] = membership

    return change


def _all(*changes: Change) -> Change:
    def change(before: list[Call], given: Call) -> None:
        for each in changes:
            each(before, given)

    return change


def _set(**fields: Any) -> Change:
    def change(before: list[Call], given: Call) -> None:
        given.update(fields)

    return change


def _add(field: str, number: int) -> Change:
    def change(before: list[Call], given: Call) -> None:
        given[field] += number

    return change


def _paid_by(*identifiers: str) -> Change:
    return _set(payment_methods=[{"payment_id": each, "amount": 1} for each in identifiers])


def _passengers(number: int) -> Change:
    def change(before: list[Call], given: Call) -> None:
        given["passengers"] = [*given["passengers"], *given["passengers"][:1] * 6][:number]

    return change


def _one_passenger_more(before: list[Call], given: Call) -> None:
    given["passengers"].append(given["passengers"][0])


def _no_passenger(before: list[Call], given: Call) -> None:
    given["passengers"] = []


def _without(field: str) -> Change:
    def change(before: list[Call], given: Call) -> None:
        del given["passengers"][-1][field]

    return change


def _own_certificate(before: list[Call], given: Call) -> None:
    for each in before:
        if each["tool"] == "get_user_details":
            each["result"]["payment_methods"]["certificate_9"] = {"source": "certificate"}
    given["payment_id"] = "certificate_9"


def _other_first_flight(before: list[Call], given: Call) -> None:
    given["flights"][0]["flight_number"] = "HAT999"


def _other_last_flight(before: list[Call], given: Call) -> None:
    given["flights"][-1]["flight_number"] = "HAT999"


def _other_flights(before: list[Call], given: Call) -> None:
    for each in given["flights"]:
        each["flight_number"] = "HAT999"


def _flights_reversed(before: list[Call], given: Call) -> bool:
    given["flights"].reverse()
    return len(given["flights"]) > 1


def _another_day(before: list[Call], given: Call) -> None:
    given["flights"][0]["date"] = "2024-05-31"


def _another_cabin(before: list[Call], given: Call) -> None:
    cabin = next(
        each["result"]["cabin"]
        for each in reversed(before)
        if each["tool"] == "get_reservation_details"
    )
    given["cabin"] = "economy" if cabin == "business" else "business"


BREAKS: tuple[tuple[str, Sequence[str], Change], ...] = (
    ("known-user", (BOOK, CERTIFICATE), _without_profile),
    ("available", (BOOK,), _status("on time")),
    ("available", (BOOK,), _status("delayed")),
    ("available", (BOOK,), _status("flying")),
    ("five-passengers", (BOOK,), _passengers(6)),
    ("full-passengers", (BOOK, PASSENGERS), _without("dob")),
    ("full-passengers", (BOOK, PASSENGERS), _without("first_name")),
    ("full-passengers", (BOOK, PASSENGERS), _without("last_name")),
    ("one-certificate", (BOOK,), _paid_by("certificate_1", "certificate_2")),
    ("one-credit-card", (BOOK,), _paid_by("credit_card_1", "credit_card_2")),
    ("three-gift-cards", (BOOK,), _paid_by(*(f"gift_card_{each}" for each in range(4)))),
    ("own-payment", (BOOK,), _paid_by(MISSING)),
    ("bags-of-a-booking", (BOOK,), _add("nonfree_baggages", 1)),
    ("bags-of-a-booking", (BOOK,), _add("total_baggages", 25)),
    ("known-reservation", (FLIGHTS, BAGS, PASSENGERS, CANCEL), _without_profile),
    (
        "basic-economy",
        (FLIGHTS,),
        _all(_reservation(cabin="basic_economy"), _set(cabin="basic_economy"), _another_day),
    ),
    ("same-origin", (FLIGHTS,), _other_first_flight),
    ("same-origin", (FLIGHTS,), _flights_reversed),
    ("same-end", (FLIGHTS,), _other_last_flight),
    ("same-destination", (FLIGHTS,), _other_flights),
    ("cabin-before-departure", (FLIGHTS,), _all(_status("landed"), _another_cabin)),
    ("cabin-before-departure", (FLIGHTS,), _all(_status("flying"), _another_cabin)),
    ("payment-of-a-change", (FLIGHTS, BAGS), _set(payment_id=MISSING)),
    ("payment-of-a-change", (FLIGHTS, BAGS), _own_certificate),
    ("bags-are-added", (BAGS,), _set(total_baggages=-1)),
    ("bags-of-a-change", (BAGS,), _add("nonfree_baggages", 1)),
    ("bags-of-a-change", (BAGS,), _add("total_baggages", 25)),
    ("same-number", (PASSENGERS,), _one_passenger_more),
    ("same-number", (PASSENGERS,), _no_passenger),
    ("cancel-before-departure", (CANCEL,), _status("landed")),
    ("cancel-before-departure", (CANCEL,), _status("flying")),
    (
        "cancel-grounds",
        (CANCEL,),
        _reservation(cabin="economy", insurance="no", created_at="2024-05-10T00:00:00"),
    ),
    (
        "certificate-for-whom",
        (CERTIFICATE,),
        _all(_member("regular"), _reservation(cabin="economy", insurance="no")),
    ),
    ("certificate-amount", (CERTIFICATE,), _add("amount", 7)),
    ("certificate-amount", (CERTIFICATE,), _status("on time")),
)


def _broken() -> Iterator[tuple[str, str, list[Call]]]:
    """Yield the rule, the task, and the calls up to a write that breaks the rule."""
    refused = {("7", CANCEL), ("9", CANCEL), ("29", FLIGHTS), ("33", BAGS), ("37", CANCEL)}
    for task, calls in ROWS.items():
        for at, call in enumerate(calls):
            if call["tool"] not in WRITES or (task, call["tool"]) in refused:
                continue
            for rule, tools, change in BREAKS:
                changed = deepcopy(calls[: at + 1])
                before = [each for each in changed[:-1] if each["tool"] not in WRITES]
                if call["tool"] in tools and change(before, changed[-1]["input"]) is not False:
                    yield rule, task, [*before, changed[-1]]


async def _are_denied_by_their_rule(
    replay: Replay, broken: Sequence[tuple[str, str, list[Call]]]
) -> None:
    assert len(broken) >= 100
    assert {rule for rule, _, _ in broken} == {rule for rule, _, _ in BREAKS}
    for rule, task, calls in broken:
        *before, last = await replayed(replay, calls)
        assert {one.verdict for one in before} <= {"allowed"}
        assert (last.verdict, rule in last.rules) == ("denied", True), (rule, task, last)


async def test_a_write_that_breaks_a_sentence_is_denied_by_its_rule(replay: Replay) -> None:
    await _are_denied_by_their_rule(replay, list(_broken())[::3])


@pytest.mark.long
async def test_all_writes_that_break_a_sentence_are_denied_by_its_rule(replay: Replay) -> None:
    await _are_denied_by_their_rule(replay, list(_broken()))
