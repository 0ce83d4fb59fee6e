"""Which driver confines programs where several could."""

from __future__ import annotations

from pathlib import Path

import pytest

from policy.sandbox import SandboxMissing, driver_named
from tests.unit.sandbox.confining import needs_bubblewrap, needs_landlock, plan_in, run


@needs_bubblewrap
def test_bubblewrap_is_the_best() -> None:
    driver = driver_named("best")
    assert driver.name == "best"
    assert driver.problem() is None
    assert driver.name == "bubblewrap"


@needs_landlock
def test_the_next_one_is_taken_where_it_does_not_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("policy.sandbox.bubblewrap.PROGRAMS", str(tmp_path))
    driver = driver_named("best")
    assert run(plan_in(tmp_path), "ls /proc", driver).stderr.endswith("Permission denied\n")
    assert driver.name == "landlock"


def test_without_any_nothing_starts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("policy.sandbox.bubblewrap.PROGRAMS", str(tmp_path))
    monkeypatch.setattr("policy.sandbox.landlock.version", lambda: 0)
    with pytest.raises(SandboxMissing, match=r"`bwrap` is not installed.*; Landlock is needed"):
        run(plan_in(tmp_path), "true", driver_named("best"))
