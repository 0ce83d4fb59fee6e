"""After any sequence of operations the store equals its model."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Awaitable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from policy.approvals import (
    AnswerRefused,
    Bounds,
    Filed,
    NotFiled,
    Person,
    SqliteApprovals,
    unanswered,
)
from policy.model import Caller
from tests.examples import examples
from tests.unit.approvals.desks import ANN, BOB, CYD, EVE, NOW, a_grant, a_request, asks
from tests.unit.approvals.model import Model

BOUNDS = Bounds(open=3, closed=3, sessions=2, refusals=2, grants=2)
PEOPLE = st.sampled_from([ANN, BOB, CYD, EVE, Person(id="ANN "), Person(id="bot", agent="a")])
REASONS = st.sampled_from(
    [
        (asks(),),
        (asks(two_people=True),),
        (asks(groups=("legal",)), asks("other", groups=("finance",))),
        (asks(groups=("legal", "finance"), two_people=True),),
    ]
)
IDS = st.integers(1, 12).map(lambda number: f"q{number}")
KEYS = st.sampled_from(["k1", "k2", "k3"])
SESSIONS = st.sampled_from(["s", "t", "u"])
GRANTS = st.sampled_from(["g1", "g2", "g3"])
DIGESTS = st.sampled_from(["1", "2", "3"])


class Stores(RuleBasedStateMachine):
    """Does everything in the model, in memory and in a file, and compares what they return."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.model = Model(bounds=BOUNDS)
        self.memory = SqliteApprovals(":memory:", bounds=BOUNDS)
        self.file = SqliteApprovals(Path(self.folder.name) / "approvals.db", bounds=BOUNDS)
        self.runner = asyncio.Runner()
        self.now: datetime = NOW

    def teardown(self) -> None:
        self.runner.close()
        self.file.close()
        self.folder.cleanup()

    def all(self, method: str, *args: Any, **kwargs: Any) -> Any:
        found = [
            self._said(getattr(store, method)(*args, **kwargs))
            for store in (self.model, self.memory, self.file)
        ]
        assert found[1:] == found[:1] * 2
        return found[0]

    def _said(self, doing: Awaitable[Any]) -> Any:
        async def said() -> Any:
            try:
                return await doing
            except (AnswerRefused, NotFiled) as error:
                return type(error), str(error)

        return self.runner.run(said())

    @rule(seconds=st.sampled_from([1, 40, 100]))
    def time_passes(self, seconds: int) -> None:
        self.now += timedelta(seconds=seconds)

    @rule(
        id=IDS, key=KEYS, session=SESSIONS, reasons=REASONS, seconds=st.sampled_from([0, 60, None])
    )
    def put(self, id: str, key: str, session: str, reasons: Any, seconds: int | None) -> None:
        expires = None if seconds is None else self.now + timedelta(seconds=seconds)
        caller = Caller(session=session)
        request = a_request(id, *reasons, digest=key, caller=caller, expires=expires)
        found = self.all("file", request, f"{key} {session}", now=self.now)
        if isinstance(found, Filed):
            assert (found.request.digest, found.request.caller) == (key, caller)

    @rule(id=IDS, person=PEOPLE)
    def agree(self, id: str, person: Person) -> None:
        found = self.all("agree", id, person, now=self.now)
        if isinstance(found, Filed):
            left = unanswered(found.request.reasons, found.people, found.request.caller)
            assert (found.state == "approved") == (not left)

    @rule(id=IDS, person=PEOPLE)
    def refuse(self, id: str, person: Person) -> None:
        self.all("refuse", id, person, now=self.now, message="no")

    @rule(session=SESSIONS, person=PEOPLE)
    def refuse_all(self, session: str, person: Person) -> None:
        self.all("refuse_all", session, person, now=self.now)

    @rule(id=IDS, state=st.sampled_from(["used", "used", "cancelled", "expired"]))
    def end(self, id: str, state: str) -> None:
        found = self.all("end", id, state, now=self.now)
        assert found is None or found.state == state
        assert found is None or self.all("end", id, state, now=self.now) is None

    @rule(session=SESSIONS)
    def count(self, session: str) -> None:
        self.all("count", session, limit=3)

    @rule(session=SESSIONS, digest=DIGESTS)
    def note_refusal(self, session: str, digest: str) -> None:
        self.all("note_refusal", session, digest, now=self.now)

    @rule(id=GRANTS, caller=DIGESTS, uses=st.sampled_from([None, 1, 2]))
    def give(self, id: str, caller: str, uses: int | None) -> None:
        expires = self.now + timedelta(seconds=90)
        self.all("give", a_grant(id, caller=caller, uses=uses, expires=expires))

    @rule(ids=st.lists(GRANTS, max_size=3).map(tuple))
    def spend(self, ids: tuple[str, ...]) -> None:
        self.all("spend", ids, now=self.now)

    @rule(id=GRANTS)
    def revoke(self, id: str) -> None:
        self.all("revoke", id)

    @rule(session=SESSIONS, digest=DIGESTS)
    def was_refused(self, session: str, digest: str) -> None:
        self.all("refused", session, digest)

    @rule(caller=DIGESTS)
    def serves(self, caller: str) -> None:
        self.all("grants", caller, now=self.now)

    @rule()
    def file_is_opened_again(self) -> None:
        self.file.close()
        self.file = SqliteApprovals(Path(self.folder.name) / "approvals.db", bounds=BOUNDS)

    @invariant()
    def nothing_tells_them_apart(self) -> None:
        self.all("open", now=self.now)
        self.all("since", 0)
        self.all("standing", now=self.now)
        assert self.all("revision") >= 0


TestStores = Stores.TestCase
TestStores.settings = settings(max_examples=examples(15), stateful_step_count=40)
