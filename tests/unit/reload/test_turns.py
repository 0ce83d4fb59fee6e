"""Threads take short turns while rules are built beside them, and then those they took before."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from policy.reload import PolicyStore
from policy.reload.turns import short_turns

LONG = 0.02


@pytest.fixture(autouse=True)
def long_turns() -> Iterator[None]:
    """Begin with turns that nobody else sets, and leave those that were found."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(LONG)
    yield
    sys.setswitchinterval(before)


def test_turns_are_short_until_the_last_is_done() -> None:
    begun, end = threading.Event(), threading.Event()

    def build() -> None:
        with short_turns():
            begun.set()
            end.wait()

    with short_turns():
        other = threading.Thread(target=build)
        other.start()
        begun.wait()
    assert sys.getswitchinterval() < LONG / 10
    end.set()
    other.join()
    assert sys.getswitchinterval() == pytest.approx(LONG, abs=1e-5)


def test_turns_are_as_before_after_a_mistake() -> None:
    with pytest.raises(ValueError, match="broken"), short_turns():
        raise ValueError("broken")
    assert sys.getswitchinterval() == pytest.approx(LONG, abs=1e-5)


def test_shorter_turns_stay_as_they_are() -> None:
    sys.setswitchinterval(0.0001)
    with short_turns():
        assert sys.getswitchinterval() == pytest.approx(0.0001, abs=1e-5)
    assert sys.getswitchinterval() == pytest.approx(0.0001, abs=1e-5)


def test_turns_that_somebody_set_meanwhile_stay() -> None:
    with short_turns():
        sys.setswitchinterval(0.001)
    assert sys.getswitchinterval() == pytest.approx(0.001, abs=1e-5)


def test_a_reload_takes_short_turns(tmp_path: Path) -> None:
    (tmp_path / "a.policy").write_text("policy for every agent\n\ndefault allow\n")
    store = PolicyStore(tmp_path)
    seen: list[float] = []
    store.subscribe(lambda _: seen.append(sys.getswitchinterval()))
    (tmp_path / "a.policy").write_text("policy for every agent\n\ndefault deny\n")
    assert store.reload().changed
    assert seen[0] < LONG / 10
    assert sys.getswitchinterval() == pytest.approx(LONG, abs=1e-5)
