"""The garbage collector is paused during a build, and restored afterwards."""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator

import pytest

from policy.generation.collector_pause import no_collecting


@pytest.fixture(autouse=True)
def as_before() -> Iterator[None]:
    """Leave the collector as it was found."""
    was_on = gc.isenabled()
    yield
    (gc.enable if was_on else gc.disable)()


def test_it_rests_until_the_last_is_done() -> None:
    gc.enable()
    begun, end = threading.Event(), threading.Event()

    def build() -> None:
        with no_collecting():
            begun.set()
            end.wait()

    with no_collecting():
        other = threading.Thread(target=build)
        other.start()
        begun.wait()
    assert not gc.isenabled()
    end.set()
    other.join()
    assert gc.isenabled()


def test_it_stays_off_for_who_turned_it_off() -> None:
    gc.disable()
    with no_collecting():
        pass
    assert not gc.isenabled()


def test_it_works_again_after_a_mistake() -> None:
    gc.enable()
    with pytest.raises(ValueError, match="broken"), no_collecting():
        raise ValueError("broken")
    assert gc.isenabled()


def test_what_somebody_froze_stays_frozen() -> None:
    gc.enable()
    gc.freeze()
    try:
        frozen = gc.get_freeze_count()
        with no_collecting():
            pass
        assert gc.get_freeze_count() == frozen
    finally:
        gc.unfreeze()
