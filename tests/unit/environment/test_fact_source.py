"""Links and host names as this system resolves them."""

from __future__ import annotations

from pathlib import Path

from policy.environment import FactSource, JudgedHosts, follow_links, look_up_host
from policy.model import Caller, Facts


def test_links_are_followed_as_far_as_there_is_something(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    assert follow_links(str(tmp_path / "link/new/x")) == str(tmp_path / "real/new/x")
    assert follow_links(str(tmp_path / "none/x")) == str(tmp_path / "none/x")


def test_where_a_link_leads_round_in_circles_is_unknown(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    assert follow_links(str(tmp_path / "a")) is None
    assert follow_links("/a\0b") is None


async def test_a_name_is_resolved_by_the_system_or_not_at_all() -> None:
    found = await look_up_host("localhost")
    assert found is not None
    assert set(found) <= {"127.0.0.1", "::1"}
    assert await look_up_host("") is None
    assert await look_up_host("x" * 300) is None


async def test_a_call_causes_only_so_many_look_ups() -> None:
    asked: list[str] = []

    async def look_up(name: str) -> tuple[str, ...] | None:
        asked.append(name)
        return ("192.0.2.1",)

    def ask(facts: Facts) -> list[tuple[str, ...] | None]:
        resolve = facts.resolvers.host
        assert resolve is not None
        return [resolve(f"{number}.example") for number in range(1_000)]

    answers, facts = await FactSource(look_up=look_up).evaluate(ask, Caller())
    assert len(asked) == len(set(asked)) == 100
    assert answers.count(None) == 900
    # What did not resolve when it was judged is not looked up for the tool either.
    hosts = facts.resolvers.host
    assert isinstance(hosts, JudgedHosts)
    assert await hosts.addresses("999.example") is None
    assert await hosts.addresses("0.example") == ("192.0.2.1",)
    assert len(asked) == 100


async def test_what_nobody_judged_is_looked_up_for_the_tool_as_the_service_does() -> None:
    async def look_up(name: str) -> tuple[str, ...] | None:
        return ("192.0.2.7",)

    _, facts = await FactSource(look_up=look_up).evaluate(lambda facts: None, Caller())
    hosts = facts.resolvers.host
    assert isinstance(hosts, JudgedHosts)
    assert await hosts.addresses("a.example") == ("192.0.2.7",)
