"""The comparison of what scripts run with what was said of them, on a few scripts."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

import pytest

from tests.attack.option_values import OptionScene, scripts


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> OptionScene:
    return OptionScene(Path(tmp_path_factory.mktemp("options")))


def test_scripts_are_different_and_follow_from_a_number() -> None:
    first = list(islice(scripts(1), 50))
    assert first == list(islice(scripts(1), 50))
    assert len(set(first)) > 45


def test_a_command_that_rules_deny_is_found(scene: OptionScene) -> None:
    assert list(scene.forbidden("x=a.txt; rm $x", ["denied"])) == [("denied", ["rm", "a.txt"])]
    assert list(scene.forbidden("head a.txt", ["denied"])) == []


@pytest.mark.parametrize(
    "script",
    ['x=; env -u"$x" ls rm b.py', "env -u* ls rm b.py", "set -- rm; timeout 5 $1 b.py"],
)
def test_a_script_is_denied_that_runs_such_a_command(scene: OptionScene, script: str) -> None:
    assert "denied" not in scene.allowing(script)


def test_what_is_allowed_runs_what_is_allowed(scene: OptionScene) -> None:
    for script in islice(scripts(7), 60):
        assert list(scene.forbidden(script, scene.allowing(script))) == []
