"""Tree look-ups run beside the event loop, and their answers do not change during a call."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

import policy
from policy.environment import Disk, DiskLookups, FactSource
from policy.model import Caller, DiskAnswer, DiskQuery, Facts, Verdict
from policy.service import Adjudicator

_POLICY = """\
policy for every agent

default deny
act: allow bash_exec when runs only anything and reads only workspace and writes only workspace
keys: deny bash_exec when reads "**/.env"
"""


@pytest.fixture
def here(tmp_path: Path) -> Path:
    (tmp_path / "ws/many").mkdir(parents=True)
    for number in range(1000):
        (tmp_path / f"ws/many/{number}").touch()
    (tmp_path / "ws/few").mkdir()
    return (tmp_path / "ws").resolve()


def look_at(folder: Path) -> DiskQuery:
    return DiskQuery(place=str(folder), spelled=str(folder), tree=True)


async def test_a_long_look_is_made_in_another_thread(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    where: list[threading.Thread] = []
    real = DiskLookups.look_up

    def noted(looking: DiskLookups, asked: DiskQuery) -> DiskAnswer:
        where.append(threading.current_thread())
        return real(looking, asked)

    monkeypatch.setattr(DiskLookups, "look_up", noted)

    def ask(facts: Facts) -> tuple[DiskAnswer | None, ...]:
        look = facts.resolvers.look
        assert look is not None
        return look(look_at(here / "few")), look(look_at(here / "many"))

    (few, many), facts = await FactSource().evaluate(ask, Caller())
    assert few is not None
    assert few.complete
    assert many is not None
    assert len(many.contents[0].names) == 1000
    assert [thread is threading.main_thread() for thread in where] == [False]
    (here / "many/new").touch()
    assert facts.resolvers.look is not None
    assert facts.resolvers.look(look_at(here / "many")) is many


@pytest.mark.parametrize("hidden", [False, True])
async def test_a_call_is_decided_by_what_its_tree_holds(hidden: bool, here: Path) -> None:
    if hidden:
        (here / "many/.env").touch()
    rules = here.parent / "rules"
    rules.mkdir()
    (rules / "global.policy").write_text(_POLICY)
    generation = policy.load(rules)
    adjudicator = Adjudicator(
        source=lambda: generation, fact_source=FactSource(workspace=str(here), disk=Disk())
    )
    judged = await adjudicator.judge("bash_exec", {"command": "grep -rn foo many"}, Caller())
    assert judged.decision.verdict is (Verdict.DENY if hidden else Verdict.ALLOW)
