"""A worker of the attack, for the tests that run scripts in its sandbox."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.attack.crew import Worker
from tests.attack.sandbox import missing


def _why_not() -> str:
    """Return why no script can be run here; empty where they can."""
    if missing():
        return f"scripts are run in a sandbox, which needs {', '.join(missing())}"
    try:
        with Worker() as worker:
            worker.ask({"rules": "inside", "script": "true"})
    except (RuntimeError, OSError):
        return "this machine lets nobody make a sandbox with bubblewrap"
    return ""


@pytest.fixture(scope="module")
def worker() -> Iterator[Worker]:
    why = _why_not()
    if why:
        pytest.skip(why)
    with Worker() as started:
        yield started
