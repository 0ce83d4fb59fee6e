"""`placet daemon stop`: one daemon, or all of them."""

from __future__ import annotations

import pytest

from policy.cli import daemon
from tests.unit.cli.running import run

pytestmark = pytest.mark.people


@pytest.fixture
def stopped(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Two daemons that can be stopped, and the sockets of those that are."""
    gone: list[str] = []
    there = [{"socket": f"/run/{name}", "policy": f"/srv/{name}", "problem": None} for name in "ab"]
    monkeypatch.setattr(daemon, "daemons", lambda: there)
    monkeypatch.setattr(daemon, "stop_daemon", gone.append)
    return gone


def test_the_daemon_of_one_policy_is_stopped(stopped: list[str]) -> None:
    found = run("daemon", "stop", "/srv/a/")
    assert (found.code, found.out) == (0, "stopped the daemon of /srv/a\n")
    assert stopped == ["/run/a"]


def test_without_a_policy_all_are_stopped(stopped: list[str]) -> None:
    assert run("daemon", "stop").code == 0
    assert stopped == ["/run/a", "/run/b"]


def test_a_policy_without_a_daemon_is_an_error_that_lists_those_that_run(
    stopped: list[str],
) -> None:
    found = run("daemon", "stop", "/srv/c")
    assert (found.code, stopped) == (1, [])
    assert "no daemon of /srv/c is running; those that run: /srv/a, /srv/b" in found.err
