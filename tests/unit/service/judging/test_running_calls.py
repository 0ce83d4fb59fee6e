"""An edit takes connections away from a call that runs, and gives it none."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

import pytest

from policy.environment import FactSource
from policy.generation import Generation, load
from policy.model import CONFINED_VERBS, CalledTool, Caller, ReleasedCall, SandboxTier
from policy.service import Adjudicator
from policy.service.judging.adjudicator import Judgement
from policy.service.judging.running_call import RunningCall
from policy.service.sessions import MemorySessionLog
from policy.service.sessions.session_log import JudgedHistory
from policy.store import Freezer

TIER = SandboxTier(name="bubblewrap", enforces=frozenset(CONFINED_VERBS))
HOSTS = ("a.test", "b.test")
WHY = "the call that runs is not allowed any more"
TESTS = 'tests: allow bash_exec when runs only "make *" and connects only to '


class World:
    """A policy that is edited while one call runs."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._built: dict[str, Generation] = {}
        self.running: RunningCall | None = None
        self.judge: Generation
        self.freezer = Freezer()
        self.sessions = MemorySessionLog()
        self.now = datetime(2026, 1, 1, tzinfo=UTC)
        facts = FactSource(
            workspace=str(folder),
            clock=lambda: self.now,
            history=partial(JudgedHistory, self.sessions),
        )
        self.adjudicator = Adjudicator(
            source=lambda: self.judge,
            fact_source=facts,
            freezer=self.freezer,
            sandbox=lambda judge, tool: TIER,
            running=lambda: self.running,
        )

    def edit(self, rules: str, *connects: str) -> None:
        hosts = ", ".join(f'"{host}"' for host in connects)
        settings = f'[sandbox]\ndriver = "bubblewrap"\nnetwork = "hosts"\nconnects = [{hosts}]\n'
        text = f"policy for every agent\n\ndefault deny\n\n{rules}\n"
        if settings + text not in self._built:
            (self._folder / "placet.toml").write_text(settings)
            (self._folder / "global.policy").write_text(text)
            self._built[settings + text] = load(self._folder)
        self.judge = self._built[settings + text]

    async def run(self, command: str = "make x") -> Judgement:
        """Release a call of a command, which runs from then on."""
        self.running = None
        judgement = await self.adjudicator.judge("bash_exec", {"command": command}, Caller())
        self.sessions.release(
            Caller(),
            judgement.released("own"),
            judged_by=judgement.history_read,
            charges=judgement.decision.charges,
        )
        self.running = RunningCall(
            decision=judgement.decision,
            caller=Caller(),
            facts=judgement.facts,
            judge=judgement.judge,
            called=judgement.called,
            names=("bash_exec",),
            id="own",
        )
        return judgement

    async def asked(self, host: str) -> Judgement:
        return await self.adjudicator.judge(
            "sandbox_connect", {"url": f"https://{host}:443"}, Caller()
        )

    async def reached(self) -> set[str]:
        return {host for host in HOSTS if (await self.asked(host)).decision.verdict == "allow"}

    async def refusal(self, host: str = "a.test") -> str:
        return str((await self.asked(host)).error)


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


# Rules, and the hosts of `[sandbox] connects`.
POLICIES: tuple[tuple[str, tuple[str, ...]], ...] = (
    (TESTS + '"a.test"', ("b.test",)),
    (TESTS + '["a.test", "b.test"]', ("b.test",)),
    (TESTS + '"b.test"', ()),
    (TESTS + "nothing", ("*.test",)),
    ("allow bash_exec", ("*.test",)),
    ("allow bash_exec", ()),
    ('allow bash_exec\ndeny * when connects to "b.test"', ("*.test",)),
    ('allow bash_exec\nallow sandbox_connect when connects only to "a.test"', ("b.test",)),
    (TESTS + '"a.test"\nallow sandbox_connect', ()),
    ("allow file_read", ("*.test",)),
    ('allow bash_exec\ndeny bash_exec when runs "make *"', ("*.test",)),
)


async def test_a_running_call_reaches_what_the_policies_before_and_after_an_edit_allow(
    world: World,
) -> None:
    fresh = {}
    for policy in POLICIES:
        world.edit(policy[0], *policy[1])
        allowed = (await world.run()).error is None
        fresh[policy] = await world.reached() if allowed else set()
    assert set(map(frozenset, fresh.values())) > {frozenset(), frozenset({"a.test"})}
    for before in POLICIES:
        if not fresh[before]:
            continue
        world.edit(before[0], *before[1])
        await world.run()
        for after in POLICIES:
            world.edit(after[0], *after[1])
            assert await world.reached() == fresh[before] & fresh[after], (before, after)


BOUND = TESTS + '"a.test"'
OTHER = "\nother: allow file_read"


@pytest.mark.parametrize(
    "limit",
    [
        "limit bash_exec to 1 per hour",
        # Less than what the call was charged.
        "limit bash_exec to 0 per hour",
        # An amount that the call does not have.
        "limit bash_exec to 5 of input.timeout per hour",
    ],
)
async def test_a_limit_takes_nothing_from_a_call_that_runs(world: World, limit: str) -> None:
    world.edit(f"{BOUND}\nlimit bash_exec to 1 per hour", "b.test")
    await world.run()
    world.edit(f"{BOUND}\n{limit}{OTHER}", "b.test")
    assert await world.reached() == {"a.test"}


async def test_the_start_of_a_call_is_no_earlier_call_of_it(world: World) -> None:
    once = "once: deny bash_exec after bash_exec within 1h"
    world.edit(f"{BOUND}\n{once}", "b.test")
    await world.run()
    world.edit(f"{BOUND}\n{once}{OTHER}", "b.test")
    assert await world.reached() == {"a.test"}
    # Nor is it one where no rule had looked at earlier calls before.
    world.edit(BOUND, "b.test")
    world.now += timedelta(hours=2)
    await world.run()
    world.edit(f"{BOUND}\n{once}", "b.test")
    assert await world.reached() == {"a.test"}


@pytest.mark.parametrize("kept", [True, False])
async def test_what_earlier_calls_held_is_read_without_the_call_itself(
    world: World, kept: bool
) -> None:
    reads = 'seen: deny bash_exec when any c in calls(bash_exec): c.input.command == "make x"'
    earlier = reads.replace("make x", "make y") if kept else ""
    world.edit(f"{BOUND}\n{earlier}", "b.test")
    await world.run()
    world.edit(f"{BOUND}\n{reads}", "b.test")
    assert await world.reached() == {"a.test"}


async def test_another_call_of_the_session_counts(world: World) -> None:
    world.edit(BOUND, "b.test")
    await world.run()
    world.now += timedelta(minutes=5)
    await world.run("make y")
    release = world.sessions.release(
        Caller(), ReleasedCall(tool=CalledTool(name="file_read"), at=world.now), judged_by=None
    )
    assert release is not None
    world.sessions.finish(release, "ok")
    world.edit(f"{BOUND}\nonce: deny bash_exec after file_read within 1h", "b.test")
    assert await world.reached() == set()


async def test_an_approval_stands_until_a_rule_asks_for_another_one(world: World) -> None:
    asks = "asks: ask bash_exec"
    world.edit(f"{BOUND}\n{asks}", "b.test")
    await world.run()
    world.edit(f"{BOUND}\n{asks}{OTHER}", "b.test")
    assert await world.reached() == {"a.test"}
    world.edit(f'{BOUND}\n{asks} by "security"', "b.test")
    assert "would need an approval now" in await world.refusal()
    world.edit(BOUND, "b.test")
    assert await world.reached() == {"a.test"}
    await world.run()
    world.edit(f"{BOUND}\n{asks}", "b.test")
    assert "would need an approval now" in await world.refusal()


async def test_a_connection_that_needed_an_approval_needs_it_after_an_edit(world: World) -> None:
    asks = "asks: ask sandbox_connect"
    world.edit(f"{BOUND}\n{asks}")
    await world.run()
    world.edit(BOUND)
    found = (await world.asked("a.test")).decision
    assert (found.verdict, found.deciding[0].rule) == ("ask", "asks")
    world.edit(f"{BOUND}\n{asks}{OTHER}")
    assert len((await world.asked("a.test")).decision.deciding) == 1


async def test_a_frozen_tool_has_no_further_connections(world: World) -> None:
    world.edit(BOUND)
    await world.run()
    world.freezer.freeze(["file_read"], because="stop")
    assert await world.reached() == {"a.test"}
    world.freezer.freeze(["bash_*"], because="stop")
    assert await world.reached() == set()
    assert await world.refusal() == "stop"
    world.freezer.unfreeze()
    assert await world.reached() == {"a.test"}


async def test_a_refusal_says_that_the_call_or_the_policy_before_is_why(world: World) -> None:
    world.edit(BOUND)
    await world.run()
    world.edit("allow file_read", "a.test")
    assert WHY in await world.refusal()
    world.edit(f'{BOUND}\nno-make: deny bash_exec when runs "make *"')
    (reason, *_) = (await world.asked("a.test")).decision.deciding
    assert (reason.rule, reason.message) == ("no-make", WHY)
    world.edit("allow bash_exec", "b.test")
    assert "the policy that released the running call does not allow it" in str(
        (await world.asked("b.test")).error
    )


async def test_what_runs_is_judged_as_it_runs(world: World) -> None:
    rewritten = (
        "allow bash_exec\n"
        'rewrite bash_exec when input.command == "make x" set input.command = "make y"'
    )
    world.edit(rewritten, "*.test")
    judgement = await world.run()
    assert judgement.decision.call.input["command"] == "make y"
    world.edit('allow bash_exec\ndeny bash_exec when input.command == "make y"', "*.test")
    assert await world.reached() == set()
