"""Which callers may call at all, through the service: with a policy store and without one."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from policy import Caller, GuestScope, PermissionDenied, build_tool_service
from policy.approvals import Approved, TimedOut
from policy.audit import MemorySink
from policy.catalog import Origin, ToolSpec
from policy.service import Allow, Classification, Deny, IdentityContext, PolicyEngine
from tests.fakes import CountingHandler, FakeClock, spec_of
from tests.service.registry.stage import Governed, versioned

OWNER = Caller()
ANONYMOUS = Caller(role="anonymous")
NO_SCOPE = Caller(role="guest")


def guest(*tools: str, expires: datetime | None = None, parent: Caller | None = None) -> Caller:
    scope = GuestScope(allowed_tools=tools, expires_at=expires)
    return Caller(role="guest", scope=scope, parent=parent)


class Everything:
    """A filter that lets everything through."""

    def classify(self, name: str, input: Any) -> Classification:
        return Allow()


CASES = [
    (OWNER, True),
    (Caller(role="operator"), True),
    (ANONYMOUS, False),
    (Caller(role=""), False),
    (Caller(role=" Anonymous "), False),
    (NO_SCOPE, False),
    (Caller(role="GUEST"), False),
    (guest("look"), True),
    (guest("lo*"), True),
    (guest("l??k"), True),
    (guest("other", "look"), True),
    (guest("LOOK"), False),
    (guest("loo"), False),
    (guest(), False),
    # Each caller of the chain is judged on its own.
    (Caller(agent="helper", parent=guest("look")), True),
    (Caller(agent="helper", parent=guest("other")), False),
    (Caller(agent="helper", parent=Caller(parent=ANONYMOUS)), False),
    (guest("look", parent=OWNER), True),
    (guest("other", parent=OWNER), False),
    (guest("look", parent=guest("other")), False),
]


@pytest.mark.parametrize(("who", "may"), CASES)
async def test_an_identity_is_checked_with_a_policy_and_without_one(
    who: Caller, may: bool, tmp_path: Path
) -> None:
    look = CountingHandler("look")
    g = Governed(tmp_path, "allow *\n", look)
    bare = build_tool_service(tools=[look], workspace=tmp_path, audit=MemorySink())
    bare.set_smart_filter(Everything())
    for service in (g.service, bare):
        before = len(look.inputs)
        bound = service.bound_to(who)
        assert bool(bound.list()) is may
        if may:
            await bound.execute("look", {})
        else:
            with pytest.raises(PermissionDenied) as refused:
                await bound.execute("look", {})
            assert refused.value.code in ("outside-scope", "unknown-caller")
        assert len(look.inputs) - before == int(may)
    said = PolicyEngine(FakeClock()).check(who, look.spec)
    assert isinstance(said, Allow) is may


@pytest.mark.parametrize(
    "rules", ["allow look\n", "allow look with approval\n", "ask look\nallow look\n"], ids=str
)
async def test_a_scope_never_widens_what_rules_give(rules: str, tmp_path: Path) -> None:
    g = Governed(tmp_path, rules, CountingHandler("look"), CountingHandler("secret"))
    assert (await g.call("secret", guest("*"))).startswith("permission-denied")


@pytest.mark.parametrize(("after", "may"), [(-1, True), (0, False), (1, False)])
async def test_a_scope_ends_at_its_very_moment(after: int, may: bool, tmp_path: Path) -> None:
    look = CountingHandler("look")
    g = Governed(tmp_path, "allow *\n", look)
    ends = g.clock() + timedelta(seconds=60)
    who = guest("look", expires=ends)
    g.clock.move(seconds=60 + after)
    assert (await g.call("look", who) == {}) is may
    assert bool(g.shown(who)) is may
    assert isinstance(PolicyEngine(g.clock).check(who, "look"), Allow) is may
    # In whatever zone the end is told, and UTC where none is.
    bare = guest("look", expires=ends.astimezone(UTC).replace(tzinfo=None))
    assert (await g.call("look", bare) == {}) is may


async def test_a_scope_that_has_ended_stays_so_when_the_clock_steps_back(tmp_path: Path) -> None:
    look = CountingHandler("look")
    g = Governed(tmp_path, "allow *\n", look)
    engine = PolicyEngine(g.clock)
    first = guest("look", expires=g.clock() + timedelta(seconds=60))
    later = guest("look", expires=g.clock() + timedelta(seconds=600))
    helper = Caller(agent="helper", parent=first)
    assert await g.call("look", first) == {}
    g.clock.move(seconds=60)
    assert await g.call("look", first) == "permission-denied/outside-scope"
    assert isinstance(engine.check(first, "look"), Deny)
    g.clock.move(seconds=-30)
    for who in (first, helper, Caller(agent="deeper", parent=helper)):
        assert await g.call("look", who) == "permission-denied/outside-scope"
        assert isinstance(engine.check(who, "look"), Deny)
    # What has not ended goes on, and so does what ends later.
    for who in (later, OWNER):
        assert await g.call("look", who) == {}
        assert isinstance(engine.check(who, "look"), Allow)


async def test_a_scope_that_ends_while_somebody_is_asked_ends_the_call(tmp_path: Path) -> None:
    look = CountingHandler("look")

    class Slow:
        asked = 0

        async def ask(self, request: Any) -> Approved | TimedOut:
            self.asked += 1
            g.clock.move(seconds=120)
            return Approved(by="ada")

    slow = Slow()
    g = Governed(tmp_path, "allow look with approval\n", look, approver=slow)
    who = guest("look", expires=g.clock() + timedelta(seconds=60))
    assert await g.call("look", who) == "permission-denied/outside-scope"
    assert (slow.asked, look.inputs) == (1, [])
    assert g.records[-1].outcome == "denied"


async def test_nobody_is_asked_for_a_caller_who_may_not_call(tmp_path: Path) -> None:
    class Never:
        async def ask(self, request: Any) -> Approved:
            raise AssertionError("somebody was asked")

    g = Governed(tmp_path, "allow look with approval\n", CountingHandler("look"), approver=Never())
    for who in (ANONYMOUS, NO_SCOPE, guest("other")):
        assert (await g.call("look", who)).startswith("permission-denied")


def test_the_engine_says_why() -> None:
    clock = FakeClock()
    engine = PolicyEngine(clock)
    spec: ToolSpec = spec_of("look")
    assert engine.check(OWNER, spec) == Allow()
    for who, word in [
        (ANONYMOUS, "the caller is anonymous"),
        (NO_SCOPE, "without a scope"),
        (guest("other"), "outside the guest's scope"),
        (guest("look", expires=clock()), "expired"),
    ]:
        said = engine.check(who, spec)
        assert isinstance(said, Deny)
        assert word in said.reason


def test_the_engine_knows_versions() -> None:
    engine = PolicyEngine(FakeClock())
    spec = versioned("look", 2).spec
    assert engine.check(guest("look"), spec) == Allow()
    assert engine.check(guest("look@2"), spec) == Allow()
    assert isinstance(engine.check(guest("look@1"), spec), Deny)


class OfAServer(CountingHandler):
    """The tool `rm` of a reviewed server that calls itself `file_x`."""

    @property
    def spec(self) -> ToolSpec:
        return replace(super().spec, origin=Origin(kind="mcp", server="file_x", tool="rm"))


@pytest.mark.parametrize(
    ("patterns", "may"),
    [
        (("file_*", "*rm", "file_?__rm", "?*", ""), False),
        (("file_x__*",), True),
        (("file_x__rm",), True),
        (("*",), True),
    ],
)
async def test_a_wildcard_reaches_a_server_only_where_it_is_spelled_out(
    patterns: tuple[str, ...], may: bool, tmp_path: Path
) -> None:
    rm = OfAServer("file_x__rm")
    g = Governed(tmp_path, "allow file_x__*\n", rm)
    bare = build_tool_service(tools=[rm], workspace=tmp_path, audit=MemorySink())
    bare.set_smart_filter(Everything())
    who = guest(*patterns)
    for service in (g.service.bound_to(who), bare.bound_to(who)):
        assert bool(service.list()) is may
        if may:
            await service.execute("file_x__rm", {})
        else:
            with pytest.raises(PermissionDenied):
                await service.execute("file_x__rm", {})
    for tool in (rm.spec, "file_x__rm"):
        assert isinstance(PolicyEngine(FakeClock()).check(who, tool), Allow) is may


@pytest.mark.parametrize(
    ("name", "pattern", "may"),
    [
        ("file_read", "file_*", True),
        ("a___b", "a___*", True),
        ("a___b", "a__*", False),
        ("ext__a__b", "ext__*", False),
        ("ext__a__b", "ext__a__*", True),
        ("ext__a", "ext__*", False),
        ("__a", "__*", False),
        ("", "*", True),
        ("", "", False),
    ],
)
def test_a_name_alone_is_read_as_what_wildcards_reach_least(
    name: str, pattern: str, may: bool
) -> None:
    assert isinstance(PolicyEngine(FakeClock()).check(guest(pattern), name), Allow) is may


def test_the_identity_of_a_call_is_its_caller() -> None:
    assert IdentityContext is Caller
