"""The objects that a call creates on its way: frozen, and unaffected by later changes."""

from __future__ import annotations

import asyncio
import os
from dataclasses import FrozenInstanceError, fields, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import policy
from policy.audit import MemorySink, digest_of
from policy.environment import FactSource
from policy.model import Caller, PermissionDenied, ToolCall
from policy.service import Adjudicator, GovernedService, ToolEvent, build_tool_service
from policy.service.in_flight import InFlight
from policy.service.judging.judge import NoPolicy
from policy.service.judging.known_tools import KnownTools
from policy.service.layers.time_limits import TimeLimits
from policy.tools import ExecutionContext
from tests.fakes import CountingHandler

RULES = """policy for every agent
default deny
small: allow echo when input.n < 10
"""


def store_in(folder: Path, rules: str = RULES) -> policy.PolicyStore:
    (folder / "global.policy").write_text(rules)
    handler = CountingHandler()
    catalog = policy.builtin_catalog().with_tools([handler.spec])
    store = policy.PolicyStore(folder, catalog=catalog)
    assert store.current is not None, store.status
    return store


def service_over(folder: Path, **more: Any) -> tuple[GovernedService, CountingHandler, MemorySink]:
    handler, sink = CountingHandler(), MemorySink()
    return (
        build_tool_service(store_in(folder), tools=[handler], audit=sink, **more),
        handler,
        sink,
    )


def require_frozen(made: object) -> None:
    with pytest.raises(FrozenInstanceError):
        setattr(made, fields(made)[0].name, None)  # type: ignore[arg-type]


async def test_what_calls_make_cannot_be_changed(tmp_path: Path) -> None:
    service, handler, sink = service_over(tmp_path)
    output = await service.execute("echo", {"n": 1})
    with pytest.raises(PermissionDenied):
        await service.execute("echo", {"n": 10})
    (context,) = handler.contexts
    facts = context.facts
    for made in (output, output.metadata, context, facts, facts.resolvers, *sink.records):
        require_frozen(made)
    generation = store_in(tmp_path).current
    require_frozen(await Adjudicator(source=lambda: generation).judge("echo", {"n": 1}, Caller()))


async def test_facts_are_those_of_the_world_and_its_disk() -> None:
    naive = datetime(2026, 11, 22, 9)  # noqa: DTZ001 - a clock of a host may have no zone
    world = FactSource(
        workspace="/w", home="/h", clock=lambda: naive, context=lambda who: {"a": who.agent}
    )
    facts, hosts = world.facts_for_call(Caller(agent="coder"))
    assert (facts.cwd, facts.workspace, facts.home) == ("/w", "/w", "/h")
    assert facts.now == naive.replace(tzinfo=UTC)
    assert facts.context == {"a": "coder"}
    assert facts.resolvers.host is hosts
    assert facts.resolvers.look is hosts.trees
    seen = world.disk.resolvers()
    assert facts.resolvers.path is not None
    assert seen.path is not None
    assert facts.resolvers.path("/") == seen.path("/")


async def test_what_is_changed_after_a_call_is_not_changed_in_its_record(tmp_path: Path) -> None:
    service, _, sink = service_over(tmp_path)
    input: dict[str, Any] = {"n": 1, "more": [{"a": "x"}]}
    digest = digest_of(input)
    await service.execute("echo", input)
    input["n"] = 2
    input["more"][0]["a"] = "y"
    record = sink.records[0]
    assert record.input == record.final_input
    assert (record.input_digest, record.final_digest) == (digest, digest)


async def test_a_tool_may_change_its_input_and_the_record_stands(tmp_path: Path) -> None:
    service, handler, sink = service_over(tmp_path)
    input = {"n": 1, "more": {"a": ["x"]}}
    await service.execute("echo", input)
    handler.inputs[0]["more"]["a"].append("y")
    assert sink.records[0].final_digest == digest_of(input)


async def test_limits_follow_the_policy_in_force_and_the_tools_there_are(tmp_path: Path) -> None:
    (tmp_path / "placet.toml").write_text("[timeouts.tools]\necho = '7s'\n")
    service, _, _ = service_over(tmp_path)
    limits = TimeLimits(None, {}, service.registry)
    store = store_in(tmp_path)
    adjudicator = Adjudicator(source=lambda: store.current, tools=service.registry.snapshot)

    async def limit() -> float:
        call = InFlight()
        call.judgement = await adjudicator.judge("echo", {"n": 1}, Caller())
        return limits("echo", call)

    assert (await limit(), await limit()) == (7, 7)
    (tmp_path / "placet.toml").write_text("[timeouts.tools]\necho = '9s'\n")
    store.reload()
    assert await limit() == 9
    assert limits("echo", None) == 30


async def test_a_tool_that_became_another_is_looked_at_again(tmp_path: Path) -> None:
    """What was found out of two definitions holds for these two, and for no others."""
    service, handler, _ = service_over(tmp_path)
    spec = handler.spec
    alike, unlike = replace(spec), replace(spec, requires_confirmation=True)
    entry = service.registry.snapshot()["echo"]
    ready = partial(KnownTools().is_ready, judge=NoPolicy(), call=ToolCall(tool="echo"))
    assert ready(entry, alike)
    other = replace(entry, handler=CountingHandler(requires_confirmation=True))
    assert not ready(other, alike)
    assert ready(other, unlike)
    assert ready(entry, alike)


def test_calls_have_names_of_their_own_in_every_process() -> None:
    ours = {InFlight().id for _ in range(1_000)}
    assert len(ours) == 1_000
    assert {len(name) for name in ours} == {32}
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(writing, "".join(InFlight().id for _ in range(100)).encode())
        os._exit(0)
    theirs = b""
    while len(theirs) < 3_200:
        theirs += os.read(reading, 3_200)
    os.waitpid(child, 0)
    os.close(reading)
    os.close(writing)
    next_ours = "".join(InFlight().id for _ in range(100))
    assert not {theirs.decode()[at : at + 32] for at in range(0, 3_200, 32)} & {
        next_ours[at : at + 32] for at in range(0, 3_200, 32)
    }


async def test_a_listener_that_comes_in_the_middle_of_a_call_hears_its_end(tmp_path: Path) -> None:
    started, go = asyncio.Event(), asyncio.Event()

    async def waits(input: dict[str, Any], ctx: ExecutionContext) -> None:
        started.set()
        await go.wait()

    handler = CountingHandler(body=waits)
    service = build_tool_service(store_in(tmp_path), tools=[handler], audit=MemorySink())
    heard: list[ToolEvent] = []
    running = asyncio.ensure_future(service.execute("echo", {"n": 1}))
    await started.wait()
    service.subscribe(heard.append)
    go.set()
    await running
    assert [event.name for event in heard] == ["stream.tool_end"]
