"""The policy in force is always one valid state of the files, and every verdict follows it alone.

Edits, broken edits, deletions, renames and calls come in any order.
"""

from __future__ import annotations

import os
import tempfile
import threading
from collections.abc import Mapping
from pathlib import Path

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from policy import Caller, PolicyStore, ToolCall, Verdict
from policy.decision import Decision, GenerationId
from tests.examples import examples

VERDICTS = (Verdict.ALLOW, Verdict.ASK, Verdict.DENY)
TOOLS = ("file_read", "web_fetch")
AGENTS = ("default", "writer")
CALLS = {
    "file_read": ToolCall(tool="file_read", input={"path": "/srv/a"}),
    "web_fetch": ToolCall(tool="web_fetch", input={"url": "https://a.example/"}),
}

# A state of the folder: for every file its verdict for each tool, or None where it is broken.
File = Mapping[str, Verdict] | None
State = Mapping[str, File]

BROKEN = (
    "",
    "policy for every ag",
    "policy for every agent\ndefault allow\nno: deny file_raed when\n",
    "policy for every agent\ndefault allow\0\n",
    "\udcff",
    'policy for every agent\ndefault allow\ntest "t"\n  file_read {path: "/"} -> deny by none\n',
)


def text_of(name: str, rules: Mapping[str, Verdict]) -> str:
    """Return a file that says `rules`: the global one gives everything, then each takes."""
    if name == "global.policy":
        lines = ["policy for every agent", "default allow"]
    else:
        lines = [f'policy for agent "{name.removesuffix(".policy")}"']
    lines += [
        f"{verdict} {tool}" for tool, verdict in rules.items() if verdict is not Verdict.ALLOW
    ]
    return "\n".join(lines) + "\n"


def expected(state: State) -> Mapping[tuple[str, str], Verdict] | None:
    """Return the verdict of every agent's call by this state alone; None if it is no policy."""
    top = state.get("global.policy")
    if top is None or any(file is None for file in state.values()):
        return None
    table: dict[tuple[str, str], Verdict] = {}
    for agent in AGENTS:
        own = state.get(f"{agent}.policy") or {}
        for tool in TOOLS:
            table[agent, tool] = max(top[tool], own.get(tool, Verdict.NONE), key=rank)
    return table


def rank(verdict: Verdict) -> int:
    return verdict.rank


SAYING = st.fixed_dictionaries({tool: st.sampled_from(VERDICTS) for tool in TOOLS})
NAMES = st.sampled_from(("global.policy", "writer.policy"))


class Editing(RuleBasedStateMachine):
    """The folder as a model, beside the store that watches the real one."""

    def __init__(self) -> None:
        super().__init__()
        self.home = tempfile.TemporaryDirectory()
        self.root = Path(self.home.name) / "rules"
        self.root.mkdir()
        self.state: dict[str, File] = {}
        self.in_force: Mapping[tuple[str, str], Verdict] | None = None
        self.published: dict[GenerationId, Mapping[tuple[str, str], Verdict]] = {}

    @initialize(top=SAYING)
    def begin(self, top: Mapping[str, Verdict]) -> None:
        self.write("global.policy", text_of("global.policy", top))
        self.state["global.policy"] = top
        self.store = PolicyStore(self.root, settle=0.0)
        self.settled()

    def write(self, name: str, text: str) -> None:
        (self.root / name).write_bytes(text.encode("utf-8", "surrogateescape"))

    def settled(self) -> None:
        """Compare the store, which has just looked at the folder, with the model."""
        now = expected(self.state)
        status = self.store.status
        if now is None:
            assert status.stale
            assert status.because
            return
        assert not status.stale
        assert status.because is None
        assert self.store.current is not None
        self.in_force = now
        number = self.store.current.id.number
        assert all(known.number <= number for known in self.published)
        assert self.published.setdefault(self.store.current.id, now) == now

    @rule(name=NAMES, rules=SAYING, renaming=st.booleans())
    def edit(self, name: str, rules: Mapping[str, Verdict], renaming: bool) -> None:
        if renaming:
            self.write("new.tmp", text_of(name, rules))
            os.replace(self.root / "new.tmp", self.root / name)
        else:
            self.write(name, text_of(name, rules))
        self.state[name] = rules

    @rule(name=NAMES, text=st.sampled_from(BROKEN))
    def break_one(self, name: str, text: str) -> None:
        self.write(name, text)
        self.state[name] = None

    @rule(name=NAMES)
    def delete(self, name: str) -> None:
        (self.root / name).unlink(missing_ok=True)
        self.state.pop(name, None)

    @precondition(lambda self: "writer.policy" in self.state)
    @rule()
    def rename_away_and_back(self) -> None:
        os.rename(self.root / "writer.policy", self.root / "away")
        os.rename(self.root / "away", self.root / "writer.policy")

    @rule()
    def move_the_root_and_back(self) -> None:
        away = self.root.with_name("away")
        os.rename(self.root, away)
        before = self.store.current
        self.store.reload()
        assert self.store.current is before
        assert self.store.status.stale
        os.rename(away, self.root)

    @rule()
    def look(self) -> None:
        before = self.store.current
        outcome = self.store.reload()
        assert outcome.changed == (self.store.current is not before)
        assert not self.store.reload().changed
        self.settled()

    @rule(rules=SAYING)
    def look_while_calls_are_decided(self, rules: Mapping[str, Verdict]) -> None:
        """Calls of another thread meet the old generation or the new one, whole."""
        self.edit("global.policy", rules, renaming=True)
        seen: list[tuple[str, str, Decision]] = []
        begun, done = threading.Event(), threading.Event()

        def call() -> None:
            while True:
                finished = done.is_set()
                for agent in AGENTS:
                    for tool, asked in CALLS.items():
                        decision = self.store.decide(asked, Caller(agent=agent))
                        seen.append((agent, tool, decision))
                begun.set()
                if finished:
                    return

        calling = threading.Thread(target=call)
        calling.start()
        begun.wait()
        self.store.reload()
        done.set()
        calling.join()
        self.settled()
        for agent, tool, decision in seen:
            self.compare(agent, tool, decision)

    @invariant()
    def every_verdict_is_one_generations(self) -> None:
        if not hasattr(self, "store"):
            return
        for agent in AGENTS:
            for tool, asked in CALLS.items():
                decision = self.store.decide(asked, Caller(agent=agent))
                self.compare(agent, tool, decision)
                if self.in_force is not None:
                    assert decision.verdict is self.in_force[agent, tool]

    def compare(self, agent: str, tool: str, decision: Decision) -> None:
        if decision.generation is None:
            assert decision.verdict is Verdict.DENY
            assert not self.published
            return
        assert decision.verdict is self.published[decision.generation][agent, tool]

    def teardown(self) -> None:
        self.home.cleanup()


Editing.TestCase.settings = settings(
    max_examples=examples(25),
    stateful_step_count=25,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
TestEditing = Editing.TestCase
