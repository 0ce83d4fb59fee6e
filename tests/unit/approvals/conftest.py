"""Runs every test of the approvals store both in memory and with a file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from policy.approvals import Bounds
from tests.unit.approvals.desks import MakeStore, Store, makers


@pytest.fixture(params=["memory", "sqlite"])
def make_store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[MakeStore]:
    """What makes the one store of a test; a file is closed after it."""
    made: list[Store] = []

    def make(bounds: Bounds) -> Store:
        made.append(makers(tmp_path)[request.param](bounds))
        return made[-1]

    yield make
    for store in made:
        store.close()


@pytest.fixture
def store(make_store: MakeStore) -> Store:
    """A store of usual size."""
    return make_store(Bounds())
