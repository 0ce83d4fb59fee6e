"""Text that bash evaluates a second time never runs unseen.

The whole engine decides each script under a deny for what is hidden in it, and real bash tells
whether it runs.
"""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings

from policy.model import Verdict
from tests.corpora.judging import told
from tests.examples import examples
from tests.laws.denied_touch import decided
from tests.laws.real_shells import run
from tests.laws.reevaluated_text import HIDINGS, OTHERS, PLACES, second_readings

# Which forms run something differs by version; what is allowed is asked with any.
_VERSION = subprocess.run(
    ["/bin/bash", "-c", "echo ${BASH_VERSINFO[0]}.${BASH_VERSINFO[1]}"],
    capture_output=True,
    check=False,
)
of_this_bash = pytest.mark.skipif(_VERSION.stdout.strip() != b"5.2", reason="another bash")


def _judged(script: str) -> tuple[Verdict, str]:
    decision = decided(script)
    return decision.verdict, told(decision)


def _makes_the_file(script: str) -> bool:
    with tempfile.TemporaryDirectory() as folder:
        env = {"HOME": "/home/user", "LC_ALL": "C.UTF-8", "PATH": "/usr/bin:/bin"}
        run("/bin/bash", script, folder=Path(folder), env=env)
        return (Path(folder) / "M").exists()


@settings(max_examples=examples(150))
@given(second_readings())
def test_a_script_that_runs_hidden_text_is_not_allowed(script: str) -> None:
    verdict, why = _judged(script)
    if verdict is Verdict.ALLOW:
        assert not _makes_the_file(script), f"{script}\n{why}"


@of_this_bash
@pytest.mark.parametrize("script", OTHERS)
def test_known_ways_to_run_hidden_text_are_not_allowed(script: str) -> None:
    assert _makes_the_file(script)
    verdict, why = _judged(script)
    assert verdict is not Verdict.ALLOW, why


@of_this_bash
@pytest.mark.parametrize("place", PLACES)
def test_every_place_evaluates_some_text_again(place: str) -> None:
    running = next((word for word in HIDINGS if _runs(place, word)), None)
    assert running is not None
    verdict, why = _judged(running[0] + place.replace("W", running[1]))
    assert verdict is not Verdict.ALLOW, why


@of_this_bash
@pytest.mark.parametrize(("before", "word"), HIDINGS)
def test_every_disguise_hides_text_somewhere(before: str, word: str) -> None:
    assert any(_runs(place, (before, word)) for place in PLACES)


def _runs(place: str, hiding: tuple[str, str]) -> bool:
    return _makes_the_file(hiding[0] + place.replace("W", hiding[1]))
