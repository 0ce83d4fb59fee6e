"""All logs of sessions agree with a plain list of what happened, in whatever order it did."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from policy.model import (
    Budget,
    CalledTool,
    Caller,
    CallOutput,
    Charge,
    History,
    PastCall,
    Reason,
    ReleasedCall,
    Verdict,
    history_of,
)
from policy.service import MemorySessionLog, RedisSessionLog, SessionLog, SqliteSessionLog
from tests.examples import examples
from tests.redis_server import MISSING, RedisServer

NOON = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
FETCH, MAIL = (CalledTool(name=name, kind="host") for name in ("fetch", "mail"))
SESSIONS = ("a", "b", "c")
OUTPUTS = (CallOutput(), CallOutput(result=(1, None)), CallOutput(texts=("no",)))
CALLERS = (
    *(Caller(session=name) for name in SESSIONS),
    Caller(session="b", parent=Caller(session="a")),
    Caller(session="c", parent=Caller(session="b", parent=Caller(session="a"))),
)


@dataclass(frozen=True, slots=True)
class Limit:
    """A limit as an edit leaves it: on calls of both tools, or of one."""

    meter: str
    capacity: int
    minutes: int | None
    tools: tuple[CalledTool, ...]
    of_tree: bool

    def charge(self, amount: int) -> Charge:
        """Return what a call charges under it."""
        return Charge(
            budget=Budget(meter=self.meter, of_tree=self.of_tree),
            amount=amount,
            capacity=self.capacity,
            window=None if self.minutes is None else timedelta(minutes=self.minutes),
            counts=self.tools.__contains__,
            reason=Reason(rule=self.meter, verdict=Verdict.DENY),
        )


LIMITS = st.tuples(
    *(
        st.builds(
            Limit,
            st.just(meter),
            st.sampled_from((0, 2, 5, 100)),
            st.sampled_from((1, 10, None)),
            st.sampled_from(((FETCH,), (FETCH, MAIL))),
            st.just(meter == "tree"),
        )
        for meter in ("all", "tree")
    )
)


@dataclass(eq=False)
class Made:
    """A call that was released, by each store."""

    session: str
    call: ReleasedCall
    charges: tuple[Charge, ...]
    releases: dict[str, Any]
    outcome: str | None = "running"
    cleared: bool = False
    output: CallOutput = field(default_factory=CallOutput)

    def past(self) -> PastCall:
        """Return the call as rules may look at it."""
        return PastCall(
            tool=self.call.tool.name,
            origin=self.call.tool.kind,
            input=self.call.input or {},
            result=self.output.result,
            texts=self.output.texts,
            outcome=str(self.outcome),
            at=self.call.at,
        )


class Stores(RuleBasedStateMachine):
    """Three stores beside a list. Two processes use those that can be shared."""

    def __init__(self, server: RedisServer) -> None:
        super().__init__()
        self.server = server
        with server.client() as client:
            client.flushall()
        self.folder = TemporaryDirectory()
        self.memory = MemorySessionLog()
        self.shared = dict(self.opened())
        self.now = NOON
        self.made: list[Made] = []
        self.trees: list[set[str]] = [{name} for name in SESSIONS]
        # Sessions of which somebody told what the user wrote; those whose beginning was missed.
        self.heard_in: set[str] = set()
        self.begun_elsewhere: set[str] = set()
        # How often something happened in the tree of each session.
        self.changes = dict.fromkeys(SESSIONS, 0)
        self.read: list[tuple[Caller, int, dict[str, History]]] = []
        self.limits: tuple[Limit, ...] = (Limit("all", 100, 10, (FETCH, MAIL), of_tree=False),)

    def opened(self) -> Iterator[tuple[str, list[SqliteSessionLog | RedisSessionLog]]]:
        file = Path(self.folder.name) / "history.sqlite"
        yield "sqlite", [SqliteSessionLog(file) for _ in range(2)]
        yield "redis", [RedisSessionLog(self.server.url) for _ in range(2)]

    def close(self) -> None:
        for logs in self.shared.values():
            for log in logs:
                log.close()

    def teardown(self) -> None:
        self.close()
        self.folder.cleanup()

    def logs(self, process: int) -> dict[str, SessionLog]:
        return {"memory": self.memory, **{name: two[process] for name, two in self.shared.items()}}

    # -------------------------------------------------------------- the plain list

    def tree(self, caller: Caller) -> set[str]:
        """Return the sessions of a caller's tree, with all trees joined that meet in it."""
        met = [tree for tree in self.trees if tree & {one.session for one in caller.chain()}]
        joined = set().union(*met)
        if len(met) > 1:
            self.trees = [tree for tree in self.trees if tree not in met] + [joined]
            self.changed(joined)
        return joined

    def changed(self, tree: set[str]) -> None:
        for name in tree:
            self.changes[name] += 1

    def used(self, charge: Charge, tree: set[str]) -> Fraction:
        total = Fraction(0)
        for one in self.made:
            if one.outcome is None or not charge.counts(one.call.tool):
                continue
            if charge.budget.of_tree and one.session not in tree:
                continue
            assert one.call.at is not None
            age = max(self.now - one.call.at, timedelta())
            if charge.window is None or age < charge.window:
                amounts = [each.amount for each in one.charges if each.budget == charge.budget]
                total += max(map(Fraction, amounts), default=Fraction(0))
        return total

    # -------------------------------------------------------------- what may happen

    @rule(process=st.integers(0, 1), caller=st.sampled_from(CALLERS))
    def look(self, process: int, caller: Caller) -> None:
        self.tree(caller)
        found = {name: log.history(caller) for name, log in self.logs(process).items()}
        self.read.append((caller, self.changes[caller.session], found))

    @rule(
        process=st.integers(0, 1),
        caller=st.sampled_from(CALLERS),
        tool=st.sampled_from((FETCH, MAIL)),
        seconds=st.sampled_from((0, 30, 60, 600, -45)),
        input=st.sampled_from((None, {}, {"to": ("é", 1.5)})),
        amount=st.sampled_from((0, 1, 2)),
    )
    def release(
        self, process: int, caller: Caller, tool: CalledTool, seconds: int, input: Any, amount: int
    ) -> None:
        self.now += timedelta(seconds=seconds)
        self.released(process, caller, ReleasedCall(tool=tool, at=self.now, input=input), amount)

    @precondition(lambda self: self.read)
    @rule(process=st.integers(0, 1), data=st.data())
    def release_by_what_was_read(self, process: int, data: st.DataObject) -> None:
        caller, changes, found = data.draw(st.sampled_from(self.read))
        call = ReleasedCall(tool=MAIL, at=self.now)
        tree = self.tree(caller)
        if self.changes[caller.session] == changes:
            self.released(process, caller, call, 1, judged_by=found)
            return
        before = {name: log.history(caller) for name, log in self.logs(process).items()}
        if before["memory"].tools == found["memory"].tools:
            # Something happened that may have left everything as it was.
            return
        for name, log in self.logs(process).items():
            assert log.release(caller, call, judged_by=found[name]) is None
            assert log.history(caller) == before[name]
        assert tree == self.tree(caller)

    def released(
        self,
        process: int,
        caller: Caller,
        call: ReleasedCall,
        amount: int,
        *,
        judged_by: dict[str, History] | None = None,
    ) -> None:
        tree = self.tree(caller)
        charges = tuple(limit.charge(amount) for limit in self.limits)
        fits = all(
            self.is_known(one, tree) and self.used(one, tree) + amount <= one.capacity
            for one in charges
        )
        releases = {
            name: log.release(
                caller, call, judged_by=judged_by[name] if judged_by else None, charges=charges
            )
            for name, log in self.logs(process).items()
        }
        assert {name: release is not None for name, release in releases.items()} == dict.fromkeys(
            releases, fits
        )
        if fits:
            self.changed(tree)
            self.made.append(Made(caller.session, call, charges, releases))

    @precondition(
        lambda self: any(one.outcome == "running" and not one.cleared for one in self.made)
    )
    @rule(
        process=st.integers(0, 1),
        data=st.data(),
        outcome=st.sampled_from(("ok", "failed", "cancelled", None)),
        output=st.sampled_from(OUTPUTS),
    )
    def finish(self, process: int, data: st.DataObject, outcome: Any, output: CallOutput) -> None:
        running = [one for one in self.made if one.outcome == "running" and not one.cleared]
        one = data.draw(st.sampled_from(running))
        told = output if output != CallOutput() else None
        for name, log in self.logs(process).items():
            log.finish(one.releases[name], outcome, told)
        one.outcome = outcome
        one.output = output if one.call.input is not None else CallOutput()
        self.made.remove(one)
        self.made.append(one)
        self.changed(self.tree(Caller(session=one.session)))

    @rule(process=st.integers(0, 1), caller=st.sampled_from(CALLERS[:3]), missed=st.booleans())
    def hear(self, process: int, caller: Caller, missed: bool) -> None:
        said = [f"message {len(self.made)}"]
        heard = [log.hear(caller, said, missed=missed) for log in self.logs(process).values()]
        assert len(set(heard)) == 1
        if not heard[0]:
            return
        tree = self.tree(caller)
        # A call that never reached its tool leaves nothing behind.
        has_calls = any(one.session in tree and one.outcome is not None for one in self.made)
        is_new = not (tree & self.heard_in or has_calls)
        if missed and is_new:
            self.begun_elsewhere.add(caller.session)
        self.heard_in.add(caller.session)

    @rule(process=st.integers(0, 1), caller=st.sampled_from(CALLERS[:3]), running=st.booleans())
    def clear(self, process: int, caller: Caller, running: bool) -> None:
        tree = self.tree(caller)
        self.memory.history(caller)
        for logs in self.shared.values():
            logs[process].clear((caller.user, caller.session), running=running)
        self.memory.clear((caller.user, caller.session), running=running)
        for one in self.made:
            if one.session in tree and (running or one.outcome != "running"):
                one.cleared = True
        self.changed(tree)

    @rule(limits=LIMITS)
    def reload(self, limits: tuple[Limit, ...]) -> None:
        self.limits = limits

    @rule()
    def begin_again(self) -> None:
        """A store that is opened again decides by the same history, to the last bit."""
        before = {name: logs[0] for name, logs in self.shared.items()}
        seen = {
            name: [log.history(Caller(session=session)) for session in SESSIONS]
            for name, log in before.items()
        }
        self.close()
        self.shared = dict(self.opened())
        for name, logs in self.shared.items():
            assert [logs[1].history(Caller(session=session)) for session in SESSIONS] == seen[name]

    # -------------------------------------------------------------- what must hold

    @invariant()
    def every_store_has_what_happened(self) -> None:
        for session in SESSIONS:
            caller = Caller(session=session)
            tree = self.tree(caller)
            known = [one for one in self.made if one.session in tree and not one.cleared]
            calls = [one for one in known if one.outcome is not None]
            kept = [one.past() for one in calls if one.call.input is not None]
            missing = {one.call.tool for one in calls if one.call.input is None}
            tools = history_of(one.past() for one in calls).tools
            said = set()
            for log in self.logs(0).values():
                history = log.history(caller)
                assert history.tools == tools
                assert sorted(_kept(history), key=repr) == sorted(kept, key=repr)
                assert set(history.kept.gaps) == missing
                found = log.said(caller)
                # Where trees have met, several reasons are true; each store names one of them.
                said.add(None if isinstance(found, str) else found.texts)
            assert len(said) == 1
            self.every_budget_is_what_was_charged(caller, tree)

    def every_budget_is_what_was_charged(self, caller: Caller, tree: set[str]) -> None:
        for limit in self.limits:
            charge = limit.charge(1)
            used = self.used(charge, tree)
            for log in self.logs(1).values():
                balance = log.balance(caller, charge, self.now)
                if not self.is_known(charge, tree):
                    assert (balance.used, balance.has_room) == (None, False)
                    continue
                assert balance.used == used
                assert balance.has_room == (used + 1 <= limit.capacity)

    def is_known(self, charge: Charge, tree: set[str]) -> bool:
        """Return whether all that a budget was charged is known: of a tree, from its beginning."""
        return not (charge.budget.of_tree and tree & self.begun_elsewhere)


def _kept(history: History) -> list[PastCall]:
    count = history.kept.length + len(history.kept.running)
    found = []
    for position in range(count):
        call = history.kept[position]
        found.append(
            PastCall(
                tool=call.tool,
                origin=call.origin,
                input=call.input,
                result=call.result,
                texts=call.texts,
                outcome=call.outcome,
                at=call.at,
            )
        )
    return found


@pytest.mark.skipif(MISSING is not None, reason=MISSING or "")
def test_all_stores_have_what_happened() -> None:
    with closing(RedisServer()) as server:

        class OnServer(Stores):
            def __init__(self) -> None:
                super().__init__(server)

        run_state_machine_as_test(
            OnServer,
            settings=settings(max_examples=examples(40), stateful_step_count=20, deadline=None),
        )
