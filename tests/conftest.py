"""The settings of all tests: Hypothesis profiles, and the option that rewrites golden cases."""

from __future__ import annotations

import gc
import os
import signal
import tempfile
from collections.abc import Generator, Iterator

import pytest
from hypothesis import HealthCheck, settings

from tests.examples import FEW, FULL, LONG

# A collection walks what tests keep, and finds little. The last number bounds how long those files
# stay open that only a full collection closes.
gc.set_threshold(5_000, 10, 10)

# Hundreds of tests start processes; each would compile every module anew.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# What Placet keeps for a user is kept apart from that of whoever runs the tests.
_STATE = tempfile.TemporaryDirectory(prefix="placet-state-")
os.environ["XDG_STATE_HOME"] = _STATE.name

# A shell that runs the tests in the background has them ignore interrupts, and with them every
# process that they start.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# No time limits anywhere: a slow machine is not a broken law.
for _name, _count in (("quick", FEW), ("full", FULL)):
    settings.register_profile(
        _name,
        max_examples=_count,
        deadline=None,
        derandomize=True,  # a failure belongs to the change that shows it
        suppress_health_check=[HealthCheck.too_slow],
    )
settings.register_profile(
    "long",
    max_examples=LONG,
    deadline=None,
    derandomize=False,
    suppress_health_check=[HealthCheck.too_slow],
    print_blob=True,
)
settings.load_profile("quick")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-cases",
        action="store_true",
        help="rewrite the expectations of the golden cases to what is produced now",
    )


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("--update-cases") and config.getoption("numprocesses", None):
        raise pytest.UsageError("--update-cases writes files: run it without -n")


def pytest_unconfigure(config: pytest.Config) -> None:
    _STATE.cleanup()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    marked = [item for item in items if item.get_closest_marker("people")]
    found = _agent() if marked else None
    for item in marked if found else ():
        item.add_marker(pytest.mark.skip(f"for people, and {found} started the tests"))


def _agent() -> str | None:
    from policy.cli.people_only import agent_above

    return agent_above(os.environ.keys(), os.getppid())


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Keep the garbage collector from walking what is collected, which stays to the end.

    Afterwards it is old, and rarely walked. It is not left frozen: whoever asks for the number of
    frozen objects counts them one by one, as each build of a policy does.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.unfreeze()
        gc.enable()


@pytest.fixture(scope="module", autouse=True)
def _proofs_in_this_process(request: pytest.FixtureRequest) -> Iterator[None]:
    """Prove and compare edits in this process, but for tests of the process that does."""
    if request.node.get_closest_marker("proof_process"):
        yield
        return
    from policy.store.proving.process import ProofProcess
    from tests.proofs_in_this_process import ask

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(ProofProcess, "ask", ask)
        yield


@pytest.fixture
def update_cases(request: pytest.FixtureRequest) -> bool:
    """Whether the run rewrites expectations instead of comparing them."""
    return bool(request.config.getoption("--update-cases"))
