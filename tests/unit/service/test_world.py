"""Links and names as the system has them."""

from __future__ import annotations

from pathlib import Path

from policy.reload import follow_links
from policy.service.world import look_up_host


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
