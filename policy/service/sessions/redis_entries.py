"""What the entries of a stream mean: for a session tree, and for a budget."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from policy.model import (
    RUNNING,
    AmountParts,
    Budget,
    CallOutput,
    Moments,
    PastCall,
    TimedAmounts,
    ToolCalls,
)
from policy.service.sessions.charging import BudgetCharge
from policy.service.sessions.kept_calls import KeepingBounds, KeptBytes, encoded
from policy.service.sessions.memory_budgets import MemoryBudgets
from policy.service.sessions.redis_store import BEGINNING, Entry
from policy.service.sessions.session_tree import RunningCall, SessionTree, empty_tree
from policy.service.sessions.stored_calls import (
    MICROSECOND,
    amount_of,
    call_of,
    key_of_session,
    key_of_tool,
    microseconds,
    moment,
    own_value,
    tool_of,
)
from policy.values import UserMessages

# A stream is written anew as one state when this many bytes were added to it, or as many as the
# last state had: so it never has more than twice of what it is worth, or costs more to write.
_LEAST_ADDED = 16_384
# Messages of one entry are numbered one by one.
_MESSAGES = 2**32


@dataclass(eq=False, slots=True)
class StreamReading:
    """How far a stream was read: `added` bytes since its last state, which had `state` bytes."""

    seen: bytes = BEGINNING
    added: int = 0
    state: int = 0

    @property
    def is_long(self) -> bool:
        """Whether the stream is to be written anew."""
        return self.added > max(_LEAST_ADDED, self.state)

    def read(self, entry: Entry) -> None:
        """Note that an entry was read."""
        self.seen = entry.id
        if entry.event["event"] == "state":
            self.added = self.state = 0
        if "part" in entry.event:
            self.state += entry.size
        else:
            self.added += entry.size


class StoredTree:
    """A session tree as its stream has it."""

    def __init__(self, id: str, bounds: KeepingBounds, of_all: KeptBytes) -> None:
        self.id = id
        self.reading = StreamReading()
        self.children: set[str] = set()
        self._bounds = bounds
        self._of_all = of_all
        self.tree = self._empty()

    def _empty(self) -> SessionTree:
        return empty_tree(self._bounds, self._of_all)

    def add(self, entry: Entry) -> None:
        """Add what an entry of the stream says; raise ValueError or KeyError for a damaged one."""
        self.reading.read(entry)
        event, tree = entry.event, self.tree
        match event["event"]:
            case "seen":
                self.tree.sessions |= {_session(key) for key in event["sessions"]}
                self.children |= set(event["children"])
            case "released":
                call = running_call_of(entry)
                tree.budgets.charge(
                    call.tool, call.at, [charge_of(one) for one in event["charges"]]
                )
                tree.begin(entry.id, call)
            case "ended":
                output = None if entry.output is None else _output(entry.output)
                size = event["input"] + len(entry.output or b"")
                tree.end(event["id"].encode(), event["outcome"], output, size)
            case "withdrawn":
                tool, at = tool_of(event["tool"]), moment(event["at"])
                charges = [charge_of(one) for one in event["charges"]]
                tree.budgets.take_back(tool, at, charges)
                tree.withdraw(event["id"].encode())
            case "heard":
                number = entry.commit * _MESSAGES
                tree.hear(event["texts"], number=number, missed=event["missed"])
                if event.get("too_long"):
                    tree.heard.miss_one()
            case "cleared":
                tree.clear(running=event["running"])
            case "state":
                tree.kept.forget_all()
                self._restore(event)
            case "kept":
                call_row = _row(event, entry)
                size = len(entry.input or b"") + len(entry.output or b"")
                tree.kept.add(call_of(call_row), size)
                tree.history = None
            case "running":
                tree.running[event["id"].encode()] = running_call_of(entry)
                tree.history = None
            case other:
                raise ValueError(f"there is an entry of an unknown kind: {other!r}")

    def state(self) -> Iterator[Entry]:
        """Yield entries that stand for everything in the stream so far."""
        tree = self.tree
        heard = tree.heard
        yield _part(
            "state",
            sessions=[key_of_session(session) for session in sorted(tree.sessions, key=repr)],
            children=sorted(self.children),
            ended=[[key_of_tool(tool), *_summary(calls)] for tool, calls in tree.ended.items()],
            gaps=[[key_of_tool(tool), position] for tool, position in tree.kept.gaps.items()],
            reasons=[[key_of_tool(tool), why] for tool, why in tree.kept.reasons.items()],
            heard={
                "texts": None if heard.messages is None else list(heard.messages.texts),
                "numbers": heard.numbers,
                "unknown": heard.unknown,
                "missing": None if heard.messages is None else heard.messages.missing,
                "forgotten": 0 if heard.messages is None else heard.messages.forgotten,
            },
            budgets=list(budget_states(tree.budgets)),
            unknown=tree.unknown,
        )
        for past in tree.kept:
            output = None
            if past.result is not None or past.texts:
                output = encoded((past.result, past.texts))
            yield _part("kept", **_about(past), input=encoded(past.input), output=output)
        for id, call in tree.running.items():
            assert isinstance(id, bytes)
            input = None if call.past is None else encoded(call.past.input)
            yield _part("running", **running_event(call), id=id.decode(), input=input)

    def _restore(self, event: Mapping[str, Any]) -> None:
        tree = self.tree = self._empty()
        tree.sessions = {_session(key) for key in event["sessions"]}
        self.children = set(event["children"])
        for tool, succeeded, some_succeeded, unsure, some_unsure in event["ended"]:
            tree.ended[tool_of(tool)] = ToolCalls(
                succeeded=Moments(latest=moment(succeeded), untimed=some_succeeded),
                unsure=Moments(latest=moment(unsure), untimed=some_unsure),
            )
        tree.kept.set_gaps(
            {tool_of(tool): position for tool, position in event["gaps"]},
            {tool_of(tool): why for tool, why in event.get("reasons", ())},
        )
        heard = event["heard"]
        if heard["texts"] is not None:
            # Streams of before messages could be missing do not say which.
            tree.heard.restore(
                UserMessages(
                    tuple(heard["texts"]),
                    missing=heard.get("missing"),
                    forgotten=heard.get("forgotten", 0),
                ),
                heard["numbers"],
            )
        tree.heard.unknown = heard["unknown"]
        # Streams of before sessions could begin elsewhere do not say it.
        tree.unknown = event.get("unknown")
        restore_budgets(tree.budgets, event["budgets"])


@dataclass(eq=False, slots=True)
class StoredBudgetStream:
    """What was charged to a budget that is no session tree's, as its stream has it.

    `longest` is the longest window that was asked about, and `ever` whether age did not matter.
    """

    budget: Budget
    reading: StreamReading = field(default_factory=StreamReading)
    spent: MemoryBudgets = field(default_factory=MemoryBudgets)
    longest: timedelta = timedelta()
    ever: bool = False

    def add(self, entry: Entry) -> None:
        """Add what an entry of the stream says; raise ValueError or KeyError for a damaged one."""
        self.reading.read(entry)
        event = entry.event
        match event["event"]:
            case "charged":
                charge = charge_of(event["charge"])
                self.longest = max(self.longest, charge.window or timedelta())
                self.ever = self.ever or charge.ever
                self.spent.charge(tool_of(event["tool"]), moment(event["at"]), [charge])
            case "taken back":
                charge = charge_of(event["charge"])
                self.spent.take_back(tool_of(event["tool"]), moment(event["at"]), [charge])
            case "state":
                self.spent = MemoryBudgets()
                self.longest = event["longest"] * MICROSECOND
                self.ever = event["ever"]
                restore_budgets(self.spent, event["budgets"])
            case other:
                raise ValueError(f"there is an entry of an unknown kind: {other!r}")

    def state(self) -> Entry:
        """Return an entry that stands for everything in the stream so far."""
        return _part(
            "state",
            budgets=list(budget_states(self.spent)),
            longest=self.longest // MICROSECOND,
            ever=self.ever,
        )


# ------------------------------------------------------------------ events


def running_event(call: RunningCall) -> dict[str, Any]:
    """Return what is written of a call that runs, but for its input."""
    about = {"tool": key_of_tool(call.tool), "at": microseconds(call.at)}
    return about if call.past is None else _about(call.past)


def running_call_of(entry: Entry) -> RunningCall:
    """Return the call that an entry says is running."""
    event = entry.event
    past = None if entry.input is None else call_of(_row({**event, "outcome": RUNNING}, entry))
    return RunningCall(tool=tool_of(event["tool"]), at=moment(event["at"]), past=past)


def charge_event(charge: BudgetCharge) -> list[Any]:
    """Return what is written of a charge."""
    budget = charge.budget
    window = None if charge.window is None else charge.window // MICROSECOND
    return [budget.meter, budget.value, budget.of_tree, str(charge.amount), window, charge.ever]


def charge_of(event: Iterable[Any]) -> BudgetCharge:
    """Return the charge that was written."""
    meter, value, of_tree, amount, window, ever = event
    return BudgetCharge(
        budget=Budget(meter=meter, value=value, of_tree=of_tree),
        amount=amount_of(amount),
        window=None if window is None else window * MICROSECOND,
        ever=ever,
    )


def budget_states(budgets: MemoryBudgets) -> Iterator[list[Any]]:
    """Yield what was charged to each budget by calls of each tool."""
    for budget, tool, amounts in budgets.all():
        parts = amounts.parts()
        yield [
            [budget.meter, budget.value, budget.of_tree],
            key_of_tool(tool),
            [str(parts.folded), microseconds(parts.folded_until)],
            [parts.longest // MICROSECOND, parts.ever],
            [[microseconds(at), str(amount)] for at, amount in parts.amounts],
        ]


def restore_budgets(budgets: MemoryBudgets, states: Iterable[Any]) -> None:
    """Set budgets to what was written by `budget_states`."""
    for (meter, value, of_tree), tool, (folded, until), (longest, ever), amounts in states:
        parts = AmountParts(
            folded=amount_of(folded),
            folded_until=moment(until),
            longest=longest * MICROSECOND,
            ever=ever,
            amounts=tuple((_moment(at), amount_of(amount)) for at, amount in amounts),
        )
        budget = Budget(meter=meter, value=value, of_tree=of_tree)
        budgets.put(budget, tool_of(tool), TimedAmounts.of(parts))


def _part(
    event: str, *, input: bytes | None = None, output: bytes | None = None, **said: Any
) -> Entry:
    return Entry(event={"event": event, "part": True, **said}, input=input, output=output)


def _about(past: PastCall) -> dict[str, Any]:
    about = {
        "tool": key_of_tool(past.called),
        "at": microseconds(past.at),
        "caller": json.dumps((past.session, past.agent, past.user, past.chain)),
        "call": past.id,
    }
    return about if past.outcome == RUNNING else {**about, "outcome": past.outcome}


def _output(stored: bytes) -> CallOutput:
    result, texts = own_value(stored)
    return CallOutput(result=result, texts=texts)


def _row(event: Mapping[str, Any], entry: Entry) -> tuple[Any, ...]:
    call = None if event["call"] is None else json.dumps(event["call"])
    return (
        None,
        event["tool"],
        event["caller"],
        call,
        event["at"],
        event["outcome"],
        entry.input,
        entry.output,
    )


def _summary(calls: ToolCalls) -> list[Any]:
    done, unsure = calls.succeeded, calls.unsure
    return [
        microseconds(done.latest),
        done.untimed,
        microseconds(unsure.latest),
        unsure.untimed,
    ]


def _session(key: str) -> tuple[str | None, str]:
    user, session = json.loads(key)
    return user, session


def _moment(stored: int) -> datetime:
    at = moment(stored)
    assert at is not None
    return at
